// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_MEMBERSHIP_OLD_SERVERS_IPP
#define ELASTICJOB_IMPL_MEMBERSHIP_OLD_SERVERS_IPP

#include <elasticjob/membership/old_servers.hpp>

#include <elasticjob/core/algorithm.hpp>
#include <elasticjob/core/chrono.hpp>

#include <set>
#include <string_view>
#include <utility>

namespace elasticjob {

ELASTICJOB_DECL std::vector<node_path> old_servers::pick(job_layout const& at, std::vector<std::string> listed,
                                                         std::vector<instance_id> const& instances) {
    std::set<std::string_view> in_use;
    for (auto const& id : instances) in_use.insert(id.server());
    std::erase_if(listed,
                  [&](std::string const& ip) { return in_use.count(ip) != 0 || node_path::element_fault(ip); });
    std::sort(listed.begin(), listed.end());
    auto next = std::upper_bound(listed.begin(), listed.end(), last_);
    if (next == listed.end()) next = listed.begin();
    picked_.clear();
    for (; next != listed.end() && picked_.size() < 2 * batch_max; ++next) {
        picked_.push_back(at.server(*next));
        picked_.push_back(at.host(*next));
        last_ = std::move(*next);
    }
    return picked_;
}

ELASTICJOB_DECL transaction old_servers::removal(job_layout const& at, session_generation g, node_version assignment,
                                                 std::vector<std::optional<node>> const& read,
                                                 wall_time written_before) const {
    transaction t{g};
    t.check(at.leader_instance()).check(at.assignment(), assignment).check_absent(at.sharding_necessary());
    auto const checks = t.size();
    auto const limit = std::chrono::floor<std::chrono::milliseconds>(written_before.time_since_epoch()).count();
    for (std::size_t i = 0; i + 1 < read.size() && i + 1 < picked_.size(); i += 2) {
        auto const& n = read[i];
        if (!n || !n->data.empty() || n->stat.children != 0 || n->stat.modified_at_ms >= limit) continue;
        t.remove(picked_[i], n->stat.version);
        if (read[i + 1]) t.remove(picked_[i + 1]);
    }
    return t.size() == checks ? transaction{g} : t;
}

} // namespace elasticjob
#endif // ELASTICJOB_IMPL_MEMBERSHIP_OLD_SERVERS_IPP
