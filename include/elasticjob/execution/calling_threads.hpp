// SPDX-License-Identifier: Apache-2.0
/// \file \brief The threads on which a job's body or hooks are being called.
#ifndef ELASTICJOB_EXECUTION_CALLING_THREADS_HPP
#define ELASTICJOB_EXECUTION_CALLING_THREADS_HPP

#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/intrusive_list.hpp>

#include <mutex>
#include <thread>

namespace elasticjob::detail {

/// Detects calls that would wait for a job on a thread for which the job itself waits. Threads: any.
class calling_threads {
public:
    /// Marks its thread as calling a function of the user. O(1).
    class mark : list_hook {
    public:
        /// Null: marks nothing, because nothing waits for the function.
        explicit mark(calling_threads* all);
        mark(mark const&) = delete;
        mark& operator=(mark const&) = delete;
        ~mark();

    private:
        friend calling_threads;
        friend intrusive_list<mark>;
        std::thread::id thread_ = std::this_thread::get_id();
    };

    /// O(marks).
    bool contains(std::thread::id who);

private:
    /// For all jobs, because each has few marks and holds the mutex for a few instructions.
    static std::mutex& mutex() noexcept;

    intrusive_list<mark> marks_;
};

} // namespace elasticjob::detail

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/execution/calling_threads.ipp>
#endif
#endif // ELASTICJOB_EXECUTION_CALLING_THREADS_HPP
