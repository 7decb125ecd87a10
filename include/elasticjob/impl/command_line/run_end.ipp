// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_COMMAND_LINE_RUN_END_IPP
#define ELASTICJOB_IMPL_COMMAND_LINE_RUN_END_IPP

#include <elasticjob/command_line/run_end.hpp>

namespace elasticjob::cli {

ELASTICJOB_DECL awaited_runs::awaited_runs(std::vector<item_index> items, std::optional<run_source> only)
    : before_(items.size()),
      only_{only} {
    for (auto const item : items) items_.push_back({item});
}

ELASTICJOB_DECL bool awaited_runs::is_wanted(run_record const& record, run_begin const& run) const {
    if (!only_ || run.source == *only_) return true;
    auto const is_repeated = [&](run_entry const& e) {
        return e.outcome == run_outcome::retried && e.run.source == *only_ && e.run.due == run.due;
    };
    return run.source == run_source::failover && std::any_of(record.ledger.begin(), record.ledger.end(), is_repeated);
}

ELASTICJOB_DECL bool awaited_runs::counts(run_record const& record, run_entry const& e) const {
    bool const is_end = e.outcome == run_outcome::completed || e.outcome == run_outcome::failed ||
                        e.outcome == run_outcome::interrupted;
    return is_end && is_wanted(record, e.run);
}

ELASTICJOB_DECL void awaited_runs::begin(std::size_t n, run_record const& record) {
    for (auto const& entry : record.ledger)
        if (counts(record, entry)) before_[n].push_back(entry.run);
}

ELASTICJOB_DECL void awaited_runs::take(std::size_t n, run_record const& record) {
    auto const& before = before_[n];
    for (auto const& entry : record.ledger) // the last entry counts
        if (counts(record, entry) && std::find(before.begin(), before.end(), entry.run) == before.end())
            items_[n].end = entry;
}

ELASTICJOB_DECL void awaited_runs::count_since(wall_time t) {
    for (auto& runs : before_) std::erase_if(runs, [&](run_begin const& r) { return r.begun >= t; });
}

ELASTICJOB_DECL bool awaited_runs::has_failed() const {
    return std::any_of(items_.begin(), items_.end(),
                       [](item_end const& i) { return i.end && i.end->outcome != run_outcome::completed; });
}

ELASTICJOB_DECL bool awaited_runs::is_over(wanted_end wanted) const {
    auto const has_completed = [](item_end const& i) { return i.end && i.end->outcome == run_outcome::completed; };
    bool const all_completed = std::all_of(items_.begin(), items_.end(), has_completed);
    switch (wanted) {
    case wanted_end::success:
        return all_completed;
    case wanted_end::failure:
        return has_failed();
    case wanted_end::either:
        return all_completed || has_failed();
    }
    return true;
}

ELASTICJOB_DECL std::vector<std::size_t> awaited_runs::left(wanted_end wanted) const {
    auto const settles = wanted == wanted_end::failure ? run_outcome::failed : run_outcome::completed;
    std::vector<std::size_t> places;
    for (std::size_t n = 0; n < items_.size(); ++n)
        if (auto const& end = items_[n].end; !end || end->outcome != settles) places.push_back(n);
    return places;
}

} // namespace elasticjob::cli
#endif // ELASTICJOB_IMPL_COMMAND_LINE_RUN_END_IPP
