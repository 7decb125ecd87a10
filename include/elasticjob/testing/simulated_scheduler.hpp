// SPDX-License-Identifier: Apache-2.0
/// \file \brief `simulated_scheduler`: the scheduler of a simulated process, with its type erased.
#ifndef ELASTICJOB_TESTING_SIMULATED_SCHEDULER_HPP
#define ELASTICJOB_TESTING_SIMULATED_SCHEDULER_HPP

#include <elasticjob/config/job_config.hpp>
#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/guarded_call.hpp>
#include <elasticjob/core/result.hpp>
#include <elasticjob/core/task.hpp>
#include <elasticjob/execution/coroutine_context.hpp>
#include <elasticjob/execution/executor.hpp>
#include <elasticjob/testing/node_loop.hpp>
#include <elasticjob/testing/simulated_workers.hpp>

#include <concepts>
#include <utility>

namespace elasticjob::testing {

/// A job's body with its own type and that of its executor erased. Does not own the body. Exactly one of the two
/// functions is set: `start` if the body is a coroutine.
struct simulated_call {
    void* body;
    result<void> (*act)(void* body, simulated_workers&, sharding_context const&) = nullptr;
    task<result<void>> (*start)(void* body, simulated_workers&, coroutine_context<node_loop> const&) = nullptr;

    template <executor Executor, body_in_simulation<Executor> Body>
    static simulated_call of(Body* body) {
        simulated_call made{body};
        if constexpr (coroutine_body_for<Body, Executor, node_loop>)
            made.start = [](void* self, simulated_workers& workers, coroutine_context<node_loop> const& run) {
                return workers.start<Executor>(*static_cast<Body*>(self), run);
            };
        else
            made.act = [](void* self, simulated_workers& workers, sharding_context const& ctx) {
                return workers.act<Executor>(*static_cast<Body*>(self), ctx);
            };
        return made;
    }
};

/// The executor of a simulated scheduler. It only has the same job type as `E`; the jobs have executors of their own.
template <executor E>
struct SimulatedExecutor {
    static constexpr job_type type = E::type;

    template <class Call>
    auto operator()(Call& call, sharding_context const& ctx) const
    requires std::same_as<decltype(call(ctx)), result<void>> {
        return elasticjob::detail::guarded_call([&] { return call(ctx); });
    }
    template <class Call>
    auto operator()(Call& call, coroutine_context<node_loop> const& run) const
    requires std::same_as<decltype(call(run)), task<result<void>>> {
        return call(run);
    }
};

/// Owns a scheduler and returns its handles. Only `make` compiles the code of a scheduler's type, so a file without a
/// call of `make` compiles in half the time. Pointers to functions made from a template replace the type. A handle must
/// not outlive its scheduler. Threads: the world's.
class simulated_scheduler {
public:
    class handle;

    template <class Scheduler, class... Args>
    static simulated_scheduler make(simulated_workers& workers, Args&&... args) {
        return {new Scheduler{std::forward<Args>(args)...}, &schedule_at<Scheduler>, &destroy_one<Scheduler>, workers};
    }

    simulated_scheduler(simulated_scheduler const&) = delete;
    simulated_scheduler& operator=(simulated_scheduler const&) = delete;
    ~simulated_scheduler() { destroy_(self_); }

    result<handle> schedule(job_config const& config, simulated_call body);

private:
    using schedule_function = result<handle>(void*, job_config const&, simulated_call, simulated_workers&);

    simulated_scheduler(void* self, schedule_function* function, void (*destroy)(void*), simulated_workers& w) noexcept;

    template <class Scheduler>
    static result<handle> schedule_at(void* self, job_config const& config, simulated_call body, simulated_workers& w);
    template <class T>
    static void destroy_one(void* self) {
        delete static_cast<T*>(self);
    }

    void* self_;
    schedule_function* schedule_;
    void (*destroy_)(void*);
    simulated_workers& workers_;
};

/// A scheduler's handle, with the calls that a simulation makes.
class simulated_scheduler::handle {
public:
    template <class Handle>
    explicit handle(Handle h)
        : self_{new Handle{std::move(h)}},
          shutdown_{[](void* self) { return static_cast<Handle*>(self)->shutdown(); }},
          trigger_{[](void* self) { return static_cast<Handle*>(self)->trigger(); }},
          destroy_{&destroy_one<Handle>} {}
    handle(handle&& other) noexcept;
    handle& operator=(handle&&) = delete;
    ~handle();

    result<void> shutdown() { return shutdown_(self_); }
    result<void> trigger() { return trigger_(self_); }

private:
    void* self_;
    result<void> (*shutdown_)(void*);
    result<void> (*trigger_)(void*);
    void (*destroy_)(void*);
};

template <class Scheduler>
result<simulated_scheduler::handle> simulated_scheduler::schedule_at(void* self, job_config const& config,
                                                                     simulated_call body, simulated_workers& w) {
    auto const schedule = [&](auto const& call) -> result<handle> {
        ELASTICJOB_TRY(auto joined, static_cast<Scheduler*>(self)->schedule(config, call));
        return handle{std::move(joined)};
    };
    if (body.start)
        return schedule([body, workers = &w](coroutine_context<node_loop> const& run) {
            return body.start(body.body, *workers, run);
        });
    return schedule([body, workers = &w](sharding_context const& ctx) { return body.act(body.body, *workers, ctx); });
}

} // namespace elasticjob::testing

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/testing/simulated_scheduler.ipp>
#endif
#endif // ELASTICJOB_TESTING_SIMULATED_SCHEDULER_HPP
