// SPDX-License-Identifier: Apache-2.0
/// \file \brief Which items a member of ours looks after when instances die in a job that has Java members too.
#ifndef ELASTICJOB_SHARDING_INTERRUPTED_ITEMS_HPP
#define ELASTICJOB_SHARDING_INTERRUPTED_ITEMS_HPP

#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/identity.hpp>
#include <elasticjob/registry/node.hpp>
#include <elasticjob/sharding/item_nodes.hpp>

#include <cstdint>
#include <vector>

namespace elasticjob::detail {

/// What nobody of ours owns.
struct unattended {
    std::vector<item_index> items; ///< those that this instance looks after
    bool has_orphans = false;      ///< an item names an owner that is gone, so the owners are still to change
};

/// The items of Java members, divided among our available instances. An item whose owner is gone counts too under a Java
/// leader, which leaves it so until its next firing; a leader of ours gives it to somebody at once.
unattended unattended_items(item_nodes const& owners, std::uint32_t count, std::vector<instance_id> const& instances,
                            std::vector<instance_id> const& available, instance_id const& self, bool has_java_leader);

} // namespace elasticjob::detail

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/sharding/interrupted_items.ipp>
#endif
#endif // ELASTICJOB_SHARDING_INTERRUPTED_ITEMS_HPP
