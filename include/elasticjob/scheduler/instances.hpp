// SPDX-License-Identifier: Apache-2.0
/// \file \brief The templates that the compiled library contains, so that a program does not compile them again. Those
/// below the interface of a scheduler are in job_code.hpp.
#ifndef ELASTICJOB_SCHEDULER_INSTANCES_HPP
#define ELASTICJOB_SCHEDULER_INSTANCES_HPP

#include <elasticjob/allocation/average.hpp>
#include <elasticjob/allocation/odevity.hpp>
#include <elasticjob/allocation/rotate.hpp>
#include <elasticjob/execution/simple_executor.hpp>
#include <elasticjob/registry/memory_registry.hpp>
#include <elasticjob/registry/mirror.hpp>
#include <elasticjob/registry/mirrored.hpp>
#include <elasticjob/registry/read_all.hpp>
#include <elasticjob/scheduler/job_scheduler.hpp>
#include <elasticjob/scheduler/policies.hpp>

// EXTERN is `extern` in a declaration and empty in the definition. Both stand in namespace elasticjob.

/// The copies of nodes, which programs use without a scheduler too.
#define ELASTICJOB_TREE_INSTANCES(EXTERN, Registry)                                                                    \
    EXTERN template class mirror<Registry>;                                                                            \
    EXTERN template class mirrored<Registry, node>;                                                                    \
    EXTERN template class mirrored<Registry, node_stat>;                                                               \
    EXTERN template class mirrored<Registry, node_names>;                                                              \
    EXTERN template task<result<std::vector<std::optional<node>>>> read_all(Registry&, std::vector<node_path>)

/// The schedulers with an environment (`detail::job_environment<Registry>`), for strategies, bodies and
/// executors of any type.
#define ELASTICJOB_JOB_SET_INSTANCES(EXTERN, ...)                                                                      \
    EXTERN template class detail::job_set<__VA_ARGS__>;                                                                \
    EXTERN template class job_handle<__VA_ARGS__>

/// The schedulers with default policies and the strategies of elasticjob.hpp. With another strategy, the program
/// compiles the few functions of `job_scheduler` itself.
#define ELASTICJOB_SCHEDULER_INSTANCES(EXTERN, Registry)                                                               \
    ELASTICJOB_JOB_SET_INSTANCES(EXTERN, detail::job_environment<Registry>);                                           \
    ELASTICJOB_DETAIL_SCHEDULER_INSTANCE(EXTERN, Registry, AverageAllocation);                                         \
    ELASTICJOB_DETAIL_SCHEDULER_INSTANCE(EXTERN, Registry, OdevitySortByName);                                         \
    ELASTICJOB_DETAIL_SCHEDULER_INSTANCE(EXTERN, Registry, RotateServerByName)
#define ELASTICJOB_DETAIL_SCHEDULER_INSTANCE(EXTERN, Registry, Strategy)                                               \
    EXTERN template class job_scheduler<Registry, Strategy, SimpleExecutor>

#if defined(ELASTICJOB_COMPILED)
namespace elasticjob {
template <>
inline constexpr bool detail::is_in_library<detail::job_environment<MemoryRegistry>> = true;
ELASTICJOB_TREE_INSTANCES(extern, MemoryRegistry);
ELASTICJOB_SCHEDULER_INSTANCES(extern, MemoryRegistry);
} // namespace elasticjob

#if defined(ELASTICJOB_REGISTRY_ZK_REGISTRY_HPP)
#include <elasticjob/scheduler/zk_instances.hpp>
#endif
#endif

#endif // ELASTICJOB_SCHEDULER_INSTANCES_HPP
