// SPDX-License-Identifier: Apache-2.0
/// \file \brief Passes the latest progress report of a body to the loop.
#ifndef ELASTICJOB_EXECUTION_PROGRESS_MAILBOX_HPP
#define ELASTICJOB_EXECUTION_PROGRESS_MAILBOX_HPP

#include <elasticjob/core/clock.hpp>
#include <elasticjob/core/decl.hpp>
#include <elasticjob/execution/run_record.hpp>

#include <cstdint>
#include <mutex>

namespace elasticjob::detail {

/// The loop is called once, and then returns by itself as long as there are new reports. Threads: any.
class progress_mailbox {
public:
    /// Replaces the earlier report. True: the caller must call the loop.
    bool put(std::uint64_t done, std::uint64_t total);

    /// When the loop returns after a visit now: in a second, or later if the reporting runs of the job on this instance
    /// would exceed a hundred visits a second.
    static mono_time next_look(mono_time now, std::uint32_t reporting);

    /// Sets `done` and `total` to the report since the last call. False: there was none, and the next `put` calls the
    /// loop again.
    bool take(run_progress& into);

    /// The same for the last time, after the body has ended.
    bool close(run_progress& into);

private:
    std::mutex mutex_;
    std::uint64_t done_ = 0, total_ = 0;
    bool is_new_ = false;
    bool is_attended_ = false; ///< the loop has been called or will return
    bool is_closed_ = false;
};

} // namespace elasticjob::detail

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/execution/progress_mailbox.ipp>
#endif
#endif // ELASTICJOB_EXECUTION_PROGRESS_MAILBOX_HPP
