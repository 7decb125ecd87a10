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
/// first. It is in the list of its event while it waits, and in the loop's queue once it has been woken.
class sleeper : public work {
public:
    sleeper() noexcept : sleeper{&act_on} {}

    void suspend(std::coroutine_handle<> h) noexcept { handle_ = h; }

protected:
    explicit sleeper(void (*trampoline)(work&, work_action)) noexcept : work{trampoline} {}
    void resume() const { handle_.resume(); }

private:
    static void act_on(work& w, work_action action) {
        if (action == work_action::run) static_cast<sleeper&>(w).resume();
    }

    std::coroutine_handle<> handle_;
};

/// The same with an alarm, which wakes it too.
template <loop Loop>
class timed_sleeper : public sleeper, timer {
public:
    explicit timed_sleeper(Loop& l) noexcept : sleeper{&act_on}, timer{&ring}, loop_{l} {}
    ~timed_sleeper() { loop_.disarm(*this); }

    /// Precondition: no alarm is set.
    void alarm(mono_time at) { loop_.arm(*this, at); }

private:
    static void act_on(work& w, work_action action) {
        auto& self = static_cast<timed_sleeper&>(w);
        self.loop_.disarm(self);
        if (action == work_action::run) self.resume();
    }
    static void ring(timer& t) {
        auto& self = static_cast<timed_sleeper&>(t);
        self.unlink();
        self.loop_.post(self);
    }

    Loop& loop_;
};

} // namespace detail

/// `co_await sleep_until(loop, due)`: continues once the loop's time has reached `due`. Destroying the coroutine
/// cancels it.
template <loop Loop>
auto sleep_until(Loop& l, mono_time due) {
    struct awaiter {
        detail::timed_sleeper<Loop> self;
        mono_time due;
        bool await_ready() const noexcept { return false; }
        void await_suspend(std::coroutine_handle<> h) {
            self.suspend(h);
            self.alarm(due);
        }
        void await_resume() const noexcept {}
    };
    return awaiter{detail::timed_sleeper<Loop>{l}, due};
}

/// `co_await yield(loop)`: continues after all work that is ready now has run.
template <loop Loop>
auto yield(Loop& l) {
    struct awaiter {
        Loop& on;
        detail::sleeper self;
        bool await_ready() const noexcept { return false; }
        void await_suspend(std::coroutine_handle<> h) {
            self.suspend(h);
            on.post(self);
        }
        void await_resume() const noexcept {}
    };
    return awaiter{l, {}};
}

/// Notifies coroutines of changes. A waiter names the last edition that it has seen. So a notification between reading
/// and waiting cannot be lost, and any number of notifications wakes a waiter once. Must outlive its waiters. Threads:
/// the loop's.
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
        waiting_.for_each([this](work& w) {
            w.unlink();
            loop_.post(w);
        });
    }

    /// Posts `w` to the loop at the next notification. To take that back, unlink it. Precondition: not linked.
    void post_next(work& w) noexcept { waiting_.push_back(w); }

    /// `co_await s.newer_than(seen)`: continues once `edition() > seen`.
    auto newer_than(std::uint64_t seen) {
        struct awaiter {
            event_count& source;
            std::uint64_t seen;
            detail::sleeper self;
            bool await_ready() const noexcept { return source.edition_ > seen; }
            void await_suspend(std::coroutine_handle<> h) {
                self.suspend(h);
                source.post_next(self);
            }
            void await_resume() const noexcept {}
        };
        return awaiter{*this, seen, {}};
    }

    /// `co_await s.newer_than(seen, due)`: the same, but at the latest at `due`. Returns whether there is a newer
    /// edition.
    auto newer_than(std::uint64_t seen, mono_time due) {
        struct awaiter {
            event_count& source;
            std::uint64_t seen;
            mono_time due;
            detail::timed_sleeper<Loop> self;
            bool await_ready() const noexcept { return source.edition_ > seen; }
            void await_suspend(std::coroutine_handle<> h) {
                self.suspend(h);
                source.post_next(self);
                if (due != mono_time::max()) self.alarm(due);
            }
            bool await_resume() const noexcept { return source.edition_ > seen; }
        };
        return awaiter{*this, seen, due, detail::timed_sleeper<Loop>{loop_}};
    }

private:
    Loop& loop_;
    intrusive_list<work> waiting_;
    std::uint64_t edition_ = 1;
};

} // namespace elasticjob
#endif // ELASTICJOB_CORE_EVENT_COUNT_HPP
