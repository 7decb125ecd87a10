// SPDX-License-Identifier: Apache-2.0
// Defects of ElasticJob-Lite 2.1.5 when instances die or leave. Each is played here, and must not happen.
#include <simulation/small_cluster.hpp>

#include <doctest/doctest.h>

using namespace elasticjob;
using namespace elasticjob::test;
using namespace elasticjob::testing;

namespace {

/// No instance loses an item that it still runs.
struct keeps_items_until_their_end {
    static constexpr std::string_view name = "who leaves keeps its items until their runs have ended";

    std::string on(observation const& o, cluster_view const& v) const {
        if (o.what != kind::body_ended) return {};
        auto const& ids = v.nodes[o.node].instances;
        auto const id = ids.find(o.job);
        auto const owner = v.data(cluster_view::layout(o.job).item_instance(o.item));
        return id != ids.end() && id->second == owner ? "" : "when it ended, the item belonged to '" + owner + "'";
    }
};

} // namespace

TEST_CASE("D-1: exactly the items that were running on a dead instance are run again") {
    small_cluster c{hourly(9), 3};
    c.start_before_the_hour();
    auto const share = c.items_of(0);
    REQUIRE(share.size() == 3);
    c.lasts_for[share[0]] = c.lasts_for[share[2]] = 10min;
    c.run_for(3s); // the one in the middle has ended
    c.crash(0);
    c.lasts_for.clear();
    c.run_for(30s);
    for (item_index i = 0; i < 9; ++i) {
        bool const was_interrupted = i == share[0] || i == share[2];
        auto const runs = c.starts(i);
        CHECK(runs.size() == (was_interrupted ? 2 : 1));
        if (!was_interrupted || runs.size() < 2) continue;
        CHECK(runs[1].text == "failover, attempt 2");
        CHECK(runs[1].due == runs[0].due);
        CHECK(runs[1].node != 0);
        CHECK(c.last_outcome(i) == "completed");
    }
    CHECK(c.count(run_source::failover) == 2);
    CHECK(c.wrong() == "");
}

TEST_CASE("D-1: the death of an idle instance, and an orderly exit, interrupt nothing") {
    small_cluster c{hourly(6), 3};
    c.start_before_the_hour();
    c.run_for(3s);
    CHECK(c.count(kind::started) == 6);
    c.crash(0);
    c.run_for(30s);
    CHECK(c.items_of(1).size() == 3); // the items have an owner again
    c.leave(1);
    c.run_for(30s);
    CHECK(c.items_of(2).size() == 6);
    CHECK(c.count(kind::started) == 6);
    c.run_for(1h);
    CHECK(c.count(kind::started) == 12);
    CHECK(c.count(run_source::failover) == 0);
    CHECK(c.wrong() == "");
}

TEST_CASE("D-1: however many leave at once, no item names any of them, so no Java member takes them for crashed") {
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        CAPTURE(seed);
        small_cluster c{hourly(20), 10, {}, seed};
        c.start();
        auto const java = instance_id::parse("10.0.0.99@-@4711").value();
        c.create(c.at.instance(java), {}, create_mode::ephemeral);
        c.run_for(1s);
        fault_plan all_leave;
        for (std::uint32_t n = 0; n < 10; ++n) all_leave.push_back({.what = fault_kind::leave, .node = n});
        c.s.schedule_faults(all_leave);
        c.run_for(10s);
        CHECK(c.count(kind::left) == 10);
        for (item_index i = 0; i < 20; ++i) {
            CAPTURE(c.owner(i));
            CHECK((c.owner(i) == "" || c.owner(i) == java.str()));
        }
        CHECK(c.wrong() == "");
    }
}

TEST_CASE("D-2: a dead instance's items are run although its server has no other instance") {
    small_cluster c{hourly(2), 2};
    c.start_before_the_hour();
    c.lasts = 10min;
    c.run_for(3s);
    auto const interrupted = c.items_of(0);
    REQUIRE(interrupted.size() == 1);
    c.crash(0);
    c.run_for(15s);
    auto const runs = c.starts(interrupted[0]);
    REQUIRE(runs.size() == 2);
    CHECK(runs[1].node == 1);
    CHECK(runs[1].text == "failover, attempt 2");
    CHECK(c.wrong() == "");
}

TEST_CASE("D-3: all items of a dead instance are run, even when there are more of them than live instances") {
    small_cluster c{hourly(40), 2};
    c.start_before_the_hour();
    c.lasts = 10min;
    c.run_for(3s);
    c.crash(0);
    c.run_for(15s);
    // The survivor is still busy with its own.
    CHECK(c.running() == 40);
    CHECK(c.count(run_source::failover) == 20);
    c.run_for(20min);
    for (item_index i = 0; i < 40; ++i) CHECK(c.last_outcome(i) == "completed");
    CHECK(c.wrong() == "");
}

TEST_CASE("D-4: when the instance that took over dies too, the next one takes over") {
    small_cluster c{hourly(1), 4};
    c.start_before_the_hour();
    c.lasts = 10min;
    c.run_for(3s);
    for (std::size_t attempt = 1; attempt < 4; ++attempt) {
        REQUIRE(c.starts(0).size() == attempt);
        c.crash(c.starts(0).back().node);
        c.run_for(15s);
    }
    REQUIRE(c.starts(0).size() == 4);
    CHECK(c.starts(0).back().text == "failover, attempt 4");
    c.run_for(10min);
    CHECK(c.starts(0).size() == 4);
    CHECK(c.last_outcome(0) == "completed");
    CHECK(c.wrong() == "");
}

TEST_CASE("D-5: an instance that takes over runs nothing else because of it") {
    small_cluster c{hourly(10), 2};
    c.start_before_the_hour();
    c.lasts = 20s;
    c.run_for(3s);
    c.crash(0);
    c.run_for(30min);
    for (item_index i = 0; i < 10; ++i) CHECK(c.last_outcome(i) == "completed");
    CHECK(c.count(run_source::failover) == 5);
    CHECK(c.count(kind::started) == 15);
    CHECK(c.wrong() == "");
}

TEST_CASE("D-6: a member that does not know that a run ended before its instance left does not run it again") {
    for (std::uint32_t skipped = 0; skipped < 8; ++skipped) {
        CAPTURE(skipped);
        small_cluster c{hourly(2), 3, {2}};
        c.start_before_the_hour();
        auto const first = c.items_of(1) == items{0} ? 1U : 0U;
        c.lasts_for[0] = 30s;
        c.looks_at_its_stop_token = false;
        c.run_for(3s);
        c.join(2);
        c.run_for(1s);
        REQUIRE(c.items_of(2) == items{0}); // it waits for the run that goes on
        // Its requests for the outcome are lost, but not the news that the instance has gone.
        c.inject({.what = fault_kind::lose_request, .node = 2});
        c.inject({.what = fault_kind::lose_request, .node = 2, .count = skipped});
        c.leave(first);
        c.run_for(10min);
        CHECK(c.starts(0).size() == 1);
        CHECK(c.count(run_source::failover) == 0);
        CHECK(c.last_outcome(0) == "completed");
        CHECK(c.wrong() == "");
    }
}

TEST_CASE("D-7: a disabled item is not run again, and a disabled server takes nothing") {
    small_cluster c{hourly(3), 4};
    c.start();
    c.disable(2);
    c.run_for(1s);
    REQUIRE(c.items_of(2).empty());
    REQUIRE(c.items_of(0).size() == 1);
    auto const disabled = c.items_of(0)[0], other = c.items_of(1)[0];
    c.run_until_before_the_hour();
    c.lasts = 10min;
    c.run_for(3s);
    c.create(c.at.item_disabled(disabled));
    c.crash(0);
    c.crash(1);
    c.run_for(15s);
    CHECK(c.starts(disabled).size() == 1);
    REQUIRE(c.starts(other).size() == 2);
    CHECK(c.starts(other)[1].node == 3);
    CHECK(c.items_of(2).empty());
    CHECK(c.count(kind::skipped) >= 1);
    CHECK(c.all(kind::skipped, disabled).size() == c.count(kind::skipped));
    CHECK(c.wrong() == "");
}

TEST_CASE("D-7: with failover switched off an interrupted run is on record, and nothing is left to take over") {
    auto config = hourly(2);
    config.failover = false;
    small_cluster c{config, 2};
    c.start_before_the_hour();
    c.lasts = 10min;
    c.run_for(3s);
    auto const interrupted = c.items_of(0).at(0);
    c.crash(0);
    c.run_for(30min);
    CHECK(c.starts(interrupted).size() == 1);
    CHECK_FALSE(c.find(c.at.failover_items()));
    c.run_for(30min);
    REQUIRE(c.starts(interrupted).size() == 2);
    CHECK(c.starts(interrupted)[1].text == "schedule, attempt 1");
    CHECK(c.record(interrupted).ledger.at(0).outcome == run_outcome::interrupted);
    CHECK(c.wrong() == "");
}

TEST_CASE("D-45: an instance that is shut down during a run ends the run before it leaves") {
    small_cluster c{hourly(2), 2};
    c.s.add_invariant(keeps_items_until_their_end{});
    c.start_before_the_hour();
    c.lasts = 10s;
    c.run_for(3s);
    auto const item = c.items_of(0).at(0);
    c.leave(0);
    c.run_for(15s);
    CHECK(c.starts(item).size() == 1);
    CHECK(c.last_outcome(item) == "completed");
    REQUIRE(c.count(kind::left) == 1);
    CHECK(c.all(kind::left)[0].at >= c.all(kind::body_ended, item).at(0).at);
    CHECK(c.items_of(1) == items{0, 1});
    CHECK(c.wrong() == "");
}

TEST_CASE("D-45: an instance that is shut down remotely ends its runs, and no other instance runs them beside it") {
    small_cluster c{hourly(2), 2};
    c.start_before_the_hour();
    c.lasts = 20s;
    c.looks_at_its_stop_token = false;
    c.run_for(3s);
    auto const item = c.items_of(0).at(0);
    c.inject({.what = fault_kind::remove_instance, .node = 0});
    c.run_for(5s);
    CHECK(c.items_of(1) == items{0, 1}); // the new owner waits for the end of the run
    CHECK(c.count(kind::left) == 0);
    CHECK(c.running() == 2);
    c.run_for(10min);
    CHECK(c.starts(item).size() == 1);
    CHECK(c.last_outcome(item) == "completed");
    CHECK(c.count(kind::left) == 1);
    CHECK(c.wrong() == "");
}
