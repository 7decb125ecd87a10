// SPDX-License-Identifier: Apache-2.0
#include <support/zk_schedulers.hpp>

namespace elasticjob {
ELASTICJOB_ENVIRONMENT_INSTANCES(, test::zk_environment);
ELASTICJOB_JOB_INSTANCES(, AverageAllocation, test::zk_environment);
} // namespace elasticjob
