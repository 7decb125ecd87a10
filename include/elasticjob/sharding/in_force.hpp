// SPDX-License-Identifier: Apache-2.0
/// \file \brief Decides whether the assignment or the items' nodes name the owners.
#ifndef ELASTICJOB_SHARDING_IN_FORCE_HPP
#define ELASTICJOB_SHARDING_IN_FORCE_HPP

#include <elasticjob/registry/node.hpp>

#include <optional>

namespace elasticjob {

/// Whether the assignment counts; otherwise the items' nodes count. A leader of ours writes the assignment and the node
/// of the first item's owner in one transaction. A Java leader knows no assignment and writes only the items' nodes.
inline bool is_in_force(std::optional<node> const& assignment, std::optional<node> const& first_item) {
    return assignment && first_item && assignment->stat.modified == first_item->stat.modified;
}

} // namespace elasticjob
#endif // ELASTICJOB_SHARDING_IN_FORCE_HPP
