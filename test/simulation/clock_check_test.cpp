// SPDX-License-Identifier: Apache-2.0
// The time check (CF-4): the reaction of an instance whose clock is further from the registry's than the job allows
// (D-21).
#include <elasticjob/testing/simulation.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <utility>

using namespace elasticjob;
using namespace elasticjob::testing;
using namespace std::chrono_literals;

namespace {

using kind = observation::kind;

/// Two nodes of one job; the clock of the first is put forward or back.
struct two_clocks {
    explicit two_clocks(clock_rule rule, int max_seconds = 5) {
        job_config c;
        c.name = "a";
        c.cron = "0/10 * * * * ?";
        c.sharding_total_count = 4;
        c.max_time_diff_seconds = max_seconds;
        c.on_wrong_clock = rule;
        s.add_job(std::move(c), [](sharding_context const&) { return simulated_run{.duration = 1s}; });
        s.add_nodes(2);
        s.start_all();
        s.run_for(25s);
    }
    ~two_clocks() { CHECK_MESSAGE(s.violations().empty(), s.transcript()); }

    void move_clock(std::chrono::milliseconds span) { s.inject({.what = fault_kind::clock_jump, .span = span}); }

    std::size_t count(kind k, std::uint32_t node) const {
        std::size_t n = 0;
        for (auto const& o : s.view().log) n += o.what == k && o.node == node;
        return n;
    }
    std::size_t complaints(std::uint32_t node) const {
        std::size_t n = 0;
        for (auto const& o : s.view().log)
            n += o.what == kind::trouble && o.node == node && *o.failure == errc::clock_differs;
        return n;
    }
    std::size_t runs(std::uint32_t node) const { return count(kind::started, node); }

    simulation<> s{1};
};

} // namespace

TEST_CASE("time check: an instance whose clock is wrong runs nothing until it is right") {
    for (auto const span : {20'000ms, -20'000ms}) {
        CAPTURE(span.count());
        two_clocks t{clock_rule::skip};
        auto const before = t.runs(0);
        CHECK(before == 4);
        t.move_clock(span);
        t.s.run_for(60s);
        CHECK(t.runs(0) == before);
        CHECK(t.complaints(0) == 1); // once, not at each firing
        CHECK(t.count(kind::skipped, 0) >= 2);
        CHECK(t.runs(1) == 2 * 8); // the other instance has not noticed

        t.move_clock(-span);
        t.s.run_for(30s);
        CHECK(t.runs(0) >= before + 4);
    }
}

TEST_CASE("time check: a difference within the limit is ignored, and a negative limit switches the check off") {
    two_clocks within{clock_rule::skip};
    within.move_clock(4s);
    within.s.run_for(30s);
    CHECK(within.runs(0) == 4 + 6);
    CHECK(within.count(kind::trouble, 0) == 0);

    two_clocks unchecked{clock_rule::skip, -1};
    unchecked.move_clock(20s);
    unchecked.s.run_for(30s);
    CHECK(unchecked.count(kind::trouble, 0) == 0);
    CHECK(!unchecked.s.server().tree().find(unchecked.s.layout(0).clock_probe()));
}

TEST_CASE("time check: under the rule `report` the items run all the same") {
    two_clocks t{clock_rule::report};
    t.move_clock(20s);
    t.s.run_for(30s);
    CHECK(t.runs(0) >= 4 + 6);
    CHECK(t.complaints(0) == 1);
}

TEST_CASE("time check: an instance that stands down leaves its items to the others, including the due ones") {
    two_clocks t{clock_rule::stand_down};
    t.move_clock(7s); // it finds the next instant due before the other one does
    t.s.run_for(20s);
    CHECK(t.runs(0) == 4);
    CHECK(t.complaints(0) == 1);
    CHECK(t.count(kind::left, 0) == 1);
    t.s.run_for(10s);
    CHECK(t.runs(0) + t.runs(1) == 4 * 5); // 10, 20, 30, 40 and 50 seconds past: none twice, none missed
}

TEST_CASE("time check: a registry that does not answer decides nothing, and the runs follow when it answers") {
    two_clocks t{clock_rule::skip};
    t.s.run_for(4s);
    t.s.inject({.what = fault_kind::deafness, .span = 3s});
    t.s.run_for(15s);
    CHECK(t.runs(0) == 4 + 4);
    CHECK(t.complaints(0) == 0);
}
