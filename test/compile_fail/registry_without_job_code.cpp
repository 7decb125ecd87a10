// expect: ErrorHandlers: include <elasticjob/scheduler/job_code.hpp>
// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/elasticjob.hpp>
#ifndef BAD
#include <elasticjob/scheduler/job_code.hpp>
#endif

using namespace elasticjob;

struct listener {
    void before_batch(run_batch const&) {}
};

int main() {
    MemoryRegistry registry;
    job_scheduler<MemoryRegistry, AverageAllocation, SimpleExecutor, Listeners<listener>> scheduler{
        registry, {}, Listeners{listener{}}};
}
