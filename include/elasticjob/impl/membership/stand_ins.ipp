// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_MEMBERSHIP_STAND_INS_IPP
#define ELASTICJOB_IMPL_MEMBERSHIP_STAND_INS_IPP

#include <elasticjob/membership/stand_ins.hpp>

#include <set>
#include <string>

namespace elasticjob {

ELASTICJOB_DECL std::vector<instance_id> known_instances::unchecked(std::vector<instance_id> const& listed) {
    std::set<instance_id> const now{listed.begin(), listed.end()};
    std::erase_if(is_live_, [&](auto const& known) { return !now.contains(known.first); });
    auto fresh = listed;
    std::erase_if(fresh, [&](instance_id const& id) { return id == self_ || is_live_.contains(id); });
    return fresh;
}

ELASTICJOB_DECL void known_instances::keep_live(std::vector<instance_id>& instances) const {
    std::erase_if(instances, [&](instance_id const& id) {
        if (id == self_) return false;
        auto const at = is_live_.find(id);
        return at == is_live_.end() || !at->second;
    });
}

ELASTICJOB_DECL error stand_in_removed(node_path const& path) {
    return {errc::malformed_data,
            "a persistent node stood in the place of an ephemeral one and has been removed, because no process stands "
            "behind it: a tool that copies nodes must leave out those of sessions",
            path.str()};
}

ELASTICJOB_DECL error stand_in_stays(node_path const& path, error const& why) {
    return {why.code,
            "a persistent node stands in the place of an ephemeral one, so no process stands behind it, and it does "
            "not count; remove it by hand, because the library could not: " +
                why.what,
            path.str()};
}

} // namespace elasticjob
#endif // ELASTICJOB_IMPL_MEMBERSHIP_STAND_INS_IPP
