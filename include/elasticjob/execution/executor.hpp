// SPDX-License-Identifier: Apache-2.0
/// \file \brief The role of an executor: how the body of a job is called.
#ifndef ELASTICJOB_EXECUTION_EXECUTOR_HPP
#define ELASTICJOB_EXECUTION_EXECUTOR_HPP

#include <elasticjob/core/result.hpp>
#include <elasticjob/execution/sharding_context.hpp>

#include <concepts>

namespace elasticjob {

namespace detail {
/// The least demanding body there is.
struct any_body {
    void operator()() const {}
};
} // namespace detail

/// | expression      | returns        | must hold                                                                  |
/// |-----------------|----------------|----------------------------------------------------------------------------|
/// | `E::type`       | `job_type`     | what the registry calls jobs of this kind                                  |
/// | `e(body, ctx)`  | `result<void>` | the run of one item; nothing is thrown: what the body throws is an error   |
///
/// Whether an executor can run a body `B` is whether `e(b, ctx)` compiles. Models: SimpleExecutor.
/// Threads: called on threads of the pool, for several items of a job at once, on one object.
template <class E>
concept executor = std::semiregular<E> && requires(E const& e, detail::any_body& body, sharding_context const& ctx) {
    E::type;
    { e(body, ctx) } -> std::same_as<result<void>>;
};

} // namespace elasticjob
#endif // ELASTICJOB_EXECUTION_EXECUTOR_HPP
