// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/scheduler/job_code.hpp>

#include <support/any_policies.hpp>

namespace elasticjob {
template class basic_memory_server<virtual_loop>;
template class basic_memory_registry<virtual_loop>;
ELASTICJOB_TREE_INSTANCES(, test::virtual_registry);
ELASTICJOB_REGISTRY_INSTANCES(, test::virtual_registry);
ELASTICJOB_JOB_SET_INSTANCES(, test::virtual_environment);
ELASTICJOB_JOB_INSTANCES(, test::virtual_environment);
} // namespace elasticjob
