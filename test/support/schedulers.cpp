// SPDX-License-Identifier: Apache-2.0
#include <support/any_policies.hpp>

namespace elasticjob {
template class basic_memory_server<virtual_loop>;
template class basic_memory_registry<virtual_loop>;
ELASTICJOB_REGISTRY_INSTANCES(, test::virtual_registry);
ELASTICJOB_ENVIRONMENT_INSTANCES(, test::virtual_environment);
} // namespace elasticjob
