// SPDX-License-Identifier: Apache-2.0
/// \file \brief Where job bodies run: the `worker_pool` concept, a pool of threads, and none at all.
#ifndef ELASTICJOB_CORE_WORKER_POOL_HPP
#define ELASTICJOB_CORE_WORKER_POOL_HPP

#include <elasticjob/core/loop.hpp>

#include <concepts>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <thread>
#include <vector>

namespace elasticjob {

/// | expression        | returns | must hold                                                                            |
/// |-------------------|---------|--------------------------------------------------------------------------------------|
/// | `p.try_submit(w)` | `bool`  | true: `w` will be run once, or discarded when the pool closes first; false: refused, |
/// |                   |         | because the queue is full; never runs `w` before it returns                          |
/// Models: ThreadPool, LoopPool. Threads: any.
template <class P>
concept worker_pool = requires(P& p, work& w) {
    { p.try_submit(w) } -> std::same_as<bool>;
};

struct thread_pool_options {
    std::size_t threads = 0;         ///< 0: two for each processor, as the original has it
    std::size_t queue_max = 100'000; ///< how much may wait for a thread
};

/// A fixed number of threads and a bounded queue. The destructor waits for what is running and discards what is queued.
template <class Thread = std::thread>
class basic_thread_pool {
public:
    explicit basic_thread_pool(thread_pool_options options = {}) : queue_max_{options.queue_max} {
        auto const processors = std::size_t{Thread::hardware_concurrency()};
        auto const count = options.threads != 0 ? options.threads : 2 * (processors != 0 ? processors : 1);
        threads_.reserve(count);
        for (std::size_t i = 0; i < count; ++i) threads_.emplace_back([this] { run(); });
    }
    basic_thread_pool(basic_thread_pool const&) = delete;
    basic_thread_pool& operator=(basic_thread_pool const&) = delete;
    ~basic_thread_pool() {
        {
            std::lock_guard const lock{mutex_};
            closing_ = true;
        }
        wake_.notify_all();
        for (auto& t : threads_) t.join();
        while (!queue_.empty()) {
            work& w = queue_.pop_front();
            w.act(w, work_action::discard);
        }
    }

    bool try_submit(work& w) {
        {
            std::lock_guard const lock{mutex_};
            if (queued_ == queue_max_) return false;
            ++queued_;
            queue_.push_back(w);
        }
        wake_.notify_one();
        return true;
    }

    std::size_t size() const noexcept { return threads_.size(); }

private:
    void run() {
        for (std::unique_lock lock{mutex_};;) {
            wake_.wait(lock, [this] { return closing_ || !queue_.empty(); });
            if (closing_) return;
            work& w = queue_.pop_front();
            --queued_;
            lock.unlock();
            w.act(w, work_action::run);
            lock.lock();
        }
    }

    std::mutex mutex_;
    std::condition_variable wake_;
    intrusive_list<work> queue_;
    std::size_t queued_ = 0;
    std::size_t const queue_max_;
    bool closing_ = false;
    std::vector<Thread> threads_;
};

/// A template only so that including it costs nothing: see docs/decisions/0006.
using ThreadPool = basic_thread_pool<>;

/// Runs job bodies on the loop itself: for simulation, and for bodies that do next to nothing.
template <loop Loop>
class LoopPool {
public:
    explicit LoopPool(Loop& l) noexcept : loop_{&l} {}
    bool try_submit(work& w) {
        loop_->post(w);
        return true;
    }

private:
    Loop* loop_;
};

} // namespace elasticjob
#endif // ELASTICJOB_CORE_WORKER_POOL_HPP
