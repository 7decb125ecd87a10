// SPDX-License-Identifier: Apache-2.0
/// \file \brief Counts the elements that the runs of each item have processed, until the counts are published.
#ifndef ELASTICJOB_SCHEDULER_ELEMENT_COUNTS_HPP
#define ELASTICJOB_SCHEDULER_ELEMENT_COUNTS_HPP

#include <elasticjob/core/clock.hpp>
#include <elasticjob/core/result.hpp>
#include <elasticjob/core/task.hpp>
#include <elasticjob/execution/item_counts.hpp>
#include <elasticjob/scheduler/item_state.hpp>
#include <elasticjob/scheduler/live_run.hpp>
#include <elasticjob/scheduler/run_context.hpp>

#include <map>

namespace elasticjob::detail {

/// For every item that has run here since the last publication, even if it has moved. Threads: the loop's.
template <class Environment>
class element_counts {
public:
    explicit element_counts(run_context<Environment>& s) : context_{s} {}

    /// The counts of a run belong to the item, whichever instance owns it later.
    void take(item_state<Environment>& e);

    /// Writes the counts since `since`, item by item, if there are any. Counts that cannot be written are kept for the
    /// next time.
    task<result<void>> publish(wall_time since);

private:
    run_context<Environment>& context_;
    std::map<item_index, item_counts> counts_;
};

template <class Environment>
void element_counts<Environment>::take(item_state<Environment>& e) {
    if (!e.live) return;
    item_counts const more{e.live->succeeded.exchange(0), e.live->failed.exchange(0)};
    if (!(more == item_counts{})) counts_[e.item()] += more;
}

template <class Environment>
task<result<void>> element_counts<Environment>::publish(wall_time since) {
    item_index next = 0; // each item once, although more may be added meanwhile
    for (auto at = counts_.begin(); at != counts_.end(); at = counts_.lower_bound(next)) {
        auto const i = at->first;
        auto const counts = at->second;
        counts_.erase(at);
        next = i + 1;
        auto const text = counts.to_text(since, context_.wall_now());
        auto const written =
            co_await write_or_create(context_.registry, context_.at.item_counts(i), context_.at.counts(), text);
        if (written) continue;
        counts_[i] += counts;
        co_return written.error();
    }
    co_return success();
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_SCHEDULER_ELEMENT_COUNTS_HPP
