// expect: job_config.* has no non-static data member named .*sharding_count|field designator .*sharding_count.* does not refer to any field in type .*job_config
// SPDX-License-Identifier: Apache-2.0
// Compilers name the field where the type stands before the braces.
#include <elasticjob/allocation/average.hpp>
#include <elasticjob/execution/simple_executor.hpp>
#include <elasticjob/registry/memory_registry.hpp>
#include <elasticjob/scheduler/job_scheduler.hpp>

using namespace elasticjob;
using scheduler = job_scheduler<MemoryRegistry, AverageAllocation, SimpleExecutor>;

bool start(scheduler& s) {
#ifdef BAD
    return s.schedule(job_config{.name = "settle", .cron = "@daily", .sharding_count = 3}, [] {}).has_value();
#else
    return s.schedule(job_config{.name = "settle", .cron = "@daily", .sharding_total_count = 3}, [] {}).has_value();
#endif
}
