// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_MEMBERSHIP_ENROLL_IPP
#define ELASTICJOB_IMPL_MEMBERSHIP_ENROLL_IPP

#include <elasticjob/membership/enroll.hpp>

namespace elasticjob::detail {

ELASTICJOB_DECL std::vector<node_path> base_nodes(job_layout const& at) {
    return {at.root(),    at.leader(),    at.election(), at.election_latch(), at.sharding_flags(),
            at.servers(), at.instances(), at.ext(),      at.run_records(),    at.orders()};
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_IMPL_MEMBERSHIP_ENROLL_IPP
