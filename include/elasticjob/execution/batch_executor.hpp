// SPDX-License-Identifier: Apache-2.0
/// \file \brief Calls the body once for all items that begin together.
#ifndef ELASTICJOB_EXECUTION_BATCH_EXECUTOR_HPP
#define ELASTICJOB_EXECUTION_BATCH_EXECUTOR_HPP

#include <elasticjob/config/job_config.hpp> // job_type
#include <elasticjob/core/guarded_call.hpp>
#include <elasticjob/execution/executor.hpp>

#include <concepts>
#include <type_traits>
#include <utility>
#include <vector>

namespace elasticjob {

/// The bodies that BatchExecutor can call: with the contexts of the items, returning nothing, one `result<void>` for
/// all items, or a result for each, in their order.
template <class B>
concept batch_body = std::invocable<B&, item_contexts> &&
    (std::is_void_v<std::invoke_result_t<B&, item_contexts>> ||
     std::convertible_to<std::invoke_result_t<B&, item_contexts>, result<void>> ||
     std::same_as<std::invoke_result_t<B&, item_contexts>, std::vector<result<void>>>);

/// Calls the body once for the items of this instance that begin together, on one thread, for work that is cheaper in
/// bulk: one query for all items, one connection. Each item keeps its own record, retries, checkpoints and stop
/// request. Items that begin later, after a retry for example, are a batch of their own.
struct BatchExecutor {
    static constexpr job_type type = job_type::simple;

    /// Errors of each item: job_threw, with the exception, for all; those of the body.
    template <batch_body Body>
    std::vector<result<void>> operator()(Body& body, item_contexts all) const {
        using answer = std::invoke_result_t<Body&, item_contexts>;
        std::vector<result<void>> outcomes;
        auto const call = [&]() -> result<void> {
            if constexpr (std::same_as<answer, std::vector<result<void>>>)
                outcomes = body(all);
            else if constexpr (std::is_void_v<answer>)
                body(all);
            else
                return body(all);
            return success();
        };
        auto const outcome = detail::guarded_call(call);
        constexpr bool answers_each = std::same_as<answer, std::vector<result<void>>>;
        if (!answers_each || !outcome) outcomes.assign(all.size(), outcome);
        return outcomes;
    }

    template <class Body, class>
    static constexpr void check_body() {
        constexpr bool is_called = std::invocable<Body&, item_contexts>;
        static_assert(is_called, "BatchExecutor calls body(contexts), with an item_contexts: this body cannot be called so");
        static_assert(!is_called || batch_body<Body>,
                      "BatchExecutor: the body has to return void, result<void> or std::vector<result<void>>");
    }
};

} // namespace elasticjob
#endif // ELASTICJOB_EXECUTION_BATCH_EXECUTOR_HPP
