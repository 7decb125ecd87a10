// SPDX-License-Identifier: Apache-2.0
/// \file \brief Calls the body once for each item.
#ifndef ELASTICJOB_EXECUTION_SIMPLE_EXECUTOR_HPP
#define ELASTICJOB_EXECUTION_SIMPLE_EXECUTOR_HPP

#include <elasticjob/config/job_config.hpp> // job_type
#include <elasticjob/execution/executor.hpp>
#include <elasticjob/core/guarded_call.hpp>

#include <concepts>
#include <type_traits>

namespace elasticjob {

/// The bodies that SimpleExecutor can call: with or without the context, returning nothing or a `result<void>`.
template <class B>
concept simple_body = (std::invocable<B&, sharding_context const&> &&
                       (std::is_void_v<std::invoke_result_t<B&, sharding_context const&>> ||
                        std::convertible_to<std::invoke_result_t<B&, sharding_context const&>, result<void>>)) ||
                      (std::invocable<B&> && (std::is_void_v<std::invoke_result_t<B&>> ||
                                              std::convertible_to<std::invoke_result_t<B&>, result<void>>));

/// JT-1. Calls the body for each item separately, on several threads at once if the instance has several items.
struct SimpleExecutor {
    static constexpr job_type type = job_type::simple;

    /// Errors: job_threw, with the exception; those of the body.
    template <simple_body Body>
    result<void> operator()(Body& body, sharding_context const& ctx) const {
        return detail::guarded_call([&]() -> decltype(auto) {
            if constexpr (std::invocable<Body&, sharding_context const&>)
                return body(ctx);
            else
                return body();
        });
    }

    template <class Body, class>
    static constexpr void check_body() {
        constexpr bool is_called = std::invocable<Body&> || std::invocable<Body&, sharding_context const&>;
        static_assert(is_called,
                      "SimpleExecutor calls body() or body(context), with a sharding_context const&: this body "
                      "can be called in neither way");
        static_assert(!is_called || simple_body<Body>, "SimpleExecutor: the body has to return void or result<void>");
    }
};

} // namespace elasticjob
#endif // ELASTICJOB_EXECUTION_SIMPLE_EXECUTOR_HPP
