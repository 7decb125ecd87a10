// SPDX-License-Identifier: Apache-2.0
/// \file \brief The `worker_pool` concept for the threads that run job bodies, with two models: one with threads, one
/// without.
#ifndef ELASTICJOB_CORE_WORKER_POOL_HPP
#define ELASTICJOB_CORE_WORKER_POOL_HPP

#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/loop.hpp>

#include <concepts>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <thread>
#include <vector>

namespace elasticjob {

/// | expression        | returns | must hold                                                                     |
/// |-------------------|---------|-------------------------------------------------------------------------------|
/// | `p.try_submit(w)` | `bool`  | true: `w` runs once, or is discarded if the pool closes first; false: refused |
/// |                   |         | because the queue is full; never runs `w` before it returns                   |
/// Models: ThreadPool, LoopPool. Threads: any.
template <class P>
concept worker_pool = requires(P& p, work& w) {
    { p.try_submit(w) } -> std::same_as<bool>;
};

/// The size of a `ThreadPool`.
struct thread_pool_options {
    std::size_t threads = 0;         ///< 0: two for each processor, as in the original
    std::size_t queue_max = 100'000; ///< the maximum number of pieces of work that wait for a thread
};

/// A fixed number of threads and a bounded queue. The destructor waits for running work and discards queued work.
class ThreadPool {
public:
    /// Throws std::system_error if the system refuses a thread. The threads already started have ended by then.
    explicit ThreadPool(thread_pool_options options = {});
    ThreadPool(ThreadPool const&) = delete;
    ThreadPool& operator=(ThreadPool const&) = delete;
    ~ThreadPool();

    bool try_submit(work& w);

    std::size_t size() const noexcept { return threads_.size(); }

private:
    struct without_threads {};

    /// The public constructor delegates to this one. After this one has returned, the object counts as constructed, so
    /// its destructor joins the threads even if the system refuses one.
    ThreadPool(thread_pool_options const& options, without_threads) noexcept : queue_max_{options.queue_max} {}

    void run();

    std::mutex mutex_;
    std::condition_variable wake_;
    intrusive_list<work> queue_;
    std::size_t queued_ = 0;
    std::size_t const queue_max_;
    bool closing_ = false;
    std::vector<std::thread> threads_;
};

/// Runs job bodies on the loop itself: for simulation, and for bodies that take almost no time.
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

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/core/worker_pool.ipp>
#endif
#endif // ELASTICJOB_CORE_WORKER_POOL_HPP
