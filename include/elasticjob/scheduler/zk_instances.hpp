// SPDX-License-Identifier: Apache-2.0
/// \file \brief The templates over ZkRegistry that the compiled library contains.
#ifndef ELASTICJOB_SCHEDULER_ZK_INSTANCES_HPP
#define ELASTICJOB_SCHEDULER_ZK_INSTANCES_HPP

#include <elasticjob/registry/zk_registry.hpp>
#include <elasticjob/scheduler/instances.hpp>

#if defined(ELASTICJOB_COMPILED)
namespace elasticjob {
ELASTICJOB_REGISTRY_INSTANCES(extern, ZkRegistry);
ELASTICJOB_SCHEDULER_INSTANCES(extern, ZkRegistry);
} // namespace elasticjob
#endif

#endif // ELASTICJOB_SCHEDULER_ZK_INSTANCES_HPP
