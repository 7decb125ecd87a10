// SPDX-License-Identifier: Apache-2.0
// Compiled by check_vtables.sh, which then looks into the object file: whatever a user gets by scheduling jobs is here.
#include <elasticjob/elasticjob.hpp>

using namespace elasticjob;

#ifdef PLANTED
namespace elasticjob {
struct planted {
    virtual ~planted() = default;
};
planted instance_of_planted;
} // namespace elasticjob
#endif

/// Everything that a handle can do, for bodies of two types in one scheduler.
template <registry Registry>
bool use_everything(Registry& r) {
    job_scheduler<Registry, AverageAllocation, SimpleExecutor> scheduler{r};
    auto job = scheduler.schedule({.name = "probe", .cron = "0/5 * * * * ?", .sharding_total_count = 3},
                                  [](sharding_context const&) -> result<void> { return success(); });
    auto other = scheduler.schedule({.name = "other", .cron = "0/5 * * * * ?"}, [] {});
    if (!job || !other) return false;
    return job->trigger() && job->disable() && job->enable() && job->wait_idle() && job->shutdown();
}

/// Another strategy, and the optional policies, given instead of chosen by default.
template <registry Registry>
bool use_policies(Registry& r) {
    ThreadPool pool;
    job_scheduler<Registry, RotateServerByName, SimpleExecutor, UtcZone, SharedPool<ThreadPool>, NoEvents> scheduler{
        r, {}, UtcZone{}, SharedPool{pool}, NoEvents{}};
    return scheduler.schedule({.name = "probe", .cron = "0/5 * * * * ?"}, [] {}).has_value();
}

int main() {
    MemoryRegistry memory;
    bool is_good = use_everything(memory) && use_policies(memory);
#ifdef ELASTICJOB_HAS_ZOOKEEPER
    auto zookeeper = ZkRegistry::connect({.servers = "127.0.0.1:2181"});
    is_good = is_good && zookeeper && use_everything(*zookeeper);
#endif
    return is_good ? 0 : 1;
}
