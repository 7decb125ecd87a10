// SPDX-License-Identifier: Apache-2.0
/// \file \brief Lets a `task` await an operation of Asio. Needs Boost.Asio.
#ifndef ELASTICJOB_CONSOLE_ASIO_STEP_HPP
#define ELASTICJOB_CONSOLE_ASIO_STEP_HPP

#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>

#include <coroutine>
#include <optional>
#include <utility>

namespace elasticjob::detail {

/// `co_await asio_step([&](auto done) { stream.async_read_some(buffer, std::move(done)); })` resumes with the
/// operation's error code when the operation has ended, on the context's thread. Before that, the coroutine may be
/// destroyed only if the context does not run any more.
template <class Start>
class asio_step {
public:
    explicit asio_step(Start start) : start_{std::move(start)} {}

    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> h) {
        start_([this, h](boost::system::error_code failed, auto&&...) {
            failed_ = failed;
            h.resume();
        });
    }
    boost::system::error_code await_resume() const noexcept { return failed_; }

private:
    Start start_;
    boost::system::error_code failed_;
};

/// `co_await pool_step(pool, context, f)`: calls `f` on a thread of the pool, and resumes with its value on the
/// context's thread. `f` must not throw.
template <class F>
class pool_step {
public:
    pool_step(boost::asio::thread_pool& pool, boost::asio::io_context& context, F f)
        : pool_{pool},
          context_{context},
          f_{std::move(f)} {}

    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> h) {
        boost::asio::post(pool_, [this, h] {
            value_.emplace(f_());
            boost::asio::post(context_, [h] { h.resume(); });
        });
    }
    auto await_resume() { return *std::move(value_); }

private:
    boost::asio::thread_pool& pool_;
    boost::asio::io_context& context_;
    F f_;
    std::optional<decltype(std::declval<F&>()())> value_;
};

} // namespace elasticjob::detail
#endif // ELASTICJOB_CONSOLE_ASIO_STEP_HPP
