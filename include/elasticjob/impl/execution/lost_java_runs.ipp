// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_EXECUTION_LOST_JAVA_RUNS_IPP
#define ELASTICJOB_IMPL_EXECUTION_LOST_JAVA_RUNS_IPP

#include <elasticjob/core/algorithm.hpp>
#include <elasticjob/execution/lost_java_runs.hpp>
#include <elasticjob/execution/clock_slack.hpp>

namespace elasticjob::detail {

ELASTICJOB_DECL std::vector<deserted_item> interrupted_among(std::vector<deserted_item> const& deserted,
                                                             revision departed) {
    auto const ended_together = [&](deserted_item const& a) {
        return std::any_of(deserted.begin(), deserted.end(), [&](deserted_item const& b) {
            return !b.is_moved && b.item != a.item && b.owner == a.owner && b.changed == a.changed &&
                   a.changed > b.given;
        });
    };
    std::vector<deserted_item> found;
    for (auto const& d : deserted)
        if (d.changed == departed || (!d.is_moved && d.changed > d.given && ended_together(d))) found.push_back(d);
    return found;
}

ELASTICJOB_DECL std::optional<std::string> record_of_lost_run(std::optional<node> const& there,
                                                              instance_id const& owner, wall_time noticed,
                                                              bool has_flag, bool is_flagged) {
    run_record record;
    if (there) {
        auto read = run_record::parse(there->data);
        bool const is_live = read && read->running && (has_flag || !read->is_flagged);
        if (!read || is_live) return std::nullopt;
        record = *std::move(read);
    }
    // An owner whose clock is ahead of ours may have handled later instants.
    auto const after = believable(record.through + std::chrono::milliseconds{1}, noticed);
    auto const at = std::max(noticed, after);
    record.running = run_begin{at, run_source::schedule, 1, owner.str(), at};
    record.is_flagged = is_flagged;
    record.last_begun = at;
    return record.to_text();
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_IMPL_EXECUTION_LOST_JAVA_RUNS_IPP
