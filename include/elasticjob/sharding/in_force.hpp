// SPDX-License-Identifier: Apache-2.0
/// \file \brief Decides whether the assignment or the items' nodes name the owners.
#ifndef ELASTICJOB_SHARDING_IN_FORCE_HPP
#define ELASTICJOB_SHARDING_IN_FORCE_HPP

#include <elasticjob/core/decl.hpp>
#include <elasticjob/registry/node.hpp>
#include <elasticjob/sharding/assignment.hpp>

#include <optional>
#include <string>

namespace elasticjob {

/// Whether the assignment counts; otherwise the items' nodes count (SH-4). A leader of ours writes the assignment and
/// the node of the first item's owner in one transaction. A Java leader knows no assignment and writes only the items'
/// nodes. Null: there is no such node.
inline bool is_in_force(node_stat const* assigned, node_stat const* first_item) noexcept {
    return assigned && first_item && assigned->modified == first_item->modified;
}
inline bool is_in_force(std::optional<node> const& assigned, std::optional<node> const& first_item) noexcept {
    return is_in_force(assigned ? &assigned->stat : nullptr, first_item ? &first_item->stat : nullptr);
}

/// The assignment, or nothing if it does not count. Errors: malformed_data.
result<std::optional<assignment>> assignment_in_force(std::optional<node> const& assigned,
                                                      std::optional<node> const& first_item);

/// The owner of an item, by `assignment_in_force` and the node that names the item's owner. Empty if nobody owns the
/// item.
std::string owner_of(std::optional<assignment> const& in_force, std::optional<node> const& named, item_index item);

} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/sharding/in_force.ipp>
#endif
#endif // ELASTICJOB_SHARDING_IN_FORCE_HPP
