// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_CORE_WORKER_POOL_IPP
#define ELASTICJOB_IMPL_CORE_WORKER_POOL_IPP

#include <elasticjob/core/worker_pool.hpp>

namespace elasticjob {

ELASTICJOB_DECL ThreadPool::ThreadPool(thread_pool_options options) : ThreadPool{options, without_threads{}} {
    auto const processors = std::size_t{std::thread::hardware_concurrency()};
    auto const count = options.threads != 0 ? options.threads : 2 * (processors != 0 ? processors : 1);
    threads_.reserve(count);
    for (std::size_t i = 0; i < count; ++i) threads_.emplace_back([this] { run(); });
}

ELASTICJOB_DECL ThreadPool::~ThreadPool() {
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

ELASTICJOB_DECL bool ThreadPool::try_submit(work& w) {
    bool was_empty = false;
    {
        std::lock_guard const lock{mutex_};
        if (queued_ == queue_max_) return false;
        was_empty = queued_++ == 0;
        queue_.push_back(w);
    }
    if (was_empty) wake_.notify_one(); // or else the thread that takes the first piece wakes the next thread
    return true;
}

ELASTICJOB_DECL void ThreadPool::run() {
    for (std::unique_lock lock{mutex_};;) {
        wake_.wait(lock, [this] { return closing_ || !queue_.empty(); });
        if (closing_) return;
        work& w = queue_.pop_front();
        bool const is_last = --queued_ == 0;
        lock.unlock();
        if (!is_last) wake_.notify_one();
        w.act(w, work_action::run);
        lock.lock();
    }
}

} // namespace elasticjob
#endif // ELASTICJOB_IMPL_CORE_WORKER_POOL_IPP
