// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_COMMAND_LINE_SERVER_COMMANDS_IPP
#define ELASTICJOB_IMPL_COMMAND_LINE_SERVER_COMMANDS_IPP

#include <elasticjob/command_line/server_commands.hpp>

namespace elasticjob::cli::detail {

ELASTICJOB_DECL report table_of(std::vector<server_overview> const& all) {
    report table{{"server", "host", "instances", "jobs", "disabled_in", "paused_in", "idle_in"}};
    for (auto const& s : all)
        table.rows.push_back(
            {s.server, s.host, s.instances.size(), s.jobs.size(), s.disabled_jobs, s.paused_jobs, s.idle_jobs});
    return table;
}

ELASTICJOB_DECL report table_of(std::vector<server_in_job> const& all) {
    report table{{"job", "host", "disabled", "paused", "instances", "instance_ids"}};
    for (auto const& s : all)
        table.rows.push_back({s.job, s.host, s.is_disabled, s.is_paused, s.instances.size(), s.instances});
    return table;
}

ELASTICJOB_DECL report table_of(std::vector<instance_overview> const& all) {
    report table{
        {"instance", "host", "items", "leader", "disabled", "paused", "java", "left_over", "weight", "labels"}};
    for (auto const& i : all)
        table.rows.push_back({i.id, i.host, i.item_count, i.is_leader, i.is_disabled, i.is_paused, i.is_java,
                              i.is_left_over, i.weight, i.labels});
    return table;
}

} // namespace elasticjob::cli::detail
#endif // ELASTICJOB_IMPL_COMMAND_LINE_SERVER_COMMANDS_IPP
