// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_COMMAND_LINE_CHANGE_FEED_IPP
#define ELASTICJOB_IMPL_COMMAND_LINE_CHANGE_FEED_IPP

#include <elasticjob/command_line/change_feed.hpp>

namespace elasticjob::cli {

ELASTICJOB_DECL watched_nodes watched_nodes::of(takes shown, arguments const& given,
                                                std::vector<std::string> const& jobs) {
    watched_nodes nodes;
    auto const add_job = [&](job_layout const& at) {
        nodes.data.insert(nodes.data.end(), {at.config(), at.assignment(), at.sharding_necessary()});
        nodes.children.push_back(at.instances());
    };
    if (given.job.empty()) {
        for (auto const& job : jobs)
            if (auto const name = job_name::parse(job); name && nodes.children.size() < jobs_max)
                add_job(job_layout{*name});
        return nodes;
    }
    auto const name = job_name::parse(given.job);
    if (!name) return nodes; // the command itself reports the invalid name
    job_layout const at{*name};
    add_job(at);
    nodes.data.insert(nodes.data.end(), {at.audit(), at.leader_instance()});
    nodes.children.insert(nodes.children.end(), {at.servers(), at.run_records()});
    bool const is_one = has(shown, takes::item);
    auto const first = is_one ? given.item : given.first;
    auto const count = is_one ? 1 : has(shown, takes::item_range) ? std::min<std::size_t>(given.limit, items_max) : 0;
    for (std::size_t i = 0; i < count; ++i) {
        auto const item = static_cast<item_index>(first + i);
        nodes.data.insert(nodes.data.end(), {at.run_record(item), at.item_running(item), at.item_disabled(item)});
    }
    return nodes;
}

} // namespace elasticjob::cli
#endif // ELASTICJOB_IMPL_COMMAND_LINE_CHANGE_FEED_IPP
