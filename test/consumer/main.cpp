// SPDX-License-Identifier: Apache-2.0
// What a user of the installed library writes first. It must run without a server.
#include <elasticjob/elasticjob.hpp>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <semaphore>
#include <string>

using namespace elasticjob;

/// A job on the embedded registry runs each of its items, and leaves in order.
bool runs_a_job() {
    MemoryRegistry registry;
    std::atomic<unsigned> items_seen{0};
    std::counting_semaphore<> runs{0};
    job_scheduler<MemoryRegistry, AverageAllocation, SimpleExecutor> scheduler{registry};
    auto job = scheduler.schedule({.name = "consumer",
                                   .cron = "0/1 * * * * ?",
                                   .sharding_total_count = 3,
                                   .sharding_item_parameters = "0=a,1=b,2=c"},
                                  [&](sharding_context const& shard) -> result<void> {
                                      if (shard.parameter == std::string(1, static_cast<char>('a' + shard.item)))
                                          items_seen |= 1U << shard.item;
                                      runs.release();
                                      return success();
                                  });
    if (!job) {
        std::printf("%s\n", to_string(job.error()).c_str());
        return false;
    }
    for (int n = 0; n < 3; ++n)
        if (!runs.try_acquire_for(std::chrono::seconds{20})) return false;
    return job->shutdown().has_value() && items_seen == 7;
}

#ifdef CONSUMER_USES_ZOOKEEPER
/// Everything that a job needs of ZooKeeper is compiled and linked; that nobody answers is an error, in time.
bool misses_the_server() {
    auto registry = ZkRegistry::connect(
        {.servers = "127.0.0.1:1", .name_space = "consumer", .connection_timeout = std::chrono::milliseconds{500}});
    if (registry) {
        job_scheduler<ZkRegistry, AverageAllocation, SimpleExecutor> scheduler{*registry};
        auto const job = scheduler.schedule({.name = "consumer", .cron = "0/1 * * * * ?"}, [] {});
        std::printf("somebody answered at port 1, and the job %s\n", job ? "was scheduled" : "was not scheduled");
        return false;
    }
    std::printf("%s\n", to_string(registry.error()).c_str());
    return registry.error() == errc::unreachable;
}
#else
bool misses_the_server() { return true; }
#endif

int main() {
    std::printf("elasticjob %d.%d.%d\n", ELASTICJOB_VERSION_MAJOR, ELASTICJOB_VERSION_MINOR, ELASTICJOB_VERSION_PATCH);
    return runs_a_job() && misses_the_server() ? 0 : 1;
}
