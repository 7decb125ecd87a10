// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_SHARDING_IN_FORCE_IPP
#define ELASTICJOB_IMPL_SHARDING_IN_FORCE_IPP

#include <elasticjob/sharding/in_force.hpp>
#include <elasticjob/sharding/item_nodes.hpp>

namespace elasticjob {

ELASTICJOB_DECL result<std::optional<assignment>> assignment_in_force(std::optional<node> const& assigned,
                                                                      std::optional<node> const& first_item) {
    if (!is_in_force(assigned, first_item)) return std::nullopt;
    ELASTICJOB_TRY(auto a, assignment::parse(assigned->data));
    return a;
}

ELASTICJOB_DECL std::string owner_of(std::optional<assignment> const& in_force, std::optional<node> const& named,
                                     item_index item) {
    if (in_force) return item < in_force->items() ? in_force->owner_id(item).str() : std::string{};
    return named ? owner_in(named->data) : std::string{};
}

} // namespace elasticjob
#endif // ELASTICJOB_IMPL_SHARDING_IN_FORCE_IPP
