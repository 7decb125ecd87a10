// SPDX-License-Identifier: Apache-2.0
/// \file \brief The templates of job_code.hpp over ZkRegistry that the compiled library contains.
#ifndef ELASTICJOB_SCHEDULER_ZK_JOB_CODE_HPP
#define ELASTICJOB_SCHEDULER_ZK_JOB_CODE_HPP

#include <elasticjob/registry/zk_registry.hpp>
#include <elasticjob/scheduler/job_code.hpp>

#if defined(ELASTICJOB_COMPILED)
namespace elasticjob {
ELASTICJOB_REGISTRY_INSTANCES(extern, ZkRegistry);
ELASTICJOB_JOB_INSTANCES(extern, detail::job_environment<ZkRegistry>);
} // namespace elasticjob
#endif

#endif // ELASTICJOB_SCHEDULER_ZK_JOB_CODE_HPP
