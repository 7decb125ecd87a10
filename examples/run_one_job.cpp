// SPDX-License-Identifier: Apache-2.0
// How do I run a job?
//
// With a registry, a scheduler and a body. This job has three items and fires every second.
#include <elasticjob/elasticjob.hpp>

#include <chrono>
#include <cstdio>
#include <semaphore>

using namespace elasticjob;

int main() {
    MemoryRegistry registry; // inside this process; ZkRegistry shares the job with others
    std::counting_semaphore<> runs{0};
    job_scheduler<MemoryRegistry, AverageAllocation, SimpleExecutor> scheduler{registry};

    auto settle = scheduler.schedule({.name = "settle",
                                      .cron = "0/1 * * * * ?",
                                      .sharding_total_count = 3,
                                      .sharding_item_parameters = "0=Beijing,1=Shanghai,2=Guangzhou"},
                                     [&](sharding_context const& shard) {
                                         std::printf("item %u settles %s\n", shard.item, shard.parameter.c_str());
                                         runs.release();
                                     });
    if (!settle) {
        std::fprintf(stderr, "%s\n", to_string(settle.error()).c_str());
        return 1;
    }

    for (int n = 0; n < 9; ++n)
        if (!runs.try_acquire_for(std::chrono::seconds{10})) return 1;
} // the job leaves in order: runs in progress finish, and no new run starts
