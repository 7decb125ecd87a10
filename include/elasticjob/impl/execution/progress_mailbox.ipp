// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_EXECUTION_PROGRESS_MAILBOX_IPP
#define ELASTICJOB_IMPL_EXECUTION_PROGRESS_MAILBOX_IPP

#include <elasticjob/core/algorithm.hpp> // max
#include <elasticjob/core/chrono.hpp>
#include <elasticjob/execution/progress_mailbox.hpp>

#include <utility>

namespace elasticjob::detail {

ELASTICJOB_DECL bool progress_mailbox::put(std::uint64_t done, std::uint64_t total) {
    std::lock_guard const lock{mutex_};
    if (is_closed_) return false;
    done_ = done;
    total_ = total;
    is_new_ = true;
    return !std::exchange(is_attended_, true);
}

ELASTICJOB_DECL mono_time progress_mailbox::next_look(mono_time now, std::uint32_t reporting) {
    constexpr std::chrono::milliseconds pause{1'000}, share{10};
    return now + std::max(pause, share * reporting);
}

ELASTICJOB_DECL bool progress_mailbox::take(run_progress& into) {
    std::lock_guard const lock{mutex_};
    is_attended_ = is_new_;
    if (!std::exchange(is_new_, false)) return false;
    into.done = done_;
    into.total = total_;
    return true;
}

ELASTICJOB_DECL bool progress_mailbox::close(run_progress& into) {
    bool const is_new = take(into);
    std::lock_guard const lock{mutex_};
    is_closed_ = true;
    return is_new;
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_IMPL_EXECUTION_PROGRESS_MAILBOX_IPP
