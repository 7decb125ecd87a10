// SPDX-License-Identifier: Apache-2.0
/// \file \brief The role of an executor: how the body of a job is called.
#ifndef ELASTICJOB_EXECUTION_EXECUTOR_HPP
#define ELASTICJOB_EXECUTION_EXECUTOR_HPP

#include <elasticjob/config/job_config.hpp> // job_type
#include <elasticjob/core/result.hpp>
#include <elasticjob/execution/sharding_context.hpp>

#include <concepts>

namespace elasticjob {

/// | expression      | returns        | must hold                                                                  |
/// |-----------------|----------------|----------------------------------------------------------------------------|
/// | `E::type`       | `job_type`     | what the registry calls jobs of this kind                                  |
/// | `e(body, ctx)`  | `result<void>` | the run of one item; nothing is thrown: what the body throws is an error   |
///
/// Which bodies it can run is for the executor to say: those with which `e(body, ctx)` compiles. Models: SimpleExecutor,
/// DataflowExecutor, ScriptExecutor.
/// Threads: called on threads of the pool, for several items of a job at once, on one object.
template <class E>
concept executor = std::semiregular<E> && requires {
    { E::type } -> std::convertible_to<job_type>;
};

/// A body that an executor can run.
template <class B, class E>
concept body_for = executor<E> && requires(E const& e, B& body, sharding_context const& ctx) {
    { e(body, ctx) } -> std::same_as<result<void>>;
};

} // namespace elasticjob
#endif // ELASTICJOB_EXECUTION_EXECUTOR_HPP
