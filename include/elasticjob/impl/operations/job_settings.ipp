// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_OPERATIONS_JOB_SETTINGS_IPP
#define ELASTICJOB_IMPL_OPERATIONS_JOB_SETTINGS_IPP

#include <elasticjob/allocation/all_strategies.hpp>
#include <elasticjob/config/config_file.hpp>
#include <elasticjob/config/text.hpp>
#include <elasticjob/core/algorithm.hpp>
#include <elasticjob/core/line_text.hpp>
#include <elasticjob/operations/job_settings.hpp>
#include <elasticjob/sharding/strategy_name.hpp>

namespace elasticjob::detail {

ELASTICJOB_DECL std::string tag_of(std::optional<node> const& config, std::optional<node> const& schedule,
                                   std::optional<node> const& labels) {
    std::string tag;
    for (auto const* one : {&config, &schedule, &labels})
        tag += (tag.empty() ? "" : "-") + std::to_string(*one ? (*one)->stat.modified : 0);
    return tag;
}

ELASTICJOB_DECL std::optional<error> find_loss(settings_change const& change, job_layout const& at,
                                               node const* schedule, node const* labels) {
    bool const has_more = (schedule && !schedule->data.empty()) || (labels && !labels->data.empty());
    bool const keeps_some = !to_schedule_text(change.config).empty() || !change.config.item_labels.empty();
    if (!has_more || keeps_some || change.may_drop) return std::nullopt;
    return error{errc::version_conflict,
                 "the job has schedules, a time zone or labels, and the new configuration has none of them: add them, "
                 "or allow their loss (--drop-schedules)",
                 at.root().str()};
}

ELASTICJOB_DECL command_title title_of(settings_change const& change) {
    return {change.may_change ? "configure" : "add", "configuration " + hash_text(write_job_config(change.config)),
            change.may_add};
}

ELASTICJOB_DECL std::string text_of_change(config_decision const& decision) {
    if (decision.differences.empty()) return "the unreadable configuration is replaced";
    std::string text;
    for (auto const& [field, before, now] : decision.differences)
        text.append(text.empty() ? "" : "; ").append(field).append(" is ").append(now).append(", was ").append(before);
    return text;
}

ELASTICJOB_DECL result<valid_config> checked_settings(settings_change const& change) {
    ELASTICJOB_TRY(auto valid, validate(change.config));
    auto const wanted = strategy_name_of(valid.config());
    bool is_known = std::find(change.strategies.begin(), change.strategies.end(), wanted) != change.strategies.end();
    is_known |= AllStrategies::has(wanted);
    if (is_known) return valid;
    return error{errc::unknown_strategy,
                 in_quotes(wanted) +
                     " is no strategy of this library: if the job's members know it, name it in the command",
                 std::string{field_name(&job_config::job_sharding_strategy_class)}};
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_IMPL_OPERATIONS_JOB_SETTINGS_IPP
