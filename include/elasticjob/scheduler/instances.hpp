// SPDX-License-Identifier: Apache-2.0
/// \file \brief The templates that the compiled library contains, so that a program does not compile them again.
#ifndef ELASTICJOB_SCHEDULER_INSTANCES_HPP
#define ELASTICJOB_SCHEDULER_INSTANCES_HPP

#include <elasticjob/allocation/average.hpp>
#include <elasticjob/allocation/label.hpp>
#include <elasticjob/allocation/odevity.hpp>
#include <elasticjob/allocation/rendezvous.hpp>
#include <elasticjob/allocation/rotate.hpp>
#include <elasticjob/allocation/round_robin_by_name.hpp>
#include <elasticjob/allocation/spread.hpp>
#include <elasticjob/allocation/sticky.hpp>
#include <elasticjob/allocation/weighted.hpp>
#include <elasticjob/cron/system_zone.hpp>
#include <elasticjob/execution/simple_executor.hpp>
#include <elasticjob/registry/memory_registry.hpp>
#include <elasticjob/scheduler/job.hpp>
#include <elasticjob/scheduler/job_scheduler.hpp>
#include <elasticjob/scheduler/policies.hpp>

// EXTERN is `extern` in a declaration and empty in the definition. Both stand in namespace elasticjob.

/// The templates that depend only on the registry. Schedulers with any policies use them.
#define ELASTICJOB_REGISTRY_INSTANCES(EXTERN, Registry)                                                                \
    EXTERN template class mirror<Registry>;                                                                            \
    EXTERN template class mirrored_node<Registry>;                                                                     \
    EXTERN template class job_view<Registry>;                                                                          \
    EXTERN template class elector<Registry>;                                                                           \
    EXTERN template class joint_commits<Registry>;                                                                     \
    EXTERN template class resharder<Registry>;                                                                         \
    EXTERN template class run_book<Registry>;                                                                          \
    EXTERN template class session_lease<Registry, NoDeadManTimer>;                                                     \
    EXTERN template class traits_view<Registry>;                                                                       \
    EXTERN template task<result<void>> leave(Registry&, job_layout, instance_id, session_generation, mono_time, bool,  \
                                             bool);                                                                    \
    EXTERN template task<result<std::vector<std::optional<node>>>> read_all(Registry&, std::vector<node_path>);        \
    EXTERN template task<result<detail::found_nodes>> detail::find_nodes(                                              \
        Registry&, job_layout, std::vector<node_path>, std::vector<node_path>, detail::enroll_look);                   \
    EXTERN template task<result<bool>> is_overruled(Registry&, job_layout);                                            \
    EXTERN template task<result<item_claim>> claim_items(Registry&, job_view<Registry>&, job_layout, instance_id,      \
                                                         std::uint32_t, mono_time, bool);                              \
    EXTERN template task<result<detail::unattended>> detail::find_interrupted(Registry&, job_view<Registry> const&,    \
                                                                              job_layout, instance_id, std::uint32_t); \
    EXTERN template task<result<std::vector<operation>>> detail::make_up_for_dead_java(                                \
        Registry&, job_view<Registry> const&, job_layout, wall_time);                                                  \
    EXTERN template task<result<std::vector<chain_link>>> read_job_chain(Registry&, std::string, std::string);         \
    EXTERN template task<result<std::chrono::milliseconds>> clock_difference(Registry&, job_layout)

/// The jobs of schedulers with an environment (`detail::environment_for<Registry, Policies...>`), for strategies, bodies
/// and executors of any type.
#define ELASTICJOB_ENVIRONMENT_INSTANCES(EXTERN, ...)                                                                  \
    EXTERN template class detail::item_runs<__VA_ARGS__>;                                                              \
    EXTERN template class detail::job<__VA_ARGS__>;                                                                    \
    EXTERN template class detail::job_set<__VA_ARGS__>;                                                                \
    EXTERN template class job_handle<__VA_ARGS__>

/// The schedulers with default policies and each strategy of the library.
#define ELASTICJOB_SCHEDULER_INSTANCES(EXTERN, Registry)                                                               \
    ELASTICJOB_ENVIRONMENT_INSTANCES(EXTERN, detail::environment_for<Registry>);                                       \
    ELASTICJOB_DETAIL_SCHEDULER_INSTANCE(EXTERN, Registry, AverageAllocation);                                         \
    ELASTICJOB_DETAIL_SCHEDULER_INSTANCE(EXTERN, Registry, OdevitySortByName);                                         \
    ELASTICJOB_DETAIL_SCHEDULER_INSTANCE(EXTERN, Registry, RotateServerByName);                                        \
    ELASTICJOB_DETAIL_SCHEDULER_INSTANCE(EXTERN, Registry, RoundRobinByName);                                          \
    ELASTICJOB_DETAIL_SCHEDULER_INSTANCE(EXTERN, Registry, StickyAllocation);                                          \
    ELASTICJOB_DETAIL_SCHEDULER_INSTANCE(EXTERN, Registry, WeightedAllocation);                                        \
    ELASTICJOB_DETAIL_SCHEDULER_INSTANCE(EXTERN, Registry, RendezvousAllocation);                                      \
    ELASTICJOB_DETAIL_SCHEDULER_INSTANCE(EXTERN, Registry, SpreadAllocation);                                          \
    ELASTICJOB_DETAIL_SCHEDULER_INSTANCE(EXTERN, Registry, LabelAllocation)
#define ELASTICJOB_DETAIL_SCHEDULER_INSTANCE(EXTERN, Registry, Strategy)                                               \
    EXTERN template class job_scheduler<Registry, Strategy, SimpleExecutor>

#if defined(ELASTICJOB_COMPILED)
namespace elasticjob {
extern template class basic_memory_server<event_loop>;
extern template class basic_memory_registry<event_loop>;
ELASTICJOB_REGISTRY_INSTANCES(extern, MemoryRegistry);
ELASTICJOB_SCHEDULER_INSTANCES(extern, MemoryRegistry);
} // namespace elasticjob

#if defined(ELASTICJOB_REGISTRY_ZK_REGISTRY_HPP)
#include <elasticjob/scheduler/zk_instances.hpp>
#endif
#endif

#endif // ELASTICJOB_SCHEDULER_INSTANCES_HPP
