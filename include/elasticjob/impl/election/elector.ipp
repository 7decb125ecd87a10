// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_ELECTION_ELECTOR_IPP
#define ELASTICJOB_IMPL_ELECTION_ELECTOR_IPP

#include <elasticjob/election/elector.hpp>

namespace elasticjob {

ELASTICJOB_DECL bool leads(node const* leader, instance_id const& self, session_view const& session) {
    return leader && leader->data == self.str() && leader->stat.owner == session.id && session.id != 0;
}

} // namespace elasticjob

namespace elasticjob::detail {

ELASTICJOB_DECL std::string_view latch_key(std::string_view name) noexcept {
    auto const at = name.rfind(latch_suffix);
    return at == name.npos ? name : name.substr(at + latch_suffix.size());
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_IMPL_ELECTION_ELECTOR_IPP
