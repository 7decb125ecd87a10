// SPDX-License-Identifier: Apache-2.0
/// \file \brief The templates over ZkRegistry that the compiled library contains.
#ifndef ELASTICJOB_SCHEDULER_ZK_INSTANCES_HPP
#define ELASTICJOB_SCHEDULER_ZK_INSTANCES_HPP

#include <elasticjob/registry/zk_registry.hpp>
#include <elasticjob/scheduler/instances.hpp>

#if defined(ELASTICJOB_COMPILED)
namespace elasticjob {
template <>
inline constexpr bool detail::is_in_library<detail::job_environment<ZkRegistry>> = true;
ELASTICJOB_TREE_INSTANCES(extern, ZkRegistry);
ELASTICJOB_SCHEDULER_INSTANCES(extern, ZkRegistry);
} // namespace elasticjob

#if defined(ELASTICJOB_REGISTRY_INSTANCES) // job_code.hpp has been read
#include <elasticjob/scheduler/zk_job_code.hpp>
#endif
#endif

#endif // ELASTICJOB_SCHEDULER_ZK_INSTANCES_HPP
