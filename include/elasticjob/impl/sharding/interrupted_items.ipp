// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_SHARDING_INTERRUPTED_ITEMS_IPP
#define ELASTICJOB_IMPL_SHARDING_INTERRUPTED_ITEMS_IPP

#include <elasticjob/core/algorithm.hpp>
#include <elasticjob/sharding/interrupted_items.hpp>

namespace elasticjob::detail {

ELASTICJOB_DECL unattended unattended_items(item_nodes const& owners, std::uint32_t count,
                                            std::vector<instance_id> const& instances,
                                            std::vector<instance_id> const& available, instance_id const& self,
                                            bool has_java_leader) {
    std::vector<instance_id> ours;
    for (auto const& id : available)
        if (!id.is_java()) ours.push_back(id);
    auto const self_at = std::find(ours.begin(), ours.end(), self);
    unattended found;
    for (item_index i = 0; i < count; ++i) {
        auto const owner = instance_id::parse(owners.has_owner_node(i) ? owners.owner(i) : std::string{});
        bool const is_gone = !owner || std::find(instances.begin(), instances.end(), *owner) == instances.end();
        found.has_orphans |= is_gone;
        bool const is_unattended = is_gone ? has_java_leader : owner->is_java();
        if (!is_unattended || self_at == ours.end()) continue;
        if (i % ours.size() == static_cast<std::size_t>(self_at - ours.begin())) found.items.push_back(i);
    }
    return found;
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_IMPL_SHARDING_INTERRUPTED_ITEMS_IPP
