// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_SHARDING_ITEM_CLAIM_IPP
#define ELASTICJOB_IMPL_SHARDING_ITEM_CLAIM_IPP

#include <elasticjob/sharding/item_claim.hpp>

namespace elasticjob::detail {

ELASTICJOB_DECL item_claim claim_from(item_nodes const& nodes, std::uint32_t count, job_layout const& at,
                                      instance_id const& self) {
    item_claim claim;
    for (item_index i = 0; i < count; ++i)
        if (nodes.has_owner_node(i) && nodes.owner(i) == self.str())
            claim.shares.push_back({i, {{at.item_instance(i), nodes.version(i)}}});
    claim.common.push_back({at.config(), any_version});
    return claim;
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_IMPL_SHARDING_ITEM_CLAIM_IPP
