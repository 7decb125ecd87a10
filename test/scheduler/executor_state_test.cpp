// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/scheduler/job_catalog.hpp>

#include <elasticjob/allocation/average.hpp>
#include <elasticjob/execution/simple_executor.hpp>
#include <elasticjob/operations/add_job.hpp>
#include <elasticjob/registry/memory_registry.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <semaphore>
#include <string>
#include <type_traits>
#include <utility>

using namespace elasticjob;
using namespace std::chrono_literals;

namespace {

/// Counts its calls in a place that the program gives it.
class Counting {
public:
    static constexpr job_type type = job_type::simple;

    explicit Counting(std::atomic<int>& calls) : calls_{&calls} {}

    template <simple_body Body>
    result<void> operator()(Body& body, sharding_context const& ctx) const {
        ++*calls_;
        return SimpleExecutor{}(body, ctx);
    }

private:
    std::atomic<int>* calls_;
};
static_assert(executor<Counting>);

using counting_scheduler = job_scheduler<MemoryRegistry, AverageAllocation, Counting>;
using counting_scheduler_with_policy = job_scheduler<MemoryRegistry, AverageAllocation, Counting, UtcZone>;
static_assert(!std::is_constructible_v<counting_scheduler, MemoryRegistry&>); // it has nothing to count with
static_assert(
    std::is_constructible_v<counting_scheduler_with_policy, MemoryRegistry&, scheduler_options, Counting, UtcZone>);

constexpr char const* never = "0 0 0 1 1 ? 2099";

} // namespace

TEST_CASE("scheduler.job_scheduler: an executor has the state that the program gave it, for all jobs") {
    std::atomic<int> calls = 0;
    MemoryRegistry registry;
    counting_scheduler scheduler{registry, {}, Counting{calls}};
    std::counting_semaphore<> ran{0};
    auto const body = [&] { ran.release(); };
    auto one = scheduler.schedule({.name = "one", .cron = never, .sharding_total_count = 3}, body);
    auto two = scheduler.schedule({.name = "two", .cron = never, .sharding_total_count = 2}, body);
    REQUIRE(one);
    REQUIRE(two);
    REQUIRE(one->trigger());
    REQUIRE(two->trigger());
    for (int i = 0; i < 5; ++i) REQUIRE(ran.try_acquire_for(30s));
    CHECK(calls == 5);
}

TEST_CASE("scheduler.job_catalog: jobs that the catalog adds run with the scheduler's executor") {
    std::atomic<int> calls = 0;
    MemoryRegistry registry;
    counting_scheduler scheduler{registry, {}, Counting{calls}};
    job_catalog catalog{scheduler};
    std::counting_semaphore<> ran{0};
    REQUIRE(catalog.add("elasticjob.Job", [&](job_config const&) { return [&] { ran.release(); }; }));
    REQUIRE(catalog.follow());
    REQUIRE(add_job(registry, {.name = "settle", .cron = "* * * * * ?"}));
    REQUIRE(ran.try_acquire_for(30s));
    CHECK(calls >= 1);
}
