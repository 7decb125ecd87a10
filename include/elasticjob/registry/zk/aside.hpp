// SPDX-License-Identifier: Apache-2.0
/// \file \brief Blocking calls beside the loop.
#ifndef ELASTICJOB_REGISTRY_ZK_ASIDE_HPP
#define ELASTICJOB_REGISTRY_ZK_ASIDE_HPP

#include <elasticjob/core/event_loop.hpp>

#include <coroutine>
#include <thread>
#include <utility>

namespace elasticjob::zk {

/// `co_await aside(loop, f)`: runs `f()` on a thread of its own and goes on, on the loop, when it has returned. For the
/// rare call that resolves a name or says good-bye to a server. The coroutine must not be destroyed meanwhile.
template <class F>
class aside : work {
public:
    aside(event_loop& l, F f) : work{&resume}, loop_{l}, function_{std::move(f)} {}

    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> h) {
        handle_ = h;
        thread_ = std::thread{[this] {
            function_();
            loop_.post(*this);
        }};
    }
    void await_resume() { thread_.join(); }

private:
    static void resume(work& w, work_action action) {
        if (action == work_action::run) static_cast<aside&>(w).handle_.resume();
    }

    event_loop& loop_;
    F function_;
    std::coroutine_handle<> handle_;
    std::thread thread_;
};

} // namespace elasticjob::zk
#endif // ELASTICJOB_REGISTRY_ZK_ASIDE_HPP
