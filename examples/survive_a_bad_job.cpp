// SPDX-License-Identifier: Apache-2.0
// What happens when a job fails?
//
// All others are unaffected: an exception or error from the run of one item is reported, the other items and jobs
// continue, and the item runs again when it is next due.
#include <elasticjob/elasticjob.hpp>

#include <chrono>
#include <cstdio>
#include <semaphore>
#include <stdexcept>

using namespace elasticjob;

// LogEvents, the default, writes failures to standard error. This sink also counts them.
struct count_runs {
    std::counting_semaphore<>& good;
    std::counting_semaphore<>& bad;

    template <class E>
    void operator()(E const&) const {} // not used here

    void operator()(events::item_finished const& e) const {
        std::printf("item %u: %s\n", e.item, e.failure ? to_string(*e.failure).c_str() : "fine");
        (e.failure ? bad : good).release();
    }
};

int main() {
    MemoryRegistry registry;
    std::counting_semaphore<> good{0}, bad{0};
    job_scheduler<MemoryRegistry, AverageAllocation, SimpleExecutor, count_runs> scheduler{
        registry, {}, count_runs{good, bad}};

    auto import = scheduler.schedule({.name = "import", .cron = "0/1 * * * * ?", .sharding_total_count = 4},
                                     [](sharding_context const& shard) -> result<void> {
                                         if (shard.item == 1) throw std::runtime_error{"the file is not there"};
                                         if (shard.item == 2) return error{errc::job_failed, "12 lines are malformed"};
                                         return success();
                                     });
    if (!import) {
        std::fprintf(stderr, "%s\n", to_string(import.error()).c_str());
        return 1;
    }

    // The bad items fail again and again, and the good ones still run.
    for (int n = 0; n < 4; ++n) {
        if (!bad.try_acquire_for(std::chrono::seconds{10})) return 1;
        if (!good.try_acquire_for(std::chrono::seconds{10})) return 1;
    }
}
