// SPDX-License-Identifier: Apache-2.0
/// \file \brief What the jobs of a scheduler share.
#ifndef ELASTICJOB_SCHEDULER_JOB_ENVIRONMENT_HPP
#define ELASTICJOB_SCHEDULER_JOB_ENVIRONMENT_HPP

#include <elasticjob/core/pool_ref.hpp>
#include <elasticjob/core/random.hpp>
#include <elasticjob/cron/zone_ref.hpp>
#include <elasticjob/events/sink_ref.hpp>
#include <elasticjob/execution/error_handlers_ref.hpp>
#include <elasticjob/execution/guard_ref.hpp>
#include <elasticjob/execution/lease.hpp>
#include <elasticjob/execution/listeners_ref.hpp>
#include <elasticjob/membership/new_job_guess.hpp>
#include <elasticjob/registry/joint_commits.hpp>
#include <elasticjob/registry/registry.hpp>
#include <elasticjob/scheduler/options.hpp>
#include <elasticjob/sharding/strategy_ref.hpp>

namespace elasticjob::detail {

/// All policies but the registry may have any type, so all schedulers of one registry share the code of their jobs.
template <class Registry>
struct job_environment {
    static_assert(elasticjob::registry<Registry>);

    using registry_type = Registry;
    using loop_type = typename Registry::loop_type;
    using lease_type = session_lease<Registry, guard_ref>;

    Registry& registry;
    joint_commits<Registry>& commits;    ///< for the starts and ends of runs
    joint_commits<Registry>& beginnings; ///< for joining, and for the first records
    new_job_guess& new_jobs;
    pool_ref pool;
    sink_ref sink;
    zone_ref zone;
    strategy_ref strategy;
    random_source& random;
    scheduler_options const& options;
    lease_type& lease;
    listeners_ref listeners;
    error_handlers_ref error_handlers;
};

} // namespace elasticjob::detail
#endif // ELASTICJOB_SCHEDULER_JOB_ENVIRONMENT_HPP
