// SPDX-License-Identifier: Apache-2.0
/// \file \brief Job bodies that take virtual time: the description of a run, and the pool or loop that carries it out.
#ifndef ELASTICJOB_TESTING_SIMULATED_WORKERS_HPP
#define ELASTICJOB_TESTING_SIMULATED_WORKERS_HPP

#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/random.hpp>
#include <elasticjob/core/result.hpp>
#include <elasticjob/core/task.hpp>
#include <elasticjob/core/worker_pool.hpp>
#include <elasticjob/execution/coroutine_context.hpp>
#include <elasticjob/execution/executor.hpp>
#include <elasticjob/testing/body_fiber.hpp>
#include <elasticjob/testing/node_loop.hpp>
#include <elasticjob/testing/observatory.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <list>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <type_traits>
#include <utility>

namespace elasticjob::testing {

/// The course of a run, as a simulated body describes it.
struct simulated_run {
    static constexpr std::chrono::nanoseconds never = std::chrono::nanoseconds::max();

    std::chrono::nanoseconds duration{};    ///< the time that it takes if it is not stopped; `never`: it hangs
    result<void> outcome = success();       ///< its result
    std::chrono::nanoseconds stops_after{}; ///< the time from a stop request to its end; `never`: ignores it
    result<void> outcome_if_stopped = error{errc::job_failed, "stopped"};
    bool throws = false; ///< instead of returning an outcome
};

/// A body for simulations: called when a run begins, `simulated_run(sharding_context const&)`.
template <class B>
concept simulated_body = requires(B& b, sharding_context const& c) {
    { b(c) } -> std::same_as<simulated_run>;
};

/// The duration of ordinary bodies, which do not specify one.
struct body_time {
    std::chrono::milliseconds least{0};
    std::chrono::milliseconds most{200};
};

namespace detail {
template <class B>
struct timed : std::false_type {
    using body = B;
};
template <class B>
struct timed<takes_time<B>> : std::true_type {
    using body = B;
};
} // namespace detail

/// A body that a simulated job with that executor can run: a simulated body, or any body that the executor can run. An
/// ordinary body may be marked with `takes_time`, except a coroutine.
template <class B, class Executor>
concept body_in_simulation = simulated_body<B> || body_for<typename detail::timed<B>::body, Executor> ||
    coroutine_body_for<B, Executor, node_loop>;

/// The worker threads of one process, without threads: a run begins, lasts and ends in the process's time. If all
/// threads are busy, it waits first. An ordinary
/// body is called at the end of its run, or at the beginning if it is marked with `takes_time`. A simulated body is
/// called at the beginning. For coroutines, this class only records observations. Threads: the world's.
class simulated_workers {
public:
    /// `threads`: 0 means as many as there are runs.
    simulated_workers(node_loop& l, observatory& o, std::uint32_t node, std::uint64_t process, std::uint64_t seed,
                      body_time t, std::size_t threads) noexcept;
    simulated_workers(simulated_workers const&) = delete;
    simulated_workers& operator=(simulated_workers const&) = delete;
    ~simulated_workers() { kill(); }

    bool try_submit(work& w);

    /// Call it when the process dies, together with its threads.
    void kill();

    std::size_t size() const noexcept { return runs_.size(); }

    // Faults of runs that begin before then.
    mono_time full_until{}, slow_until{}, throw_until{}, hang_until{};
    std::uint32_t slow_factor = 1;

    /// The current session of the process.
    std::int64_t (*session)(void* context) = nullptr;
    void* context = nullptr;

    /// Replaces the call of a body. Call it once when the run begins and once when it ends, or once on a stack of its
    /// own.
    template <executor Executor, class Body>
    result<void> act(Body& body, sharding_context const& c) {
        if (!current_) return error{errc::invalid_argument, "a simulated body was called outside of its pool"};
        run& r = *current_;
        if (!r.plan) {
            r.plan.emplace(plan(body, c));
            r.takes_time = detail::timed<Body>::value;
            note_begin(c);
            r.follow(c.stop);
            return success();
        }
        if constexpr (detail::timed<Body>::value) {
            auto outcome = Executor{}(body.body, c);
            if (!loop_.is_killed()) note_end(c, outcome);
            return outcome;
        } else {
            auto outcome = r.was_stopped ? r.plan->outcome_if_stopped : r.plan->outcome;
            note_end(c, outcome);
            if (r.plan->throws) {
#if defined(__cpp_exceptions)
                throw std::runtime_error{thrown};
#else
                return error{errc::job_threw, thrown}; // as if it had been thrown and caught
#endif
            }
            if constexpr (!simulated_body<Body>)
                return Executor{}(body, c);
            else
                return outcome;
        }
    }

    /// As `act`, for a body that is a coroutine and takes its time on the loop. All arguments must outlive the task.
    template <executor Executor, class Body>
    task<result<void>> start(Body& body, coroutine_context<node_loop> const& c) {
        note_begin(c);
        bool const throws = loop_.now() < throw_until;
        if (loop_.now() < hang_until) (void)co_await c.sleep_for(hang_until - loop_.now());
        result<void> outcome = error{errc::job_threw, thrown};
        Executor const executor{};
        if (!throws) outcome = co_await executor(body, c);
        note_end(c, outcome);
        co_return outcome;
    }

private:
    /// One piece of work in the pool, from its submission to its end.
    struct run : timer {
        run(simulated_workers& s, work& what);
        ~run();

        static void ring(timer& t);

        void follow(std::stop_token const& token) { stop.emplace(token, on_stop{this}); }
        void hear_stop();
        struct on_stop {
            run* r;
            void operator()() const { r->hear_stop(); }
        };

        simulated_workers& self;
        work& w;
        std::optional<simulated_run> plan;
        bool is_begun = false, was_stopped = false, takes_time = false;
        std::optional<std::stop_callback<on_stop>> stop;
        std::optional<detail::body_fiber> fiber; ///< of a body that takes its time itself
    };

    /// Calls the body. At its end the work posts its result to the loop. That post is discarded, because the run has
    /// only begun. This relies on run_on's work: when it runs again, it overwrites its outcome.
    void begin(run& r);
    void begin_fiber(run& r);
    void go_on(run& r);
    /// Called by `pass_time`.
    void pass(run& r, std::chrono::nanoseconds span);
    void finish(run& r);
    /// The next run that waits for a thread begins.
    void remove(run& r);
    bool is_busy() const;

    template <class Body>
    simulated_run plan(Body& body, sharding_context const& c) {
        simulated_run p;
        if constexpr (detail::timed<Body>::value) {
            p.stops_after = simulated_run::never; // the body checks its stop token itself
        } else if constexpr (simulated_body<Body>) {
            p = body(c);
        } else {
            auto const spread = static_cast<std::uint64_t>((time_.most - time_.least).count()) + 1;
            p.duration = time_.least + std::chrono::milliseconds{random_.next() % spread};
            p.stops_after = simulated_run::never;
        }
        p.duration = stretched(p.duration);
        if (loop_.now() < throw_until) p.throws = true;
        return p;
    }
    std::chrono::nanoseconds stretched(std::chrono::nanoseconds span) const;

    std::int64_t session_now() const { return session ? session(context) : 0; }
    void note_begin(sharding_context const& c);
    void note_end(sharding_context const& c, result<void> const& outcome);
    void note(observation::kind k, sharding_context const& c, std::optional<error> failure);
    void forget(sharding_context const& c);

    static constexpr auto thrown = "a simulated body throws";

    node_loop& loop_;
    observatory& observatory_;
    std::uint32_t node_;
    std::uint64_t process_;
    random_source random_;
    body_time time_;
    std::size_t threads_;
    std::list<run> runs_; ///< including those that wait for a thread
    run* current_ = nullptr;
};

/// The pool policy of a simulated scheduler: uses the workers of its process.
struct SimulatedPool {
    simulated_workers* workers;
    bool try_submit(work& w) { return workers->try_submit(w); }
};

static_assert(worker_pool<SimulatedPool>);

} // namespace elasticjob::testing

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/testing/simulated_workers.ipp>
#endif
#endif // ELASTICJOB_TESTING_SIMULATED_WORKERS_HPP
