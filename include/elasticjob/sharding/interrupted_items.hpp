// SPDX-License-Identifier: Apache-2.0
/// \file \brief Chooses the items whose owners an instance of ours watches for deaths, in a job with Java members.
#ifndef ELASTICJOB_SHARDING_INTERRUPTED_ITEMS_HPP
#define ELASTICJOB_SHARDING_INTERRUPTED_ITEMS_HPP

#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/identity.hpp>
#include <elasticjob/registry/node.hpp>
#include <elasticjob/sharding/item_nodes.hpp>

#include <cstdint>
#include <vector>

namespace elasticjob::detail {

/// Items that no C++ member owns.
struct unattended {
    std::vector<item_index> items; ///< the items that this instance watches
    bool has_orphans = false;      ///< an item names an owner that is gone, so the item is about to get another one
};

/// The items of Java members, divided among our available instances. Under a Java leader they include the items of
/// owners that are gone, because that leader reassigns them only at its next firing. A leader of ours reassigns them at
/// once.
unattended unattended_items(item_nodes const& owners, std::uint32_t count, std::vector<instance_id> const& instances,
                            std::vector<instance_id> const& available, instance_id const& self, bool has_java_leader);

} // namespace elasticjob::detail

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/sharding/interrupted_items.ipp>
#endif
#endif // ELASTICJOB_SHARDING_INTERRUPTED_ITEMS_HPP
