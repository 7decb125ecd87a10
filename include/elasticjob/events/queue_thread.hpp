// SPDX-License-Identifier: Apache-2.0
/// \file \brief Events over a bounded queue to a thread that works on them batch by batch.
#ifndef ELASTICJOB_EVENTS_QUEUE_THREAD_HPP
#define ELASTICJOB_EVENTS_QUEUE_THREAD_HPP

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
    std::size_t depth_max = 8192;                   ///< events that wait; when one more comes, the oldest is dropped
    std::size_t batch_max = 256;                    ///< events that are worked on together, and wait no more
    std::chrono::milliseconds drain_timeout{5'000}; ///< how long the end of the queue waits for what is in it
};

/// What has become of the events so far. Threads: any.
struct queue_account {
    std::atomic<std::uint64_t> done{0};    ///< handed over
    std::atomic<std::uint64_t> dropped{0}; ///< because the queue was full, or nobody took them before its end
    std::atomic<std::uint64_t> failed{0};  ///< attempts that came to nothing: an exception, a write that was refused
};

namespace detail {

/// What a worker may ask of its queue, from the queue's thread.
template <class Worker, class Ring>
class queue_state {
public:
    queue_state(Worker w, queue_options o, std::shared_ptr<queue_account> a)
        : options_{o},
          account_{std::move(a)},
          waiting_{o.depth_max},
          worker_{std::move(w)} {}

    queue_account& account() noexcept { return *account_; }

    /// Waits, but no longer than until somebody wants the end of the queue. False if somebody does.
    bool sleep_until(mono_time until) {
        std::unique_lock lock{mutex_};
        return !news_.wait_until(lock, until, [&] { return is_closing_; });
    }

    /// Whether the time for what is left is over.
    bool is_abandoned() const noexcept { return abandoned_.stop_requested(); }

    /// Asked when it is: for a worker that waits for something.
    std::stop_token abandoned() const noexcept { return abandoned_.get_token(); }

private:
    template <class, class>
    friend class queue_thread;

    void work() {
        Ring batch{options_.batch_max};
        for (;;) {
            {
                std::unique_lock lock{mutex_};
                auto const is_wanted = [&] { return is_closing_ || waiting_.size() > 0; };
                if (auto const until = worker_.next_look(); until == mono_time::max())
                    news_.wait(lock, is_wanted);
                else
                    news_.wait_until(lock, until, is_wanted);
                if (is_closing_ && (waiting_.size() == 0 || is_abandoned())) break;
                waiting_.move_to(batch, options_.batch_max);
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
    Worker worker_; ///< the thread's own
};

/// | expression              | must hold                                                                                 |
/// |-------------------------|-------------------------------------------------------------------------------------------|
/// | `w.work(batch, queue)`  | deals with the events of the ring, in order; throws nothing; counts what it did in         |
/// |                         | `queue.account()`; gives up soon once `queue.is_abandoned()`                               |
/// | `w.next_look()`         | `mono_time`: when it wants to be called although there is nothing                         |
/// | `w.finish(queue)`       | if it is there: the last call, when the queue is at its end                               |
///
/// Movable. Its end lets the worker finish what waits, for `drain_timeout`. What is left then is dropped and counted, and
/// a worker that has not come back even so is left behind with its thread: what it refers to must live until it does.
/// Threads: any may tell.
template <class Worker, class Ring = events::event_ring>
class queue_thread {
public:
    /// Throws std::system_error if there can be no thread.
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
        auto const deadline = std::chrono::steady_clock::now() + s.options_.drain_timeout;
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
