// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_OPERATIONS_JOB_OVERVIEW_IPP
#define ELASTICJOB_IMPL_OPERATIONS_JOB_OVERVIEW_IPP

#include <elasticjob/config/json_codec.hpp>
#include <elasticjob/operations/job_overview.hpp>

#include <array>

namespace elasticjob {

ELASTICJOB_DECL std::string_view name_of(console_status s) noexcept {
    constexpr std::array<std::string_view, 4> names{"CRASHED", "DISABLED", "SHARDING_FLAG", "OK"};
    return names[static_cast<std::size_t>(s)];
}

ELASTICJOB_DECL std::string_view name_of(job_health h) noexcept {
    constexpr std::array<std::string_view, 7> names{"unreadable", "no_instances", "disabled", "sharding_due",
                                                    "orphaned",   "unowned",      "ok"};
    return names[static_cast<std::size_t>(h)];
}

} // namespace elasticjob

namespace elasticjob::detail {

ELASTICJOB_DECL void keep_each_once(std::vector<std::string>& names) {
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
}

ELASTICJOB_DECL std::optional<std::vector<std::string>> owners_by_assignment(std::optional<node> const& assignment_node,
                                                                             std::optional<node> const& first_item) {
    auto const in_force = assignment_in_force(assignment_node, first_item);
    if (!in_force || !*in_force) return std::nullopt;
    auto const& a = **in_force;
    std::vector<std::string> owners;
    for (auto const& r : a.runs_among(a.instances()))
        owners.push_back(r.owner == no_slot ? std::string{} : a.instances()[r.owner].str());
    keep_each_once(owners);
    return owners;
}

ELASTICJOB_DECL job_pauses readable_pauses(std::optional<node> const& n) {
    auto read = job_pauses::parse(n ? n->data : std::string{});
    return read ? *std::move(read) : job_pauses{};
}

ELASTICJOB_DECL job_overview overview_of(job_facts const& facts) {
    job_overview job{facts.name};
    job.instance_count = static_cast<std::uint32_t>(facts.instances.size());
    auto const config = from_json(facts.config);
    if (!config) {
        job.fault = config.error();
        job.fault->where = job_layout{*job_name::parse(facts.name)}.config().str() + ": " + job.fault->where;
    } else if (*config) {
        job.cron = (*config)->cron;
        job.description = (*config)->description;
        job.item_count = static_cast<std::uint32_t>(std::max((*config)->sharding_total_count, 0));
    }
    for (auto const& p : facts.pauses.all()) {
        if (p.until) continue;
        if (p.server.empty())
            job.is_paused = true;
        else
            job.paused_servers.push_back(p.server);
    }
    std::sort(job.paused_servers.begin(), job.paused_servers.end());

    auto const is_gone = [&](std::string const& owner) {
        return !owner.empty() &&
               std::find(facts.instances.begin(), facts.instances.end(), owner) == facts.instances.end();
    };
    bool const has_orphans = std::any_of(facts.owners.begin(), facts.owners.end(), is_gone);
    auto const is_somebody = [](std::string const& owner) { return !owner.empty(); };
    bool const has_owner = std::any_of(facts.owners.begin(), facts.owners.end(), is_somebody);
    bool const has_unowned = facts.owners.empty() || facts.owners.front().empty();

    job.status = facts.instances.empty()     ? console_status::crashed
                 : !facts.has_enabled_server ? console_status::disabled
                 : !has_owner || has_orphans ? console_status::sharding_flag
                                             : console_status::ok;
    job.health = job.fault                     ? job_health::unreadable
                 : facts.instances.empty()     ? job_health::no_instances
                 : !facts.has_enabled_instance ? job_health::disabled
                 : facts.sharding_is_due       ? job_health::sharding_due
                 : has_orphans                 ? job_health::orphaned
                 : has_unowned                 ? job_health::unowned
                                               : job_health::ok;
    return job;
}

ELASTICJOB_DECL bool is_wanted(job_overview const& job, job_query const& query) {
    return (!query.status || job.status == *query.status) && (!query.health || job.health == *query.health);
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_IMPL_OPERATIONS_JOB_OVERVIEW_IPP
