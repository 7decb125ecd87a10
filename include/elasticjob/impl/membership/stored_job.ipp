// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_MEMBERSHIP_STORED_JOB_IPP
#define ELASTICJOB_IMPL_MEMBERSHIP_STORED_JOB_IPP

#include <elasticjob/membership/stored_job.hpp>

#include <elasticjob/core/algorithm.hpp>
#include <elasticjob/core/line_text.hpp>

namespace elasticjob::detail {

ELASTICJOB_DECL error in_registry(error e, node_path const& path) {
    e.what = "the configuration in the registry cannot be used: " + e.what +
             "; correct or remove the node, or start with overwrite";
    e.where = path.str() + (e.where.empty() ? "" : ", " + e.where);
    return e;
}

ELASTICJOB_DECL result<std::optional<valid_config>> read_stored(node const* stored, node const* schedule,
                                                                job_layout const& at, std::uint32_t items_max) {
    if (!stored) return std::optional<valid_config>{};
    auto config = from_json(stored->data);
    if (!config) return in_registry(std::move(config).error(), at.config());
    if (!*config) return std::optional<valid_config>{};
    if (auto const counted = check_item_count(**config, items_max); !counted)
        return in_registry(counted.error(), at.config());
    auto whole = with_schedule_text(**config, schedule ? std::string_view{schedule->data} : "");
    if (!whole) return in_registry(std::move(whole).error(), at.schedule());
    auto checked = validate(*whole);
    if (checked) return std::optional{*std::move(checked)};
    bool is_schedules = schedule && !schedule->data.empty();
    if (is_schedules) { // if the schedules are the only problem
        auto const of_config = problems_of(**config);
        auto const of_both = problems_of(*whole);
        is_schedules =
            std::find_first_of(of_both.begin(), of_both.end(), of_config.begin(), of_config.end()) == of_both.end();
    }
    return in_registry(std::move(checked).error(), is_schedules ? at.schedule() : at.config());
}

ELASTICJOB_DECL error removed_error(job_layout const& at) {
    return error{errc::removed,
                 "the job has been removed for good: give the new one another name, or take the removal back with "
                 "restore_job",
                 at.removed().str()};
}

ELASTICJOB_DECL void put_config(transaction& t, job_layout const& at, job_config const& config, node const* stored,
                                node const* schedule) {
    if (stored)
        t.set(at.config(), to_json(config), stored->stat.version);
    else
        t.create(at.config(), to_json(config));
    auto text = to_schedule_text(config);
    if (!schedule && !text.empty())
        t.create(at.schedule(), std::move(text));
    else if (schedule && text.empty())
        t.remove(at.schedule(), schedule->stat.version);
    else if (schedule && text != schedule->data)
        t.set(at.schedule(), std::move(text), schedule->stat.version);
    else if (schedule)
        t.check(at.schedule(), schedule->stat.version);
}

ELASTICJOB_DECL void put_labels(transaction& t, node_path path, node const* stored, std::string const& labels) {
    if (!stored && !labels.empty()) t.create(std::move(path), labels);
    if (stored && labels.empty()) t.remove(std::move(path), stored->stat.version);
    if (stored && !labels.empty() && stored->data != labels) t.set(std::move(path), labels, stored->stat.version);
}

ELASTICJOB_DECL void note_labels(config_decision& decision, node const* stored, std::string const& labels) {
    auto const theirs = stored ? stored->data : std::string{};
    if (theirs != labels) decision.differences.push_back({"itemLabels", in_quotes(theirs), in_quotes(labels)});
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_IMPL_MEMBERSHIP_STORED_JOB_IPP
