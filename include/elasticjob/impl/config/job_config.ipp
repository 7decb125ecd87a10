// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_CONFIG_JOB_CONFIG_IPP
#define ELASTICJOB_IMPL_CONFIG_JOB_CONFIG_IPP

#include <elasticjob/config/job_config.hpp>

namespace elasticjob {

ELASTICJOB_DECL void take_own_terms(job_config& config, job_config const& own) {
    config.on_misfire = own.on_misfire;
    config.run_time_limit = own.run_time_limit;
    config.give_up_after = own.give_up_after;
    config.retry = own.retry;
    config.dead_letters_max = own.dead_letters_max;
    config.on_wrong_clock = own.on_wrong_clock;
    config.dataflow = own.dataflow;
}

} // namespace elasticjob
#endif // ELASTICJOB_IMPL_CONFIG_JOB_CONFIG_IPP
