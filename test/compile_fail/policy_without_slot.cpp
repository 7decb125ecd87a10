// expect: a policy fits no slot of the scheduler
// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/allocation/average.hpp>
#include <elasticjob/execution/simple_executor.hpp>
#include <elasticjob/registry/memory_registry.hpp>
#include <elasticjob/scheduler/job_scheduler.hpp>

using namespace elasticjob;

#ifdef BAD
struct Colour {};
#else
using Colour = UtcZone;
#endif

using scheduler = job_scheduler<MemoryRegistry, AverageAllocation, SimpleExecutor, Colour>;

int main() { return static_cast<int>(sizeof(scheduler)) == 0; }
