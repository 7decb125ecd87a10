// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_OPERATIONS_REMOVE_JOB_IPP
#define ELASTICJOB_IMPL_OPERATIONS_REMOVE_JOB_IPP

#include <elasticjob/operations/remove_job.hpp>

namespace elasticjob::detail {

ELASTICJOB_DECL error taken_back(job_layout const& at) {
    return error{errc::version_conflict, "somebody has taken the removal back", at.removed().str()};
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_IMPL_OPERATIONS_REMOVE_JOB_IPP
