// SPDX-License-Identifier: Apache-2.0
/// \file \brief The real loop: one thread, the machine's clocks.
#ifndef ELASTICJOB_CORE_EVENT_LOOP_HPP
#define ELASTICJOB_CORE_EVENT_LOOP_HPP

#include <elasticjob/core/deferred.hpp>
#include <elasticjob/core/loop.hpp>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace elasticjob {

/// Runs from construction to destruction. One loop serves any number of registries, schedulers and jobs.
/// The destructor lets the piece of work that is running finish, discards what is queued, and joins; it must not run on
/// the loop itself. Everything that lives on the loop must be gone before the loop is.
/// Threads: `post`, `now`, `wall_now`, `on_loop` and `wait` from any thread, the rest from the loop's own.
template <class Thread = std::thread>
class basic_event_loop {
public:
    basic_event_loop() : thread_{[this] { run(); }} {}
    basic_event_loop(basic_event_loop const&) = delete;
    basic_event_loop& operator=(basic_event_loop const&) = delete;
    ~basic_event_loop() {
        {
            std::lock_guard const lock{mutex_};
            closing_ = true;
        }
        wake_.notify_one();
        thread_.join();
        while (!ready_.empty()) discard(ready_.pop_front());
        while (!inbox_.empty()) discard(inbox_.pop_front());
    }

    mono_time now() const noexcept { return clock_.now(); }
    wall_time wall_now() const noexcept { return clock_.wall_now(); }
    bool on_loop() const noexcept { return std::this_thread::get_id() == id_.load(std::memory_order_relaxed); }

    void post(work& w) {
        if (on_loop()) {
            ready_.push_back(w);
            return;
        }
        bool was_empty = false;
        {
            std::lock_guard const lock{mutex_};
            was_empty = inbox_.empty();
            inbox_.push_back(w);
        }
        if (was_empty) wake_.notify_one();
    }

    void arm(timer& t, mono_time due) { timers_.arm(t, due); }
    void disarm(timer& t) noexcept { timers_.disarm(t); }

    bool wait(gate const& g) const noexcept {
        if (on_loop()) return false;
        g.wait();
        return true;
    }

private:
    static void discard(work& w) { w.act(w, work_action::discard); }

    void run() {
        id_.store(std::this_thread::get_id(), std::memory_order_relaxed); // thread_ itself may not be assigned yet
        for (;;) {
            {
                std::unique_lock lock{mutex_};
                if (ready_.empty()) sleep(lock);
                if (closing_) return;
                ready_.splice_back(inbox_);
            }
            fire_due_timers();
            // Only what is ready now: what it posts waits for its turn behind the timers and the other threads.
            intrusive_list<work> turn;
            turn.splice_back(ready_);
            while (!turn.empty()) {
                work& w = turn.pop_front();
                w.act(w, work_action::run);
            }
        }
    }

    /// Until somebody posts, a timer is due, or the loop closes.
    void sleep(std::unique_lock<std::mutex>& lock) {
        auto const has_news = [this] { return closing_ || !inbox_.empty(); };
        if (timers_.empty())
            wake_.wait(lock, has_news);
        else
            wake_.wait_until(lock, timers_.earliest().due, has_news);
    }

    void fire_due_timers() {
        auto const now = clock_.now();
        while (!timers_.empty() && timers_.earliest().due <= now) {
            timer& t = timers_.earliest();
            timers_.disarm(t);
            t.fire(t);
        }
    }

    [[no_unique_address]] SystemClock clock_;
    std::mutex mutex_;
    std::condition_variable wake_;
    intrusive_list<work> inbox_; ///< from other threads, under the mutex
    bool closing_ = false;       ///< under the mutex
    intrusive_list<work> ready_;
    deferred<timer_queue, Thread> timers_;
    std::atomic<std::thread::id> id_{};
    Thread thread_; ///< last: it uses all of the above
};

/// A template only so that including it costs nothing: see docs/decisions/0006.
using event_loop = basic_event_loop<>;

} // namespace elasticjob
#endif // ELASTICJOB_CORE_EVENT_LOOP_HPP
