// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_CORE_EVENT_LOOP_IPP
#define ELASTICJOB_IMPL_CORE_EVENT_LOOP_IPP

#include <elasticjob/core/event_loop.hpp>

namespace elasticjob {

ELASTICJOB_DECL event_loop::~event_loop() {
    {
        std::lock_guard const lock{mutex_};
        closing_ = true;
    }
    wake_.notify_one();
    thread_.join();
    while (!ready_.empty()) discard(ready_.pop_front());
    while (!inbox_.empty()) discard(inbox_.pop_front());
}

ELASTICJOB_DECL void event_loop::post(work& w) {
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

ELASTICJOB_DECL bool event_loop::wait(gate const& g) const noexcept {
    if (on_loop()) return false;
    g.wait();
    return true;
}

ELASTICJOB_DECL void event_loop::run() {
    id_.store(std::this_thread::get_id(), std::memory_order_relaxed); // thread_ itself may not be assigned yet
    for (;;) {
        {
            std::unique_lock lock{mutex_};
            if (ready_.empty()) sleep(lock);
            if (closing_) return;
            ready_.splice_back(inbox_);
        }
        fire_due_timers();
        // Runs only the work that is ready now. Work that it posts waits behind due timers and the work of other
        // threads.
        intrusive_list<work> turn;
        turn.splice_back(ready_);
        while (!turn.empty()) {
            work& w = turn.pop_front();
            w.act(w, work_action::run);
        }
    }
}

ELASTICJOB_DECL void event_loop::sleep(std::unique_lock<std::mutex>& lock) {
    auto const has_news = [this] { return closing_ || !inbox_.empty(); };
    if (timers_.empty())
        wake_.wait(lock, has_news);
    else
        wake_.wait_until(lock, timers_.earliest().due, has_news);
}

ELASTICJOB_DECL void event_loop::fire_due_timers() {
    auto const now = clock_.now();
    while (!timers_.empty() && timers_.earliest().due <= now) {
        timer& t = timers_.earliest();
        timers_.disarm(t);
        t.fire(t);
    }
}

} // namespace elasticjob
#endif // ELASTICJOB_IMPL_CORE_EVENT_LOOP_IPP
