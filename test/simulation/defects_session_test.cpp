// SPDX-License-Identifier: Apache-2.0
// Defects of ElasticJob-Lite 2.1.5 about sessions and leadership. Each is played here, and must not happen.
#include <simulation/small_cluster.hpp>

#include <doctest/doctest.h>

using namespace elasticjob;
using namespace elasticjob::test;
using namespace elasticjob::testing;

namespace {

/// An instance that says that it leads does lead: the leader's node is its own, and belongs to its current session.
/// Otherwise no instance leads, and the news that its session has ended is on the way.
struct leaders_are_right {
    static constexpr std::string_view name = "leaders are right";

    std::string on(observation const& o, cluster_view const& v) const {
        if (o.what != kind::leads) return {};
        auto const* there = v.find(cluster_view::layout(o.job).leader_instance());
        auto const session = v.nodes[o.node].session;
        bool const is_right = there ? there->data == o.instance && there->stat.owner == session
                                    : !v.server.is_alive(session);
        return is_right ? "" : "node " + std::to_string(o.node) + " thinks that it leads";
    }
};

/// The instance's node as it was created, however often its data has been written since.
revision created(small_cluster const& c, std::uint32_t n) {
    auto const* there = c.find(c.at.instances() / c.id(n));
    return there ? there->stat.created : 0;
}

/// When the item's runs began, in whole seconds of the simulation.
std::vector<long> seconds_of(std::vector<observation> const& all) {
    std::vector<long> found;
    for (auto const& o : all) found.push_back(static_cast<long>(o.at.time_since_epoch() / 1s));
    return found;
}

} // namespace

TEST_CASE("D-16: a connection that breaks and comes back in time is not taken for a crash") {
    small_cluster c{hourly(4), 2};
    c.start_before_the_hour();
    c.lasts = 1min;
    c.run_for(3s);
    auto const assigned = c.data(c.at.assignment());
    auto const leading = c.find(c.at.leader_instance())->stat.created;
    revision const before[] = {created(c, 0), created(c, 1)};
    for (std::uint32_t n = 0; n < 2; ++n) {
        c.inject({.what = fault_kind::reset, .node = n});
        c.run_for(3s);
        c.inject({.what = fault_kind::partition, .node = n, .span = 2s});
        c.run_for(5s);
        CHECK(created(c, n) == before[n]);
    }
    CHECK(c.count(kind::joined) == 2);
    CHECK(c.find(c.at.leader_instance())->stat.created == leading);
    CHECK(c.data(c.at.assignment()) == assigned);
    c.run_for(1min);
    CHECK(c.count(kind::started) == 4);
    for (item_index i = 0; i < 4; ++i) CHECK(c.last_outcome(i) == "completed"); // no run was stopped
    CHECK(c.wrong() == "");
}

TEST_CASE(
    "D-17: a run that continues when its session has ended is marked again, and no other instance runs it beside it") {
    small_cluster c{hourly(2), 2, {1}};
    c.start_before_the_hour();
    c.lasts = 1min;
    c.looks_at_its_stop_token = false;
    c.run_for(3s);
    c.expire(0);
    c.run_for(500ms);
    for (item_index i = 0; i < 2; ++i) {
        auto const* mark = c.find(c.at.item_running(i));
        REQUIRE(mark);
        CHECK(mark->stat.owner == c.s.view().nodes[0].session);
    }
    c.join(1);
    c.run_for(10s);
    CHECK(c.items_of(1).size() == 1);
    CHECK(c.count(kind::started) == 2);
    c.run_for(2min);
    CHECK(c.count(kind::started) == 2);
    CHECK(c.count(kind::fenced) == 0);
    for (item_index i = 0; i < 2; ++i) CHECK(c.last_outcome(i) == "completed");
    CHECK(c.wrong() == "");
}

TEST_CASE("D-17: a run is asked to stop before any other instance can have its item") {
    small_cluster c{hourly(2), 2};
    c.start_before_the_hour();
    c.lasts = 10min;
    c.run_for(10s);
    auto const item = c.items_of(0).at(0);
    c.inject({.what = fault_kind::partition, .node = 0, .span = 1min});
    c.run_for(30s);
    REQUIRE(c.all(kind::body_ended, item).size() == 1);
    REQUIRE(c.starts(item).size() == 2);
    CHECK(c.starts(item)[1].node == 1);
    CHECK(c.all(kind::body_ended, item)[0].at < c.starts(item)[1].at);
    c.run_for(1min);
    CHECK(c.all(kind::fenced, item).size() == 1); // its work does not count
    CHECK(c.wrong() == "");
}

TEST_CASE("D-18: a session that ends, and the next one too, does not shut the job down") {
    for (auto later = 0ms; later < 30ms; later += 1ms) {
        CAPTURE(later.count());
        small_cluster c{every_five_seconds(4), 2};
        c.start();
        c.expire(0);
        c.expire(1);
        c.run_for(later);
        c.expire(0);
        c.run_for(6s);
        CHECK(c.count(kind::left) == 0);
        for (std::uint32_t n = 0; n < 2; ++n) {
            auto const* there = c.find(c.at.instances() / c.id(n));
            REQUIRE(there);
            CHECK(there->stat.owner == c.s.view().nodes[n].session);
            CHECK(c.items_of(n).size() == 2);
        }
        CHECK(c.count(kind::started) == 4);
        CHECK(c.wrong() == "");
    }
}

TEST_CASE("D-19: data that cannot be read is not taken for absent") {
    for (auto const what : {fault_kind::lose_request, fault_kind::lose_reply})
        for (std::uint32_t skipped = 0; skipped < 6; ++skipped) {
            CAPTURE(name_of(what));
            CAPTURE(skipped);
            small_cluster c{hourly(6), 3, {2}};
            c.start();
            revision const before[] = {created(c, 0), created(c, 1)};
            auto const lose_some = [&] {
                for (std::uint32_t n = 0; n < 2; ++n)
                    for (std::uint32_t more = 0; more < 2; ++more)
                        c.inject({.what = what, .node = n, .count = skipped + more});
            };
            lose_some();
            c.join(2);
            c.run_for(3s);
            lose_some();
            c.trigger(2);
            c.run_for(3s);
            CHECK(c.count(kind::left) == 0);
            CHECK(c.count(kind::leads) == 1);
            CHECK(c.count(kind::leads_no_more) == 0);
            for (std::uint32_t n = 0; n < 2; ++n) CHECK(created(c, n) == before[n]);
            for (std::uint32_t n = 0; n < 3; ++n) CHECK(c.items_of(n).size() == 2);
            for (item_index i = 0; i < 6; ++i) CHECK(c.starts(i).size() == 1);
            CHECK(c.wrong() == "");
        }
}

TEST_CASE("D-19: while the registry is away nothing is decided, and nothing begins") {
    small_cluster c{every_five_seconds(4), 2};
    c.start();
    auto const assigned = c.data(c.at.assignment());
    auto const leading = c.find(c.at.leader_instance())->stat.created;
    for (std::uint32_t n = 0; n < 2; ++n) c.inject({.what = fault_kind::deafness, .node = n, .span = 8s});
    c.run_for(8s);
    CHECK(c.count(kind::started) == 0);
    c.run_for(3s);
    for (item_index i = 0; i < 4; ++i) CHECK(c.starts(i).size() >= 1);
    CHECK(c.count(kind::joined) == 2);
    CHECK(c.count(kind::left) == 0);
    CHECK(c.find(c.at.leader_instance())->stat.created == leading);
    CHECK(c.data(c.at.assignment()) == assigned);
    CHECK(c.wrong() == "");
}

TEST_CASE("D-20: instants that an item misses while it runs are made up for as soon as it is free, once, only for that "
          "item") {
    small_cluster c{every_five_seconds(2), 1};
    c.start();
    c.lasts_for[1] = 12s;
    c.run_for(5s);
    c.lasts_for.clear();
    c.run_for(20s);
    CHECK(seconds_of(c.starts(0)) == std::vector<long>{5, 10, 15, 20, 25});
    REQUIRE(seconds_of(c.starts(1)) == std::vector<long>{5, 17, 20, 25});
    CHECK(c.starts(1)[1].text == "misfire, attempt 1");
    CHECK(c.starts(1)[1].due == c.starts(0)[2].due);
    CHECK(c.record(1).ledger.at(1).outcome == run_outcome::coalesced);
    CHECK(c.record(1).ledger.at(1).count == 1);
    CHECK(c.wrong() == "");
}

TEST_CASE("D-20: missed instants belong to the item, and its next owner makes up for them once") {
    small_cluster c{every_five_seconds(2), 2, {1}};
    c.start();
    c.lasts = 12s;
    c.looks_at_its_stop_token = false;
    c.run_for(5s);
    c.lasts = 100ms;
    c.run_for(10s);
    c.join(1); // behind the last instant that was missed
    c.run_for(11s);
    REQUIRE(c.items_of(1).size() == 1);
    for (item_index i = 0; i < 2; ++i) CHECK(seconds_of(c.starts(i)) == std::vector<long>{5, 17, 20, 25});
    CHECK(c.starts(c.items_of(1)[0])[1].node == 1);
    CHECK(c.count(run_source::misfire) == 2);
    CHECK(c.wrong() == "");
}

TEST_CASE("D-20: with misfire switched off no instant is made up for, and none is left for later") {
    auto config = every_five_seconds(1);
    config.misfire = false;
    small_cluster c{config, 1};
    c.start();
    c.lasts = 12s;
    c.run_for(5s);
    c.lasts = 100ms;
    c.run_for(20s);
    CHECK(seconds_of(c.starts(0)) == std::vector<long>{5, 20, 25});
    CHECK(c.count(run_source::misfire) == 0);
    CHECK(c.wrong() == "");
}

TEST_CASE("D-27: a schedule that is changed and changed back repeats nothing, though the clock has been put back") {
    small_cluster c{every_five_seconds(1), 1};
    c.start();
    c.run_for(21s);
    REQUIRE(c.starts(0).size() == 4);
    c.inject({.what = fault_kind::clock_jump, .span = -15s});
    auto const config = c.data(c.at.config());
    auto edited = **from_json(config);
    edited.cron = "2/6 * * * * ?";
    c.write(c.at.config(), to_json(edited));
    c.run_for(100ms);
    c.write(c.at.config(), config);
    c.run_for(25s);
    auto const runs = c.starts(0);
    REQUIRE(runs.size() > 4);
    for (std::size_t n = 1; n < runs.size(); ++n) CHECK(runs[n - 1].due < runs[n].due);
    for (auto const& e : c.record(0).ledger) CHECK(e.outcome == run_outcome::completed); // of nothing twice
    CHECK(c.wrong() == "");
}

TEST_CASE("D-28: an election that does not end keeps nothing else waiting") {
    small_cluster c{every_five_seconds(4), 2};
    c.start();
    auto const stuck = c.at.election_latch() / "_c_somebody-latch-0000000000";
    c.create(stuck, {}, create_mode::ephemeral);
    auto const other = 1 - c.leader();
    c.crash(c.leader());
    c.run_for(15s);
    REQUIRE_FALSE(c.find(c.at.leader_instance()));
    REQUIRE(c.find(c.at.election_latch())->stat.children == 2);
    auto const mine = c.items_of(other);
    REQUIRE(mine.size() == 2);
    auto const before = c.starts(mine[0]).size();
    c.run_for(10s);
    CHECK(c.starts(mine[0]).size() == before + 2);
    c.trigger(other);
    c.run_for(1s);
    CHECK(c.count(run_source::trigger) == 2);
    c.remove(stuck);
    c.run_for(6s);
    CHECK(c.leader() == other);
    CHECK(c.items_of(other).size() == 4);
    CHECK(c.wrong() == "");
}

TEST_CASE("D-36: a disabled instance does not stand for election") {
    auto config = hourly(2);
    config.disabled = true;
    small_cluster c{config, 2};
    c.start();
    CHECK(c.count(kind::joined) == 2);
    CHECK(c.count(kind::leads) == 0);
    CHECK_FALSE(c.find(c.at.leader_instance()));
    CHECK(c.find(c.at.election_latch())->stat.children == 0);
    c.enable(1);
    c.run_for(1s);
    CHECK(c.leader() == 1);
    CHECK(c.items_of(1) == items{0, 1});
    c.enable(0);
    c.run_for(1s);
    c.disable(1);
    c.run_for(1s);
    CHECK(c.leader() == 0);
    CHECK(c.count(kind::leads) == 2);
    CHECK(c.wrong() == "");
}

TEST_CASE("D-41: an item whose start failed is not taken for running") {
    for (auto const what : {fault_kind::lose_request, fault_kind::lose_reply, fault_kind::expire})
        for (auto later = 0ms; later < 8ms; later += 1ms) {
            CAPTURE(name_of(what));
            CAPTURE(later.count());
            small_cluster c{hourly(4), 2};
            c.looks_at_its_stop_token = false;
            c.start_before_the_hour();
            // The first requests of the hour, or the session while they are on their way.
            bool const is_counted = what != fault_kind::expire;
            c.s.schedule_faults({{.at = is_counted ? 500ms : 1000ms + later,
                                  .what = what,
                                  .count = is_counted ? static_cast<std::uint32_t>(later / 1ms) : 0}});
            c.run_for(4s);
            CHECK(c.running() == 0);
            for (item_index i = 0; i < 4; ++i) {
                CHECK(c.last_outcome(i) == "completed");
                CHECK_FALSE(c.record(i).running);
                CHECK_FALSE(c.find(c.at.item_running(i)));
                if (is_counted) CHECK(c.starts(i).size() == 1);
            }
            c.run_for(15s);
            c.trigger(1);
            c.run_for(2s);
            CHECK(c.count(run_source::trigger) == 4);
            CHECK(c.wrong() == "");
        }
}

TEST_CASE("D-44: the leader's node of a former session of the same instance is not its leadership") {
    small_cluster c{hourly(4), 2};
    c.s.add_invariant(leaders_are_right{});
    c.start();
    auto const former = c.leader();
    // It gives its session up before the server does. The server still hears it, so its node stays for a while.
    c.inject({.what = fault_kind::deafness, .node = former, .span = 18s});
    c.run_for(19s);
    REQUIRE(c.count(kind::joined) == 3);
    REQUIRE(c.leader() == former);
    CHECK(c.find(c.at.leader_instance())->stat.owner != c.s.view().nodes[former].session);
    CHECK(c.count(kind::leads_no_more) == 1);
    CHECK(c.count(kind::leads) == 1);
    c.run_for(15s);
    CHECK(c.count(kind::leads) == 2);
    CHECK(c.items_of(0).size() == 2);
    CHECK(c.wrong() == "");
}

TEST_CASE("D-44: an election during which the session ends makes no wrong instance leader and leaves no candidate") {
    for (auto later = 0ms; later < 40ms; later += 1ms) {
        CAPTURE(later.count());
        small_cluster c{hourly(4), 3};
        c.s.add_invariant(leaders_are_right{});
        c.start();
        auto const first = c.leader(), second = (first + 1) % 3;
        c.expire(first); // all stand for election
        c.s.schedule_faults({{.at = later, .what = fault_kind::expire, .node = second}});
        c.run_for(3s);
        REQUIRE(c.leader() < 3);
        CHECK(c.find(c.at.leader_instance())->stat.owner == c.s.view().nodes[c.leader()].session);
        CHECK(c.find(c.at.election_latch())->stat.children == 0);
        CHECK(c.count(kind::leads) == c.count(kind::leads_no_more) + 1);
        CHECK(c.wrong() == "");
    }
}

TEST_CASE("D-22: a server that an operator has disabled stays disabled when its process starts again") {
    small_cluster c{hourly(4), 2};
    c.start();
    c.disable(0);
    c.inject({.what = fault_kind::crash, .node = 0, .span = 15s});
    c.run_for(20s);
    REQUIRE_FALSE(c.id(0).empty());
    CHECK(c.data(c.at.server("10.0.0.1")) == server_disabled);
    CHECK(c.items_of(0).empty());
    CHECK(c.items_of(1).size() == 4);
    CHECK(c.wrong() == "");
}

TEST_CASE("D-23: a disabled server does not disable another one whose name begins with its own") {
    small_cluster c{hourly(11), 12};
    c.start();
    c.disable(0); // 10.0.0.1
    c.run_for(1s);
    CHECK(c.items_of(0).empty());
    for (std::uint32_t n = 1; n < 12; ++n) CHECK(c.items_of(n).size() == 1); // 10.0.0.10 among them
    CHECK(c.wrong() == "");
}
