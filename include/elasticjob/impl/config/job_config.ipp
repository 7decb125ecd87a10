// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_CONFIG_JOB_CONFIG_IPP
#define ELASTICJOB_IMPL_CONFIG_JOB_CONFIG_IPP

#include <elasticjob/config/job_config.hpp>

namespace elasticjob {

ELASTICJOB_DECL void take_own_terms(job_config& config, job_config const& own) {
    detail::for_each_own_term([](char const*, auto& to, auto const& from) { to = from; }, config, own);
}

} // namespace elasticjob
#endif // ELASTICJOB_IMPL_CONFIG_JOB_CONFIG_IPP
