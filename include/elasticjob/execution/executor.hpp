// SPDX-License-Identifier: Apache-2.0
/// \file \brief The role of an executor: how the body of a job is called.
#ifndef ELASTICJOB_EXECUTION_EXECUTOR_HPP
#define ELASTICJOB_EXECUTION_EXECUTOR_HPP

#include <elasticjob/config/job_config.hpp> // job_type
#include <elasticjob/core/result.hpp>
#include <elasticjob/core/task.hpp>
#include <elasticjob/execution/sharding_context.hpp>

#include <concepts>
#include <span>
#include <vector>

namespace elasticjob {

/// | expression      | returns        | must hold                                                                  |
/// |-----------------|----------------|----------------------------------------------------------------------------|
/// | `E::type`       | `job_type`     | the registry's name for jobs of this kind                                  |
/// | `e(body, ctx)`  | `result<void>` | runs one item; turns exceptions of the body into errors, and throws none   |
/// | or the same     | `task<…>`      | the same as a coroutine on the loop, called with a `coroutine_context`     |
/// | `e(body, all)`  | `vector<result<void>>` | all items that begin together, in one call, with a result for each |
///
/// An executor can run the bodies for which one of these calls compiles. For other bodies it may have a
/// `template <class Body, class Loop> static void check_body()` with a static_assert that gives the reason.
/// Models: SimpleExecutor, BatchExecutor, CoroutineExecutor, DataflowExecutor, ScriptExecutor, HttpExecutor.
///
/// Each job has a copy of its scheduler's executor, so an executor keeps state that jobs share behind a pointer.
/// Threads: the pool's, for several items of a job at once, on one object; for coroutines, the loop's.
template <class E>
concept executor = std::copyable<E> && requires {
    { E::type } -> std::convertible_to<job_type>;
};

template <class Loop>
class coroutine_context;

/// The items of a batch, ascending. Each has its own record, retries, checkpoints and stop request.
using item_contexts = std::span<sharding_context const* const>;

/// A body that an executor can run.
template <class B, class E>
concept body_for = executor<E> && requires(E const& e, B& body, sharding_context const& ctx) {
    { e(body, ctx) } -> std::same_as<result<void>>;
};

/// A body that an executor runs as a coroutine on the loop: `e(body, run)` returns a `task<result<void>>` that does not
/// throw.
template <class B, class E, class Loop>
concept coroutine_body_for = executor<E> && requires(E const& e, B& body, coroutine_context<Loop> const& run) {
    { e(body, run) } -> std::same_as<task<result<void>>>;
};

/// A body that an executor runs for several items in one call.
template <class B, class E>
concept batch_body_for = executor<E> && requires(E const& e, B& body, item_contexts all) {
    { e(body, all) } -> std::same_as<std::vector<result<void>>>;
};

/// A body that an executor can run in one of these ways.
template <class B, class E, class Loop>
concept any_body_for = body_for<B, E> || coroutine_body_for<B, E, Loop> || batch_body_for<B, E>;

namespace detail {

/// Fails to compile, with the reason, if the executor cannot run the body.
template <class Body, executor Executor, class Loop>
constexpr void check_body() {
    if constexpr (!any_body_for<Body, Executor, Loop>) {
        if constexpr (requires { Executor::template check_body<Body, Loop>(); })
            Executor::template check_body<Body, Loop>();
        else
            static_assert(body_for<Body, Executor>, "the executor of this scheduler cannot run such a body");
    }
}

} // namespace detail

} // namespace elasticjob
#endif // ELASTICJOB_EXECUTION_EXECUTOR_HPP
