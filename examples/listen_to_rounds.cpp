// SPDX-License-Identifier: Apache-2.0
// How do I do something once before all items of a job run, and once after they have run?
//
// With a listener: a type with one or more hooks (<elasticjob/execution/listeners.hpp>). Two of them belong to a round,
// which has all items for one due instant: each is called once, on one instance of the whole cluster. Other hooks
// belong to the run of an item, or to the runs that an instance begins together.
#include <elasticjob/elasticjob.hpp>

#include <chrono>
#include <cstdio>
#include <semaphore>

using namespace elasticjob;

struct day_book {
    std::counting_semaphore<>& rounds;

    void before_round(job_round const& r) const { std::printf("%s: the book is opened\n", r.job.c_str()); }
    void after_round(job_round const& r) const {
        std::printf("%s: the book is closed, after %u items\n", r.job.c_str(), r.items);
        rounds.release();
    }

    // On the instance that runs the item.
    void after(sharding_context const& ctx, result<void> const& outcome) const {
        std::printf("  item %u: %s\n", ctx.item, outcome ? "settled" : to_string(outcome.error()).c_str());
    }
};
static_assert(job_listener<day_book>);

int main() {
    MemoryRegistry registry;
    std::counting_semaphore<> rounds{0};
    // `Listeners<A, B>` has several. A hook that fails is reported, and the job continues.
    job_scheduler<MemoryRegistry, AverageAllocation, SimpleExecutor, Listeners<day_book>> scheduler{
        registry, {}, Listeners{day_book{rounds}}};

    auto settle = scheduler.schedule({.name = "settle", .cron = "0/1 * * * * ?", .sharding_total_count = 3}, [] {});
    if (!settle) {
        std::fprintf(stderr, "%s\n", to_string(settle.error()).c_str());
        return 1;
    }
    for (int n = 0; n < 2; ++n)
        if (!rounds.try_acquire_for(std::chrono::seconds{30})) return 1;
}
