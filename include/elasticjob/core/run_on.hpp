// SPDX-License-Identifier: Apache-2.0
/// \file \brief Runs a function on a worker thread, and continues on the loop.
#ifndef ELASTICJOB_CORE_RUN_ON_HPP
#define ELASTICJOB_CORE_RUN_ON_HPP

#include <elasticjob/core/result.hpp>
#include <elasticjob/core/worker_pool.hpp>

#include <coroutine>
#include <optional>
#include <utility>

namespace elasticjob {

namespace detail {

template <worker_pool Pool, loop Loop, class F>
class pool_call : work {
public:
    pool_call(Pool& pool, Loop& l, F& f) noexcept : work{&act_on}, pool_{pool}, loop_{l}, function_{f}, back_{*this} {}

    bool await_ready() const noexcept { return false; }
    bool await_suspend(std::coroutine_handle<> h) {
        handle_ = h;
        if (pool_.try_submit(*this)) return true;
        outcome_.emplace(error{errc::overloaded, "the worker pool's queue is full"});
        return false;
    }
    result<void> await_resume() { return *std::move(outcome_); }

private:
    struct way_back : work {
        explicit way_back(pool_call& c) noexcept : work{&act_on}, call{c} {}
        static void act_on(work& w, work_action action) {
            if (action == work_action::run) static_cast<way_back&>(w).call.handle_.resume();
        }
        pool_call& call;
    };

    static void act_on(work& w, work_action action) {
        auto& self = static_cast<pool_call&>(w);
        if (action == work_action::run)
            self.outcome_.emplace(self.function_());
        else
            self.outcome_.emplace(error{errc::closed, "the worker pool is closing"});
        self.loop_.post(self.back_); // the last access of this thread to the object
    }

    Pool& pool_;
    Loop& loop_;
    F& function_;
    std::coroutine_handle<> handle_;
    std::optional<result<void>> outcome_;
    way_back back_;
};

} // namespace detail

/// `co_await run_on(pool, loop, f)`: calls `f` on a worker and continues on the loop with its result. `f` returns a
/// `result<void>` and does not throw. Do not destroy the coroutine meanwhile: the worker uses its frame. Errors:
/// overloaded if the pool is full, closed if it closes first; in both cases `f` is not called. Otherwise those of `f`.
template <worker_pool Pool, loop Loop, class F>
auto run_on(Pool& pool, Loop& l, F& f) {
    return detail::pool_call<Pool, Loop, F>{pool, l, f};
}

} // namespace elasticjob
#endif // ELASTICJOB_CORE_RUN_ON_HPP
