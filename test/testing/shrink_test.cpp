// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/testing/shrink.hpp>

#include <doctest/doctest.h>

#include <algorithm>

using namespace elasticjob::testing;
using namespace std::chrono_literals;

namespace {

bool has(fault_plan const& plan, fault const& f) { return std::find(plan.begin(), plan.end(), f) != plan.end(); }

} // namespace

TEST_CASE("testing.shrink: keeps only the necessary faults") {
    auto const plan = make_fault_plan(1, 10min, {5, 3, 9});
    REQUIRE(plan.size() > 100);
    for (std::size_t first : {std::size_t{0}, std::size_t{17}, plan.size() - 2}) {
        auto const &one = plan[first], &other = plan[plan.size() - 1];
        auto const found = shrink(plan, [&](fault_plan const& p) { return has(p, one) && has(p, other); });
        CHECK(found.plan == fault_plan{one, other});
        CHECK(found.is_minimal);
        CHECK(found.tries < 100);
    }
}

TEST_CASE("testing.shrink: keeps no fault if the failure needs none") {
    auto const plan = make_fault_plan(1, 10min, {5, 3, 9});
    auto const found = shrink(plan, [](fault_plan const&) { return true; });
    CHECK(found.plan.empty());
    CHECK(found.tries == 1);
}

TEST_CASE("testing.shrink: keeps every fault if every one is needed") {
    auto plan = make_fault_plan(1, 1min, {5, 3, 9});
    auto const found = shrink(plan, [&](fault_plan const& p) { return p == plan; });
    CHECK(found.plan == plan);
    CHECK(found.is_minimal);
}

TEST_CASE("testing.shrink: its work is bounded") {
    auto const plan = make_fault_plan(1, 10min, {5, 3, 9});
    auto const found =
        shrink(plan, [&](fault_plan const& p) { return has(p, plan[3]) && has(p, plan[90]); }, {.tries = 5});
    CHECK(found.tries == 5);
    CHECK(!found.is_minimal);
    CHECK(has(found.plan, plan[3]));
    CHECK(has(found.plan, plan[90]));
    CHECK(shrink(plan, [](fault_plan const&) { return true; }, {.time = 0ms}).tries == 0);
}
