// SPDX-License-Identifier: Apache-2.0
/// \file \brief Runs blocking calls outside the loop's thread.
#ifndef ELASTICJOB_REGISTRY_ZK_ASIDE_HPP
#define ELASTICJOB_REGISTRY_ZK_ASIDE_HPP

#include <elasticjob/core/event_loop.hpp>
#include <elasticjob/core/result.hpp>
#include <elasticjob/core/start_thread.hpp>

#include <coroutine>
#include <thread>
#include <utility>

namespace elasticjob::zk {

/// `co_await aside`: calls the function on a new thread, and resumes on the loop when the function has returned. For
/// the rare calls that resolve a name or close a session. The coroutine must not be destroyed meanwhile. Errors:
/// overloaded if the system has no thread left; then the function was not called.
template <class F>
class aside : work {
public:
    aside(event_loop& l, F f) : work{&resume}, loop_{l}, function_{std::move(f)} {}

    bool await_ready() const noexcept { return false; }
    bool await_suspend(std::coroutine_handle<> h) {
        handle_ = h;
        thread_ = elasticjob::detail::start_thread([this] {
            function_();
            loop_.post(*this);
        });
        return thread_.has_value();
    }
    result<void> await_resume() {
        if (!thread_) return std::move(thread_).error();
        thread_->join();
        return success();
    }

private:
    static void resume(work& w, work_action action) {
        if (action == work_action::run) static_cast<aside&>(w).handle_.resume();
    }

    event_loop& loop_;
    F function_;
    std::coroutine_handle<> handle_;
    result<std::thread> thread_{std::thread{}};
};

} // namespace elasticjob::zk
#endif // ELASTICJOB_REGISTRY_ZK_ASIDE_HPP
