// SPDX-License-Identifier: Apache-2.0
/// \file \brief Whether the assignment or the items' nodes say who owns what.
#ifndef ELASTICJOB_SHARDING_IN_FORCE_HPP
#define ELASTICJOB_SHARDING_IN_FORCE_HPP

#include <elasticjob/registry/node.hpp>

#include <optional>

namespace elasticjob {

/// Whether the assignment counts: the node of the first item's owner was written together with it, and not since then
/// by a Java leader, who knows no assignment. Otherwise the items' nodes count.
inline bool is_in_force(std::optional<node> const& assignment, std::optional<node> const& first_item) {
    return assignment && first_item && assignment->stat.modified == first_item->stat.modified;
}

} // namespace elasticjob
#endif // ELASTICJOB_SHARDING_IN_FORCE_HPP
