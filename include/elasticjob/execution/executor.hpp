// SPDX-License-Identifier: Apache-2.0
/// \file \brief The role of an executor: how the body of a job is called.
#ifndef ELASTICJOB_EXECUTION_EXECUTOR_HPP
#define ELASTICJOB_EXECUTION_EXECUTOR_HPP

#include <elasticjob/config/job_config.hpp> // job_type
#include <elasticjob/core/result.hpp>
#include <elasticjob/core/task.hpp>
#include <elasticjob/execution/sharding_context.hpp>

#include <concepts>

namespace elasticjob {

/// | expression      | returns        | must hold                                                                  |
/// |-----------------|----------------|----------------------------------------------------------------------------|
/// | `E::type`       | `job_type`     | what the registry calls jobs of this kind                                  |
/// | `e(body, ctx)`  | `result<void>` | the run of one item; nothing is thrown: what the body throws is an error   |
/// | or the same     | `task<…>`      | the same as a coroutine on the loop, which is given a `coroutine_context`  |
///
/// Which bodies it can run is for the executor to say: those with which `e(body, ctx)` compiles. For one that it cannot
/// run, an executor may have a `template <class Body, class Loop> static void check_body()` with a static_assert that
/// says why. Models: SimpleExecutor, CoroutineExecutor, DataflowExecutor, ScriptExecutor, HttpExecutor.
/// A scheduler makes one by default, or is given one, and each of its jobs has a copy: what they are to share stands
/// behind a pointer.
/// Threads: but for coroutines, called on threads of the pool, for several items of a job at once, on one object.
template <class E>
concept executor = std::copyable<E> && requires {
    { E::type } -> std::convertible_to<job_type>;
};

template <class Loop>
class coroutine_context;

/// A body that an executor can run.
template <class B, class E>
concept body_for = executor<E> && requires(E const& e, B& body, sharding_context const& ctx) {
    { e(body, ctx) } -> std::same_as<result<void>>;
};

/// A body that an executor runs as a coroutine on the loop: `e(body, run)` gives a `task<result<void>>`, which throws nothing.
template <class B, class E, class Loop>
concept coroutine_body_for = executor<E> && requires(E const& e, B& body, coroutine_context<Loop> const& run) {
    { e(body, run) } -> std::same_as<task<result<void>>>;
};

namespace detail {

/// Does not compile if the executor cannot run the body, and says why.
template <class Body, executor Executor, class Loop>
constexpr void check_body() {
    if constexpr (!body_for<Body, Executor> && !coroutine_body_for<Body, Executor, Loop>) {
        if constexpr (requires { Executor::template check_body<Body, Loop>(); })
            Executor::template check_body<Body, Loop>();
        else
            static_assert(body_for<Body, Executor>, "the executor of this scheduler cannot run such a body");
    }
}

} // namespace detail

} // namespace elasticjob
#endif // ELASTICJOB_EXECUTION_EXECUTOR_HPP
