// SPDX-License-Identifier: Apache-2.0
/// \file \brief What the jobs of a scheduler share.
#ifndef ELASTICJOB_SCHEDULER_JOB_ENVIRONMENT_HPP
#define ELASTICJOB_SCHEDULER_JOB_ENVIRONMENT_HPP

#include <elasticjob/core/pool_ref.hpp>
#include <elasticjob/core/random.hpp>
#include <elasticjob/cron/zone_ref.hpp>
#include <elasticjob/events/sink_ref.hpp>
#include <elasticjob/execution/lease.hpp>
#include <elasticjob/registry/joint_commits.hpp>
#include <elasticjob/registry/registry.hpp>
#include <elasticjob/scheduler/options.hpp>
#include <elasticjob/sharding/strategy_ref.hpp>

namespace elasticjob::detail {

/// The pool, the sink, the zone and the strategy may have any type, so all schedulers of one registry share the code of
/// their jobs, unless they have a guard, listeners or error handlers.
template <registry Registry, lease_guard Guard, class Hooks, class Handlers>
struct job_environment {
    using registry_type = Registry;
    using loop_type = typename Registry::loop_type;
    using guard_type = Guard;
    using lease_type = session_lease<Registry, Guard>;
    using listeners_type = Hooks;         ///< Listeners<...>
    using error_handlers_type = Handlers; ///< ErrorHandlers<...>

    Registry& registry;
    joint_commits<Registry>& commits; ///< for the starts and ends of runs
    pool_ref pool;
    sink_ref sink;
    zone_ref zone;
    strategy_ref strategy;
    random_source& random;
    scheduler_options const& options;
    lease_type& lease;
    Hooks& listeners;
    Handlers& error_handlers;
};

} // namespace elasticjob::detail
#endif // ELASTICJOB_SCHEDULER_JOB_ENVIRONMENT_HPP
