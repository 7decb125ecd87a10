// SPDX-License-Identifier: Apache-2.0
// How do I observe a job?
//
// With an event sink: a type that can be called with each record of <elasticjob/events/event.hpp>. It is one of the
// scheduler's optional policies. It is called on the loop, so it must be quick, and it keeps no reference to a record.
#include <elasticjob/elasticjob.hpp>

#include <chrono>
#include <cstdio>
#include <semaphore>

using namespace elasticjob;

struct tell_everything {
    std::counting_semaphore<>& runs;

    void operator()(events::joined const& e) const { std::printf("joined as %s\n", e.from.instance.str().c_str()); }
    void operator()(events::left const&) const { std::printf("left\n"); }
    void operator()(events::leadership_changed const& e) const { std::printf(e.leads ? "leads\n" : "leads no more\n"); }
    void operator()(events::resharded const& e) const {
        std::printf("sharding %llu: %u items over %u instances, %u moved\n", static_cast<unsigned long long>(e.epoch),
                    e.items, e.instances, e.moved);
    }
    void operator()(events::share_changed const& e) const { std::printf("owns %zu items\n", e.items.size()); }
    void operator()(events::item_started const& e) const { std::printf("  item %u starts\n", e.item); }
    void operator()(events::item_finished const& e) const {
        auto const took = std::chrono::duration_cast<std::chrono::microseconds>(e.took);
        std::printf("  item %u %s after %lld us\n", e.item, e.failure ? "failed" : "succeeded",
                    static_cast<long long>(took.count()));
        runs.release();
    }
    void operator()(events::item_fenced const& e) const { std::printf("  item %u was taken over\n", e.item); }
    void operator()(events::item_misfired const& e) const {
        std::printf("  item %u is due while it runs: it will be made up for\n", e.item);
    }
    void operator()(events::item_skipped const& e) const {
        std::printf("  item %u is skipped: %s\n", e.item, name_of(e.why).data());
    }
    void operator()(events::trouble const& e) const { std::printf("trouble: %s\n", to_string(e.what).c_str()); }
};
// If an overload is missing, this line reports it. A sink for only a few events adds a catch-all:
// template <class E> void operator()(E const&) const {}
static_assert(event_sink<tell_everything>);

int main() {
    MemoryRegistry registry;
    std::counting_semaphore<> runs{0};
    job_scheduler<MemoryRegistry, AverageAllocation, SimpleExecutor, tell_everything> scheduler{
        registry, {}, tell_everything{runs}};

    // A body may also omit the context.
    auto greet = scheduler.schedule({.name = "greet", .cron = "0/1 * * * * ?", .sharding_total_count = 2}, [] {});
    if (!greet) {
        std::fprintf(stderr, "%s\n", to_string(greet.error()).c_str());
        return 1;
    }
    for (int n = 0; n < 4; ++n)
        if (!runs.try_acquire_for(std::chrono::seconds{10})) return 1;

    // A job can also run without the clock.
    if (auto const ordered = greet->trigger(); !ordered) return 1;
    for (int n = 0; n < 2; ++n)
        if (!runs.try_acquire_for(std::chrono::seconds{10})) return 1;
}
