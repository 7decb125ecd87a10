// SPDX-License-Identifier: Apache-2.0
/// \file \brief Runs the body as a coroutine on the loop: for jobs that mostly wait.
#ifndef ELASTICJOB_EXECUTION_COROUTINE_EXECUTOR_HPP
#define ELASTICJOB_EXECUTION_COROUTINE_EXECUTOR_HPP

#include <elasticjob/config/job_config.hpp> // job_type
#include <elasticjob/core/result.hpp>
#include <elasticjob/core/task.hpp>
#include <elasticjob/execution/coroutine_context.hpp>
#include <elasticjob/execution/executor.hpp>

#include <concepts>
#include <exception>
#include <type_traits>
#include <utility>

namespace elasticjob {

/// The bodies that CoroutineExecutor can run: `body(run)` returns a `task<void>` or a `task<result<void>>`.
template <class B, class Loop>
concept coroutine_body = requires(B& b, coroutine_context<Loop> const& run) {
    requires std::same_as<decltype(b(run)), task<void>> || std::same_as<decltype(b(run)), task<result<void>>>;
};

/// Waiting items need no thread: ten thousand may wait at the same time. While the body computes, everything else on
/// the loop waits, so do long work on the pool: `co_await run.on_pool(f)`.
///
///     scheduler.schedule(config, [](auto const& run) -> task<result<void>> {
///         while (!is_ready(run.item))
///             if (!co_await run.sleep_for(10s)) co_return error{errc::job_failed, "stopped"};
///         co_return co_await run.on_pool([&] { settle(run.item); });
///     });
struct CoroutineExecutor {
    static constexpr job_type type = job_type::simple;

    /// Errors: job_threw, with the exception; those of the body. `body` must outlive the task.
    template <class Loop, coroutine_body<Loop> Body>
    task<result<void>> operator()(Body& body, coroutine_context<Loop> const& run) const {
#if defined(__cpp_exceptions)
        try {
            co_return co_await call(body, run);
        } catch (std::exception const& e) {
            co_return error{errc::job_threw, e.what()};
        } catch (...) {
            co_return error{errc::job_threw, "something that is no std::exception"};
        }
#else
        co_return co_await call(body, run);
#endif
    }

    template <class Body, class Loop>
    static constexpr void check_body() {
        constexpr bool is_called = std::invocable<Body&, coroutine_context<Loop> const&>;
        static_assert(is_called,
                      "CoroutineExecutor calls body(run), with a coroutine_context<Loop> const&, best taken as "
                      "auto const&: this body cannot be called so");
        static_assert(!is_called || coroutine_body<Body, Loop>,
                      "CoroutineExecutor: the body has to return task<void> or task<result<void>>");
    }

private:
    template <class Body, class Loop>
    static task<result<void>> call(Body& body, coroutine_context<Loop> const& run) {
        if constexpr (std::same_as<decltype(body(run)), task<void>>) {
            co_await body(run);
            co_return success();
        } else {
            co_return co_await body(run);
        }
    }
};
static_assert(executor<CoroutineExecutor>);

} // namespace elasticjob
#endif // ELASTICJOB_EXECUTION_COROUTINE_EXECUTOR_HPP
