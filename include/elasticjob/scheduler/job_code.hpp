// SPDX-License-Identifier: Apache-2.0
/// \file \brief The code of jobs, behind the interface of `job_scheduler`. In the header-only form job_scheduler.hpp
/// includes it. The compiled library contains it for MemoryRegistry and ZkRegistry, so a program includes it only for a
/// scheduler with another registry. Without it such a scheduler does not compile, and the error names this header.
#ifndef ELASTICJOB_SCHEDULER_JOB_CODE_HPP
#define ELASTICJOB_SCHEDULER_JOB_CODE_HPP

#include <elasticjob/scheduler/job.hpp>
#include <elasticjob/scheduler/job_scheduler.hpp>

#include <elasticjob/impl/scheduler/job_handle.ipp>
#include <elasticjob/impl/scheduler/job_set.ipp>

namespace elasticjob::detail {

template <class Environment>
struct job_code {}; // complete where this header is included: job_scheduler.hpp looks for it

} // namespace elasticjob::detail

// EXTERN is `extern` in a declaration and empty in the definition. Both stand in namespace elasticjob.

/// The parts of jobs. Schedulers with any policies use them.
#define ELASTICJOB_REGISTRY_INSTANCES(EXTERN, Registry)                                                                \
    EXTERN template class job_view<Registry>;                                                                          \
    EXTERN template class elector<Registry>;                                                                           \
    EXTERN template class joint_commits<Registry>;                                                                     \
    EXTERN template class resharder<Registry>;                                                                         \
    EXTERN template class run_book<Registry>;                                                                          \
    EXTERN template class session_lease<Registry, detail::guard_ref>;                                                  \
    EXTERN template class traits_view<Registry>;                                                                       \
    EXTERN template task<result<void>> leave(Registry&, job_layout, instance_id, session_generation, mono_time, bool,  \
                                             bool);                                                                    \
    EXTERN template task<result<detail::found_nodes>> detail::find_nodes(                                              \
        Registry&, job_layout, std::vector<node_path>, std::vector<node_path>, detail::enroll_look);                   \
    EXTERN template task<result<bool>> is_overruled(Registry&, job_layout);                                            \
    EXTERN template task<result<item_claim>> claim_items(Registry&, job_view<Registry>&, job_layout, instance_id,      \
                                                         std::uint32_t, mono_time, bool);                              \
    EXTERN template task<result<detail::unattended>> detail::find_interrupted(Registry&, job_view<Registry> const&,    \
                                                                              job_layout, instance_id, std::uint32_t); \
    EXTERN template task<result<std::vector<detail::item_writes>>> detail::make_up_for_dead_java(                      \
        Registry&, job_view<Registry> const&, job_layout, wall_time);                                                  \
    EXTERN template task<result<std::vector<chain_link>>> read_job_chain(Registry&, std::string, std::string);         \
    EXTERN template task<result<std::chrono::milliseconds>> clock_difference(Registry&, job_layout)

/// The jobs of schedulers with an environment (`detail::job_environment<Registry>`). Other templates are
/// instantiated with these.
#define ELASTICJOB_JOB_INSTANCES(EXTERN, ...)                                                                          \
    EXTERN template class detail::item_runs<__VA_ARGS__>;                                                              \
    EXTERN template class detail::job<__VA_ARGS__>

#if defined(ELASTICJOB_COMPILED)
namespace elasticjob {
ELASTICJOB_REGISTRY_INSTANCES(extern, MemoryRegistry);
ELASTICJOB_JOB_INSTANCES(extern, detail::job_environment<MemoryRegistry>);
} // namespace elasticjob

#if defined(ELASTICJOB_REGISTRY_ZK_REGISTRY_HPP)
#include <elasticjob/scheduler/zk_job_code.hpp>
#endif
#endif

#endif // ELASTICJOB_SCHEDULER_JOB_CODE_HPP
