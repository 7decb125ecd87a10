// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/execution/dead_man_timer.hpp>
#include <elasticjob/scheduler/policies.hpp>

#include <doctest/doctest.h>

#include <concepts>

using namespace elasticjob;
using namespace elasticjob::detail;

namespace {

struct counting_pool {
    int taken = 0;
    bool try_submit(work&) { return ++taken < 2; }
};

static_assert(std::same_as<policy_for<pool_slot>, ThreadPool>);
static_assert(std::same_as<policy_for<sink_slot>, LogEvents>);
static_assert(std::same_as<policy_for<zone_slot>, SystemZone>);
static_assert(std::same_as<policy_for<guard_slot>, NoDeadManTimer>);

// In any order.
static_assert(std::same_as<policy_for<guard_slot, UtcZone, DeadManTimer, NoEvents>, DeadManTimer>);
static_assert(std::same_as<policy_for<pool_slot, UtcZone, NoEvents, counting_pool>, counting_pool>);
static_assert(std::same_as<policy_for<sink_slot, UtcZone, NoEvents, counting_pool>, NoEvents>);
static_assert(std::same_as<policy_for<zone_slot, counting_pool, NoEvents, UtcZone>, UtcZone>);

static_assert(fits_a_slot<SharedPool<counting_pool>> && fits_a_slot<FixedOffset>);
static_assert(!fits_a_slot<int>);

} // namespace

TEST_CASE("scheduler.policies: a shared pool passes work on, and refuses it when the pool behind it refuses") {
    counting_pool pool;
    SharedPool<counting_pool> a{pool}, b{pool};
    work w{[](work&, work_action) {}};
    CHECK(a.try_submit(w));
    CHECK_FALSE(b.try_submit(w));
    CHECK(pool.taken == 2);
}
