// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_ELECTION_ELECTOR_IPP
#define ELASTICJOB_IMPL_ELECTION_ELECTOR_IPP

#include <elasticjob/election/elector.hpp>

namespace elasticjob {

ELASTICJOB_DECL bool leads(node const* leader, instance_id const& self, session_view const& session) {
    return leader && leader->data == self.str() && leader->stat.owner == session.id && session.id != 0;
}

} // namespace elasticjob
#endif // ELASTICJOB_IMPL_ELECTION_ELECTOR_IPP
