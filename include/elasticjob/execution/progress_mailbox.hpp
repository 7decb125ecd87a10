// SPDX-License-Identifier: Apache-2.0
/// \file \brief Takes what a body reports of its progress to the loop: only the latest counts.
#ifndef ELASTICJOB_EXECUTION_PROGRESS_MAILBOX_HPP
#define ELASTICJOB_EXECUTION_PROGRESS_MAILBOX_HPP

#include <elasticjob/core/clock.hpp>
#include <elasticjob/core/decl.hpp>
#include <elasticjob/execution/run_record.hpp>

#include <cstdint>
#include <mutex>

namespace elasticjob::detail {

/// The loop is called once, and then comes back by itself as long as there is something new. Threads: any.
class progress_mailbox {
public:
    /// Replaces what was reported before. True: the loop has to be called.
    bool put(std::uint64_t done, std::uint64_t total);

    /// When the loop comes back that comes now: in a second, or later while so many runs of a job on an instance report that
    /// this would be more than a hundred a second.
    static mono_time next_look(mono_time now, std::uint32_t reporting);

    /// Replaces `done` and `total` by what was reported since the last call. False: that is nothing, and the next `put` calls
    /// the loop again.
    bool take(run_progress& into);

    /// The same, and nothing comes any more: the body is over.
    bool close(run_progress& into);

private:
    std::mutex mutex_;
    std::uint64_t done_ = 0, total_ = 0;
    bool is_new_ = false;
    bool is_attended_ = false; ///< the loop has been called, and comes back
    bool is_closed_ = false;
};

} // namespace elasticjob::detail

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/execution/progress_mailbox.ipp>
#endif
#endif // ELASTICJOB_EXECUTION_PROGRESS_MAILBOX_HPP
