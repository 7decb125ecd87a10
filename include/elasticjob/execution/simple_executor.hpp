// SPDX-License-Identifier: Apache-2.0
/// \file \brief Calls the body once for each item.
#ifndef ELASTICJOB_EXECUTION_SIMPLE_EXECUTOR_HPP
#define ELASTICJOB_EXECUTION_SIMPLE_EXECUTOR_HPP

#include <elasticjob/config/job_config.hpp> // job_type
#include <elasticjob/execution/executor.hpp>

#include <concepts>
#include <exception>
#include <type_traits>
#include <utility>

namespace elasticjob {

/// What SimpleExecutor can call: with the context or without, returning nothing or a `result<void>`.
template <class B>
concept simple_body = (std::invocable<B&, sharding_context const&> &&
                       (std::is_void_v<std::invoke_result_t<B&, sharding_context const&>> ||
                        std::convertible_to<std::invoke_result_t<B&, sharding_context const&>, result<void>>)) ||
                      (std::invocable<B&> && (std::is_void_v<std::invoke_result_t<B&>> ||
                                              std::convertible_to<std::invoke_result_t<B&>, result<void>>));

/// JT-1. The body is called for each item on its own, on several threads at once where the instance has several items.
struct SimpleExecutor {
    static constexpr job_type type = job_type::simple;

    /// Errors: job_threw, with what was thrown; the body's own.
    template <simple_body Body>
    result<void> operator()(Body& body, sharding_context const& ctx) const {
#if defined(__cpp_exceptions)
        try {
            return call(body, ctx);
        } catch (std::exception const& e) {
            return error{errc::job_threw, e.what()};
        } catch (...) {
            return error{errc::job_threw, "something that is no std::exception"};
        }
#else
        return call(body, ctx);
#endif
    }

private:
    template <class Body>
    static result<void> call(Body& body, sharding_context const& ctx) {
        auto const invoke = [&]() -> decltype(auto) {
            if constexpr (std::invocable<Body&, sharding_context const&>)
                return body(ctx);
            else
                return body();
        };
        if constexpr (std::is_void_v<decltype(invoke())>) {
            invoke();
            return success();
        } else {
            return invoke();
        }
    }
};

} // namespace elasticjob
#endif // ELASTICJOB_EXECUTION_SIMPLE_EXECUTOR_HPP
