// SPDX-License-Identifier: Apache-2.0
/// \file \brief Passes events through a bounded queue to a thread that handles them in batches.
#ifndef ELASTICJOB_EVENTS_QUEUE_THREAD_HPP
#define ELASTICJOB_EVENTS_QUEUE_THREAD_HPP

#include <elasticjob/core/algorithm.hpp> // max
#include <elasticjob/core/chrono.hpp>
#include <elasticjob/core/clock.hpp>
#include <elasticjob/core/memory.hpp>
#include <elasticjob/events/event_ring.hpp>

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <stop_token>
#include <thread>
#include <utility>

namespace elasticjob {

/// The size of the queue between the loop and a sink's thread.
struct queue_options {
    std::size_t depth_max = 8192; ///< the maximum number of waiting events, at least 1; one more drops the oldest
    std::size_t batch_max = 256;  ///< the maximum number of events that are handled together, at least 1
    std::chrono::milliseconds drain_timeout{5'000}; ///< the longest time that the destructor waits for an empty queue
};

/// The numbers of events by outcome. Threads: any.
struct queue_account {
    std::atomic<std::uint64_t> done{0};    ///< handled
    std::atomic<std::uint64_t> dropped{0}; ///< because the queue was full, or ended before they were handled
    std::atomic<std::uint64_t> failed{0};  ///< failed attempts: an exception, or a refused write
};

namespace detail {

/// The worker's view of the queue, on the queue's thread.
template <class Worker, class Ring>
class queue_state {
public:
    queue_state(Worker w, queue_options o, std::shared_ptr<queue_account> a)
        : options_{o},
          account_{std::move(a)},
          waiting_{o.depth_max},
          worker_{std::move(w)} {}

    queue_account& account() noexcept { return *account_; }

    /// Waits until the given time, or until the queue must end. Returns false if it must end.
    bool sleep_until(mono_time until) {
        std::unique_lock lock{mutex_};
        return !news_.wait_until(lock, until, [&] { return is_closing_; });
    }

    /// Whether the time for the remaining events has passed.
    bool is_abandoned() const noexcept { return abandoned_.stop_requested(); }

    /// Stops when that time has passed, for a worker that waits for something.
    std::stop_token abandoned() const noexcept { return abandoned_.get_token(); }

private:
    template <class, class>
    friend class queue_thread;

    void work() {
        auto const batch_max = std::max<std::size_t>(options_.batch_max, 1);
        Ring batch{batch_max};
        for (;;) {
            {
                std::unique_lock lock{mutex_};
                auto const is_wanted = [&] { return is_closing_ || waiting_.size() > 0; };
                if (auto const until = worker_.next_look(); until == mono_time::max())
                    news_.wait(lock, is_wanted);
                else
                    news_.wait_until(lock, until, is_wanted);
                if (is_closing_ && (waiting_.size() == 0 || is_abandoned())) break;
                waiting_.move_to(batch, batch_max);
            }
            worker_.work(batch, *this);
            batch.clear();
        }
        if constexpr (requires { worker_.finish(*this); }) worker_.finish(*this);
        std::lock_guard const lock{mutex_};
        account_->dropped += waiting_.size();
        is_over_ = true;
        over_.notify_all();
    }

    queue_options const options_;
    std::shared_ptr<queue_account> account_;
    std::mutex mutex_;
    std::condition_variable news_, over_;
    Ring waiting_;
    bool is_closing_ = false, is_over_ = false;
    std::stop_source abandoned_;
    Worker worker_; ///< used by the thread only
};

/// | expression              | must hold                                                                                 |
/// |-------------------------|-------------------------------------------------------------------------------------------|
/// | `w.work(batch, queue)`  | handles the events of the ring, in order; throws nothing; counts its results in            |
/// |                         | `queue.account()`; gives up soon once `queue.is_abandoned()`                               |
/// | `w.next_look()`         | `mono_time`: when to call `work` even if there are no events                              |
/// | `w.finish(queue)`       | optional: the last call, when the queue ends                                              |
///
/// Movable. The destructor lets the worker handle the waiting events for at most `drain_timeout`, then drops and counts
/// the rest. If the worker still has not returned, the destructor leaves it with its thread, so everything that it
/// refers to must outlive it. Threads: any may add events.
template <class Worker, class Ring = events::event_ring>
class queue_thread {
public:
    /// Throws std::system_error if no thread can be started.
    queue_thread(Worker w, queue_options o)
        : account_{std::make_shared<queue_account>()},
          state_{std::make_shared<queue_state<Worker, Ring>>(std::move(w), o, account_)},
          thread_{[s = state_] { s->work(); }} {}
    queue_thread(queue_thread&&) noexcept = default;
    queue_thread& operator=(queue_thread&&) = delete;
    ~queue_thread() {
        if (!state_) return;
        auto& s = *state_;
        std::unique_lock lock{s.mutex_};
        s.is_closing_ = true;
        s.news_.notify_all();
        auto const is_over = [&] { return s.is_over_; };
        auto const deadline = end_of_wait(std::chrono::steady_clock::now(), s.options_.drain_timeout);
        bool ended = s.over_.wait_until(lock, deadline, is_over);
        if (!ended) {
            s.abandoned_.request_stop();
            ended = s.over_.wait_for(lock, std::chrono::milliseconds{100}, is_over);
        }
        lock.unlock();
        if (ended)
            thread_.join();
        else
            thread_.detach();
    }

    template <class E>
    void push(E const& e) {
        auto& s = *state_;
        bool is_first = false;
        {
            std::lock_guard const lock{s.mutex_};
            is_first = s.waiting_.size() == 0;
            if (!s.waiting_.push(e)) s.account_->dropped.fetch_add(1, std::memory_order_relaxed);
        }
        if (is_first) s.news_.notify_all();
    }

    std::shared_ptr<queue_account const> account() const { return account_; }

private:
    std::shared_ptr<queue_account> account_;
    std::shared_ptr<queue_state<Worker, Ring>> state_;
    std::thread thread_;
};

} // namespace detail
} // namespace elasticjob
#endif // ELASTICJOB_EVENTS_QUEUE_THREAD_HPP
