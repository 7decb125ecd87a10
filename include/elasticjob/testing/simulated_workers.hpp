// SPDX-License-Identifier: Apache-2.0
/// \file \brief Job bodies that take virtual time: what a run is to be like, and the pool that makes it so.
#ifndef ELASTICJOB_TESTING_SIMULATED_WORKERS_HPP
#define ELASTICJOB_TESTING_SIMULATED_WORKERS_HPP

#include <elasticjob/core/random.hpp>
#include <elasticjob/core/result.hpp>
#include <elasticjob/core/worker_pool.hpp>
#include <elasticjob/execution/sharding_context.hpp>
#include <elasticjob/testing/node_loop.hpp>
#include <elasticjob/testing/observatory.hpp>

#include <algorithm>
#include <concepts>
#include <list>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <utility>

namespace elasticjob::testing {

/// What a simulated body says of the run that begins.
struct simulated_run {
    static constexpr std::chrono::nanoseconds never = std::chrono::nanoseconds::max();

    std::chrono::nanoseconds duration{};    ///< how long it takes if nobody stops it; `never`: it hangs
    result<void> outcome = success();       ///< and what comes of it
    std::chrono::nanoseconds stops_after{}; ///< how long it goes on after a request to stop; `never`: it does not look
    result<void> outcome_if_stopped = error{errc::job_failed, "stopped"};
    bool throws = false; ///< instead of giving an outcome
};

/// What a job of a simulation can be: asked when a run begins, `simulated_run(sharding_context const&)`.
template <class B>
concept simulated_body = requires(B& b, sharding_context const& c) {
    { b(c) } -> std::same_as<simulated_run>;
};

/// How long the runs of ordinary bodies take, which do not say so themselves.
struct body_time {
    std::chrono::milliseconds least{0};
    std::chrono::milliseconds most{200};
};

/// The worker threads of one process, without threads: a run begins, lasts, and ends by the process's time. An ordinary
/// body is called at the end of its run, a simulated one is asked at the begin. Threads: the world's.
class simulated_workers {
public:
    simulated_workers(node_loop& l, observatory& o, std::uint32_t node, std::uint64_t process, std::uint64_t seed,
                      body_time t) noexcept
        : loop_{l}, observatory_{o}, node_{node}, process_{process}, random_{seed}, time_{t} {}
    simulated_workers(simulated_workers const&) = delete;
    simulated_workers& operator=(simulated_workers const&) = delete;
    ~simulated_workers() { kill(); }

    bool try_submit(work& w) {
        if (loop_.now() < full_until) return false;
        runs_.emplace_back(*this, w);
        return true;
    }

    /// The process dies, and its threads with it.
    void kill() {
        runs_.clear();
        std::erase_if(observatory_.view.runs, [&](live_run const& r) { return r.process == process_; });
    }

    std::size_t size() const noexcept { return runs_.size(); }

    // Faults, of runs that begin until then.
    mono_time full_until{}, slow_until{}, throw_until{}, hang_until{};
    std::uint32_t slow_factor = 1;

    /// The session of the process at this moment.
    std::int64_t (*session)(void* context) = nullptr;
    void* context = nullptr;

    /// To be called in the place of a body: once when the run begins, and once more when it ends.
    template <class Body>
    result<void> act(Body& body, sharding_context const& c) {
        if (!current_) return error{errc::invalid_argument, "a simulated body was called outside of its pool"};
        run& r = *current_;
        if (!r.plan) {
            r.plan.emplace(plan(body, c));
            note(observation::kind::body_began, c, {});
            observatory_.view.runs.push_back({node_, process_, c.job_name, c.item, c.due, token_of(c), session_now()});
            r.follow(c.stop);
            return success();
        }
        auto outcome = r.was_stopped ? r.plan->outcome_if_stopped : r.plan->outcome;
        std::optional<error> failure;
        if (!outcome) failure = outcome.error();
        note(observation::kind::body_ended, c, failure);
        forget(c);
        if (r.plan->throws) {
            constexpr auto text = "a simulated body throws";
#if defined(__cpp_exceptions)
            throw std::runtime_error{text};
#else
            return error{errc::job_threw, text}; // as if it had been thrown and caught
#endif
        }
        if constexpr (!simulated_body<Body>) {
            auto const invoke = [&]() -> decltype(auto) {
                if constexpr (std::invocable<Body&, sharding_context const&>)
                    return body(c);
                else
                    return body();
            };
            if constexpr (std::is_void_v<decltype(invoke())>)
                invoke();
            else
                return invoke();
        }
        return outcome;
    }

private:
    /// One piece of work in the pool, from the submission to the end.
    struct run : timer {
        run(simulated_workers& s, work& what) : timer{&ring}, self{s}, w{what} {
            self.loop_.arm(*this, self.loop_.now());
        }
        ~run() { self.loop_.disarm(*this); }

        static void ring(timer& t) {
            auto& r = static_cast<run&>(t);
            if (r.plan)
                r.self.finish(r);
            else
                r.self.begin(r);
        }

        void follow(std::stop_token const& token) { stop.emplace(token, on_stop{this}); }
        void hear_stop() {
            if (was_stopped || plan->stops_after == simulated_run::never) return;
            was_stopped = true;
            if (!is_begun) return;
            if (is_armed() && due <= self.loop_.now() + plan->stops_after) {
                was_stopped = false; // it is about to end by itself
                return;
            }
            self.loop_.disarm(*this);
            self.loop_.arm(*this, self.loop_.now() + plan->stops_after);
        }
        struct on_stop {
            run* r;
            void operator()() const { r->hear_stop(); }
        };

        simulated_workers& self;
        work& w;
        std::optional<simulated_run> plan;
        bool is_begun = false, was_stopped = false;
        std::optional<std::stop_callback<on_stop>> stop;
    };

    /// The body is asked. What the work posts at its end, its way back to the loop, is taken back: the run has only
    /// begun. This relies on run_on's work: done again, it overwrites its outcome.
    void begin(run& r) {
        intrusive_list<work> posted;
        current_ = &r;
        loop_.divert(&posted);
        r.w.act(r.w, work_action::run);
        loop_.divert(nullptr);
        current_ = nullptr;
        bool const lasts = r.plan.has_value();
        while (!posted.empty()) {
            work& w = posted.pop_front();
            if (!lasts || !posted.empty()) loop_.post(w); // all but the last, which is the way back
        }
        if (!lasts) return remove(r); // somebody else's work: done
        r.is_begun = true;
        auto const lasting = r.was_stopped ? r.plan->stops_after : r.plan->duration;
        if (lasting != simulated_run::never) loop_.arm(r, loop_.now() + lasting);
    }
    void finish(run& r) {
        r.stop.reset();
        current_ = &r;
        r.w.act(r.w, work_action::run);
        current_ = nullptr;
        remove(r);
    }
    void remove(run& r) {
        runs_.remove_if([&](run const& other) { return &other == &r; });
    }

    template <class Body>
    simulated_run plan(Body& body, sharding_context const& c) {
        simulated_run p;
        if constexpr (simulated_body<Body>) {
            p = body(c);
        } else {
            auto const spread = static_cast<std::uint64_t>((time_.most - time_.least).count()) + 1;
            p.duration = time_.least + std::chrono::milliseconds{random_.next() % spread};
            p.stops_after = simulated_run::never;
        }
        auto const now = loop_.now();
        if (now < slow_until && p.duration != simulated_run::never) p.duration *= slow_factor;
        if (now < hang_until) p.duration = std::max(p.duration, std::chrono::nanoseconds{hang_until - now});
        if (now < throw_until) p.throws = true;
        return p;
    }

    std::int64_t session_now() const { return session ? session(context) : 0; }
    static std::int64_t token_of(auto const& c) {
        if constexpr (requires { static_cast<std::int64_t>(c.token); })
            return static_cast<std::int64_t>(c.token);
        else
            return 0;
    }
    void note(observation::kind k, sharding_context const& c, std::optional<error> failure) {
        observation o;
        o.what = k;
        o.node = node_;
        o.process = process_;
        o.job = c.job_name;
        o.item = c.item;
        o.due = c.due;
        o.token = token_of(c);
        if (auto const why = c.why_stop(); why != stop_reason::none)
            o.text = "asked to stop: " + std::string{name_of(why)};
        o.failure = std::move(failure);
        observatory_.note(std::move(o));
    }
    void forget(sharding_context const& c) {
        auto& all = observatory_.view.runs;
        auto const is_it = [&](live_run const& r) {
            return r.process == process_ && r.job == c.job_name && r.item == c.item && r.token == token_of(c);
        };
        auto const at = std::find_if(all.begin(), all.end(), is_it);
        if (at != all.end()) all.erase(at);
    }

    node_loop& loop_;
    observatory& observatory_;
    std::uint32_t node_;
    std::uint64_t process_;
    random_source random_;
    body_time time_;
    std::list<run> runs_;
    run* current_ = nullptr;
};

/// The policy of a scheduler: the workers of its process.
struct SimulatedPool {
    simulated_workers* workers;
    bool try_submit(work& w) { return workers->try_submit(w); }
};

static_assert(worker_pool<SimulatedPool>);

} // namespace elasticjob::testing
#endif // ELASTICJOB_TESTING_SIMULATED_WORKERS_HPP
