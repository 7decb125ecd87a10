// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_REGISTRY_ABANDONED_NODES_IPP
#define ELASTICJOB_IMPL_REGISTRY_ABANDONED_NODES_IPP

#include <elasticjob/registry/abandoned_nodes.hpp>

namespace elasticjob::detail {

ELASTICJOB_DECL bool is_abandoned(node const& there, abandoned_nodes::one const& left, session_view const& session) {
    return session.id != 0 && there.stat.owner == session.id && (!left.data || *left.data == there.data);
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_IMPL_REGISTRY_ABANDONED_NODES_IPP
