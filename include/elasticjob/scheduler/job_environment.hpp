// SPDX-License-Identifier: Apache-2.0
/// \file \brief What the jobs of a scheduler share.
#ifndef ELASTICJOB_SCHEDULER_JOB_ENVIRONMENT_HPP
#define ELASTICJOB_SCHEDULER_JOB_ENVIRONMENT_HPP

#include <elasticjob/core/random.hpp>
#include <elasticjob/core/worker_pool.hpp>
#include <elasticjob/cron/time_zone.hpp>
#include <elasticjob/events/event_sink.hpp>
#include <elasticjob/execution/lease.hpp>
#include <elasticjob/registry/joint_commits.hpp>
#include <elasticjob/registry/registry.hpp>
#include <elasticjob/scheduler/options.hpp>

namespace elasticjob::detail {

template <registry Registry, worker_pool Pool, event_sink Sink, time_zone Zone, lease_guard Guard, class Hooks,
          class Handlers>
struct job_environment {
    using registry_type = Registry;
    using loop_type = typename Registry::loop_type;
    using zone_type = Zone;
    using lease_type = session_lease<Registry, Guard>;
    using listeners_type = Hooks;         ///< Listeners<...>
    using error_handlers_type = Handlers; ///< ErrorHandlers<...>

    Registry& registry;
    joint_commits<Registry>& commits; ///< for the starts and ends of runs
    Pool& pool;
    Sink& sink;
    Zone const& zone;
    random_source& random;
    scheduler_options const& options;
    lease_type& lease;
    Hooks& listeners;
    Handlers& error_handlers;
};

} // namespace elasticjob::detail
#endif // ELASTICJOB_SCHEDULER_JOB_ENVIRONMENT_HPP
