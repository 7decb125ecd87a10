// SPDX-License-Identifier: Apache-2.0
/// \file \brief Awaitables for coroutines on a loop: a point in time, the next turn, and notifications.
#ifndef ELASTICJOB_CORE_EVENT_COUNT_HPP
#define ELASTICJOB_CORE_EVENT_COUNT_HPP

#include <elasticjob/core/loop.hpp>

#include <coroutine>
#include <cstdint>

namespace elasticjob {

namespace detail {

/// A suspended coroutine. The loop resumes it, never the code that wakes it, so that code can finish its own step
/// first.
template <loop Loop>
class sleeper : public list_hook {
public:
    explicit sleeper(Loop& l) noexcept : loop_{l}, resume_{*this}, alarm_{*this} {}
    ~sleeper() { loop_.disarm(alarm_); }

    void suspend(std::coroutine_handle<> h) noexcept { handle_ = h; }
    void alarm(mono_time due) { loop_.arm(alarm_, due); }

    /// Further calls have no effect until the coroutine has run.
    void wake() {
        unlink();
        loop_.disarm(alarm_);
        if (!resume_.is_linked()) loop_.post(resume_);
    }

private:
    struct resumption : work {
        explicit resumption(sleeper& s) noexcept : work{&act_on}, self{s} {}
        static void act_on(work& w, work_action action) {
            if (action == work_action::run) static_cast<resumption&>(w).self.handle_.resume();
        }
        sleeper& self;
    };
    struct alarm_clock : timer {
        explicit alarm_clock(sleeper& s) noexcept : timer{&ring}, self{s} {}
        static void ring(timer& t) { static_cast<alarm_clock&>(t).self.wake(); }
        sleeper& self;
    };

    Loop& loop_;
    std::coroutine_handle<> handle_;
    resumption resume_;
    alarm_clock alarm_;
};

} // namespace detail

/// `co_await sleep_until(loop, due)`: continues once the loop's time has reached `due`. Destroying the coroutine
/// cancels it.
template <loop Loop>
auto sleep_until(Loop& l, mono_time due) {
    struct awaiter {
        detail::sleeper<Loop> self;
        mono_time due;
        bool await_ready() const noexcept { return false; }
        void await_suspend(std::coroutine_handle<> h) {
            self.suspend(h);
            self.alarm(due);
        }
        void await_resume() const noexcept {}
    };
    return awaiter{detail::sleeper<Loop>{l}, due};
}

/// `co_await yield(loop)`: continues after all work that is ready now.
template <loop Loop>
auto yield(Loop& l) {
    struct awaiter {
        detail::sleeper<Loop> self;
        bool await_ready() const noexcept { return false; }
        void await_suspend(std::coroutine_handle<> h) {
            self.suspend(h);
            self.wake();
        }
        void await_resume() const noexcept {}
    };
    return awaiter{detail::sleeper<Loop>{l}};
}

/// Notifies coroutines of changes. Level-triggered: a waiter names the last edition that it has read. So a notification
/// between reading and waiting cannot be lost, and any number of notifications wakes a waiter once. It must outlive its
/// waiters. Threads: the loop's.
template <loop Loop>
class event_count {
public:
    explicit event_count(Loop& l) noexcept : loop_{l} {}
    event_count(event_count const&) = delete;
    event_count& operator=(event_count const&) = delete;

    Loop& loop() const noexcept { return loop_; }

    /// The number of notifications so far, plus one.
    std::uint64_t edition() const noexcept { return edition_; }

    void notify() {
        ++edition_;
        waiting_.for_each([](detail::sleeper<Loop>& s) { s.wake(); });
    }

    /// `co_await s.newer_than(seen)` or `co_await s.newer_than(seen, due)`: continues once `edition() > seen`, at the
    /// latest at `due`. Returns whether there is a newer edition.
    auto newer_than(std::uint64_t seen, mono_time due = mono_time::max()) {
        struct awaiter {
            detail::sleeper<Loop> self;
            event_count& source;
            std::uint64_t seen;
            mono_time due;
            bool await_ready() const noexcept { return source.edition_ > seen; }
            void await_suspend(std::coroutine_handle<> h) {
                self.suspend(h);
                source.waiting_.push_back(self);
                if (due != mono_time::max()) self.alarm(due);
            }
            bool await_resume() const noexcept { return source.edition_ > seen; }
        };
        return awaiter{detail::sleeper<Loop>{loop_}, *this, seen, due};
    }

private:
    Loop& loop_;
    intrusive_list<detail::sleeper<Loop>> waiting_;
    std::uint64_t edition_ = 1;
};

} // namespace elasticjob
#endif // ELASTICJOB_CORE_EVENT_COUNT_HPP
