// SPDX-License-Identifier: Apache-2.0
/// \file \brief The real loop: one thread with the machine's clocks.
#ifndef ELASTICJOB_CORE_EVENT_LOOP_HPP
#define ELASTICJOB_CORE_EVENT_LOOP_HPP

#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/loop.hpp>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace elasticjob {

/// Runs from construction to destruction. One loop serves any number of registries, schedulers and jobs. The destructor
/// lets the current piece of work finish, discards the queue, and joins the thread. It must not run on the loop itself.
/// Destroy all objects that live on the loop before the loop.
/// Threads: `post`, `now`, `wall_now`, `on_loop` and `wait` from any thread, the rest from the loop's own.
class event_loop {
public:
    /// Throws std::system_error if the system cannot start a thread.
    event_loop() : thread_{[this] { run(); }} {}
    event_loop(event_loop const&) = delete;
    event_loop& operator=(event_loop const&) = delete;
    ~event_loop();

    mono_time now() const noexcept { return clock_.now(); }
    mono_time boot_now() const noexcept { return clock_.boot_now(); }
    wall_time wall_now() const noexcept { return clock_.wall_now(); }
    bool on_loop() const noexcept { return std::this_thread::get_id() == id_.load(std::memory_order_relaxed); }

    void post(work& w);

    void arm(timer& t, mono_time due) { timers_.arm(t, due); }
    void disarm(timer& t) noexcept { timers_.disarm(t); }

    bool wait(gate const& g) const noexcept;

private:
    static void discard(work& w) { w.act(w, work_action::discard); }

    void run();

    /// Waits until work is posted, a timer is due, or the loop closes.
    void sleep(std::unique_lock<std::mutex>& lock);

    void fire_due_timers();

    [[no_unique_address]] SystemClock clock_;
    std::mutex mutex_;
    std::condition_variable wake_;
    intrusive_list<work> inbox_; ///< work from other threads; guarded by the mutex
    bool closing_ = false;       ///< guarded by the mutex
    intrusive_list<work> ready_;
    timer_queue timers_;
    std::atomic<std::thread::id> id_{};
    std::thread thread_; ///< last, because it uses all members above
};

} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/core/event_loop.ipp>
#endif
#endif // ELASTICJOB_CORE_EVENT_LOOP_HPP
