// SPDX-License-Identifier: Apache-2.0
// Defects of ElasticJob-Lite 2.1.5 when it shards. Each is played here, and must not happen.
#include <simulation/small_cluster.hpp>

#include <doctest/doctest.h>

using namespace elasticjob;
using namespace elasticjob::test;
using namespace elasticjob::testing;

namespace {

/// At the revision of its write, an assignment names no instance that is gone.
struct nobody_dead_is_given_items {
    static constexpr std::string_view name = "nobody dead is given items";

    std::string changed(tree_event const& e, cluster_view const& v) const {
        if (!e.path.ends_with("/ext/assignment")) return {};
        auto const a = assignment::parse(v.data(*node_path::parse(e.path)));
        for (auto const& id : a ? a->instances() : std::vector<instance_id>{})
            if (!id.str().empty() && !v.find(cluster_view::layout("settle").instance(id)))
                return "the assignment names " + id.str();
        return {};
    }
};

/// Once it has an owner, an item always has one.
struct no_item_is_without_owner {
    static constexpr std::string_view name = "no item is without owner";

    std::string changed(tree_event const& e, cluster_view const& v) const {
        auto const at = cluster_view::layout("settle");
        if (!e.path.starts_with(at.sharding().str()) || !e.path.ends_with("/instance")) return {};
        return v.data(*node_path::parse(e.path)).empty() ? e.path + " names nobody" : std::string{};
    }
};

} // namespace

TEST_CASE("D-8: an instance that joins while the leader is sharding gets items too") {
    for (auto later = 0ms; later < 50ms; later += 1ms) {
        CAPTURE(later.count());
        small_cluster c{hourly(12), 4, {2, 3}};
        c.start();
        c.s.schedule_faults(
            {{.what = fault_kind::join, .node = 2}, {.at = later, .what = fault_kind::join, .node = 3}});
        c.run_for(3s);
        for (std::uint32_t n = 0; n < 4; ++n) CHECK(c.items_of(n).size() == 3);
        CHECK_FALSE(c.find(c.at.sharding_necessary()));
        CHECK(c.wrong() == "");
    }
}

TEST_CASE("D-8: an instance that is disabled while the leader is sharding gets no items") {
    for (auto later = 0ms; later < 50ms; later += 1ms) {
        CAPTURE(later.count());
        small_cluster c{hourly(12), 4, {3}};
        c.start();
        auto const victim = (c.leader() + 1) % 3;
        c.s.schedule_faults(
            {{.what = fault_kind::join, .node = 3}, {.at = later, .what = fault_kind::disable, .node = victim}});
        c.run_for(3s);
        CHECK(c.items_of(victim).empty());
        CHECK(c.items_of(3).size() == 4);
        CHECK(c.wrong() == "");
    }
}

TEST_CASE("D-9: no item goes to an instance that has left since the leader looked") {
    for (auto later = 0ms; later < 50ms; later += 1ms) {
        CAPTURE(later.count());
        small_cluster c{hourly(12), 4, {3}};
        c.start();
        auto const victim = (c.leader() + 1) % 3;
        c.s.add_invariant(nobody_dead_is_given_items{});
        c.s.schedule_faults(
            {{.what = fault_kind::join, .node = 3}, {.at = later, .what = fault_kind::expire, .node = victim}});
        c.run_for(3s);
        for (std::uint32_t n = 0; n < 4; ++n) CHECK(c.items_of(n).size() == 3);
        CHECK(c.wrong() == "");
    }
}

TEST_CASE("D-9: a run of hours does not keep a sharding waiting, so its basis is not hours old") {
    small_cluster c{hourly(6), 3, {2}};
    c.start_before_the_hour();
    c.lasts = 5h;
    c.looks_at_its_stop_token = false;
    c.run_for(3s);
    c.join(2);
    c.run_for(1s);
    CHECK(c.items_of(2).size() == 2);
    c.crash(0);
    c.run_for(13s);
    CHECK(c.items_of(1).size() == 3);
    CHECK(c.items_of(2).size() == 3);
    CHECK(c.wrong() == "");
}

TEST_CASE("D-10: a sharding whose requests or replies are lost leaves the old assignment in force, and is made again") {
    for (auto const what : {fault_kind::lose_request, fault_kind::lose_reply})
        for (std::uint32_t skipped = 0; skipped < 8; ++skipped) {
            CAPTURE(name_of(what));
            CAPTURE(skipped);
            small_cluster c{hourly(9), 3, {2}};
            c.start();
            c.s.add_invariant(no_item_is_without_owner{});
            // Several in a row, so that trying again once is not enough.
            for (std::uint32_t more = 0; more < 3; ++more)
                c.inject({.what = what, .node = c.leader(), .count = skipped + more});
            c.join(2);
            c.run_for(2s);
            for (std::uint32_t n = 0; n < 3; ++n) CHECK(c.items_of(n).size() == 3);
            CHECK_FALSE(c.find(c.at.sharding_necessary()));
            CHECK_FALSE(c.find(c.at.sharding_processing()));
            CHECK(c.wrong() == "");
        }
}

TEST_CASE("D-11: a strategy that no member has changes nothing, and all members go on") {
    small_cluster c{every_five_seconds(4), 2};
    c.start();
    auto const before = c.data(c.at.assignment());
    auto edited = **from_json(c.data(c.at.config()));
    edited.job_sharding_strategy_class = "com.example.Missing";
    c.write(c.at.config(), to_json(edited));
    c.run_for(1s);
    for (auto const& o : c.all(kind::trouble)) CHECK(*o.failure == errc::unknown_strategy);
    CHECK(c.count(kind::trouble) == 2);
    CHECK(c.data(c.at.assignment()) == before);
    c.run_for(5s);
    CHECK(c.count(kind::started) == 4);
    c.crash(0);
    c.run_for(15s);
    CHECK(c.items_of(1).size() == 4);
    CHECK(c.wrong() == "");
}

TEST_CASE("D-12: the leader shards at once, whatever else its process is busy with") {
    small_cluster c{hourly(6), 3, {2}};
    c.start_before_the_hour();
    c.lasts = 30min;
    c.looks_at_its_stop_token = false;
    c.run_for(3s);
    c.inject({.what = fault_kind::full_pool, .node = c.leader(), .span = 30min});
    c.join(2);
    c.run_for(1s);
    REQUIRE(c.items_of(2).size() == 2);
    c.lasts = 100ms;
    c.trigger(2);
    c.run_for(1s);
    for (auto const i : c.items_of(2)) CHECK(c.starts(i).back().node != 2); // they still run elsewhere
    c.run_for(30min);
    for (auto const i : c.items_of(2)) CHECK(c.starts(i).back().node == 2);
    CHECK(c.wrong() == "");
}

TEST_CASE("D-12: a leader that no longer answers is replaced, and the instance that waits gets its items") {
    small_cluster c{hourly(4), 3, {2}};
    c.start();
    auto const leader = c.leader();
    c.inject({.what = fault_kind::pause, .node = leader, .span = 24h});
    c.join(2);
    c.run_for(12s);
    CHECK(c.leader() != leader);
    CHECK(c.items_of(2).size() == 2);
    c.run_for(1h);
    for (item_index i = 0; i < 4; ++i) CHECK(c.starts(i).size() == 1);
    CHECK(c.wrong() == "");
}

TEST_CASE(
    "D-12: a leader that never shards keeps a firing waiting for a bounded time, and the report names the leader") {
    small_cluster c{every_five_seconds(2), 1};
    for (auto const& path : {c.at.root(), c.at.leader(), c.at.election(), c.at.instances()}) c.create(path);
    c.create(c.at.leader_instance(), "10.0.0.9@-@4711", create_mode::ephemeral);
    c.create(c.at.instances() / "10.0.0.9@-@4711", {}, create_mode::ephemeral);
    c.start();
    CHECK(c.count(kind::trouble) == 0);
    c.run_for(17s); // to the first firing, and then the sharding time-out
    REQUIRE(c.count(kind::trouble) == 1);
    CHECK(*c.all(kind::trouble)[0].failure == errc::timed_out);
    CHECK(c.all(kind::trouble)[0].failure->what.find("10.0.0.9@-@4711") != std::string::npos);
    c.remove(c.at.instances() / "10.0.0.9@-@4711");
    c.remove(c.at.leader_instance());
    c.run_for(6s);
    CHECK(c.items_of(0).size() == 2);
    CHECK(c.count(kind::started) >= 2);
    CHECK(c.wrong() == "");
}

TEST_CASE("D-13: an instance that does not know of a sharding yet starts no item that has moved to another") {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        CAPTURE(seed);
        small_cluster c{hourly(6), 3, {2}, seed};
        c.start_before_the_hour();
        auto const former = 1 - c.leader();
        // It is the first to ask, but receives no reply before and after the hour.
        c.s.schedule_faults({{.at = 700ms, .what = fault_kind::deafness, .node = former, .span = 600ms},
                             {.at = 800ms, .what = fault_kind::join, .node = 2},
                             {.at = 950ms, .what = fault_kind::slow_network, .node = 2, .span = 1s}});
        c.run_for(20s);
        CHECK(c.wrong() == "");
        for (item_index i = 0; i < 6; ++i) {
            auto const runs = c.starts(i);
            REQUIRE(runs.size() == 1);
            CHECK(runs[0].instance == c.history.owner_at(runs[0].token, i));
        }
    }
}

TEST_CASE("D-14: no instance polls, neither when idle nor while an item waits for the end of a run elsewhere") {
    small_cluster c{hourly(2), 2, {1}};
    auto const& counts = c.s.server().counts();
    c.start();
    auto before = counts.all();
    c.run_for(50min);
    CHECK(counts.all() == before);
    c.run_until_before_the_hour();
    c.lasts = 1h;
    c.looks_at_its_stop_token = false;
    c.run_for(3s);
    c.join(1);
    c.run_for(1s);
    REQUIRE(c.items_of(1).size() == 1);
    before = counts.reads;
    auto const written_before = counts.writes;
    c.run_for(50min);
    CHECK(c.running() == 2);
    CHECK(counts.reads == before);
    CHECK(counts.writes - written_before <= 50 * 60 + 1); // the lease of the running instance: one a second
    CHECK(c.wrong() == "");
}

TEST_CASE("D-15: the items of a tick start with one request, and end with one") {
    small_cluster c{hourly(200), 1};
    auto const& counts = c.s.server().counts();
    c.start_before_the_hour();
    auto const reads = counts.reads, writes = counts.writes;
    c.run_for(3s);
    CHECK(c.count(kind::finished) == 200);
    CHECK(counts.writes == writes + 2);
    CHECK(counts.reads == reads);
    CHECK(c.wrong() == "");
}

TEST_CASE("D-26: damage to an owner, the assignment or a record is repaired at once") {
    small_cluster c{hourly(4), 2};
    c.start();
    auto const before = c.data(c.at.assignment());
    c.write(c.at.item_instance(0), "10.0.0.9@-@4711");
    c.run_for(1s);
    CHECK(c.items_of(0).size() == 2);
    CHECK(c.items_of(1).size() == 2);
    CHECK(c.data(c.at.assignment()) != before);
    c.write(c.at.assignment(), "not an assignment");
    c.run_for(1s);
    CHECK(assignment::parse(c.data(c.at.assignment())));
    c.remove(c.at.run_record(1));
    c.run_until_before_the_hour();
    c.run_for(3s);
    for (item_index i = 0; i < 4; ++i) {
        CHECK(c.starts(i).size() == 1);
        CHECK(c.last_outcome(i) == "completed");
    }
    CHECK(c.wrong() == "");
}

TEST_CASE("D-31: an item that is cut off while it runs keeps its nodes until it has ended") {
    small_cluster c{hourly(4), 2};
    c.start_before_the_hour();
    c.lasts = 1min;
    c.looks_at_its_stop_token = false;
    c.run_for(3s);
    c.set_items(2);
    c.run_for(30s);
    CHECK(c.running() == 4);
    for (item_index i = 0; i < 4; ++i) CHECK(c.find(c.at.item_running(i)));
    c.run_for(1min);
    CHECK(c.count(kind::fenced) == 0);
    REQUIRE(c.find(c.at.sharding()));
    CHECK(c.find(c.at.sharding())->stat.children == 2);
    CHECK_FALSE(c.find(c.at.run_record(3)));
    CHECK(c.wrong() == "");
}

TEST_CASE("D-31: an item that is cut off, runs on and comes back is not run beside itself") {
    small_cluster c{every_five_seconds(4), 2};
    c.start();
    c.lasts_for[3] = 1min;
    c.looks_at_its_stop_token = false;
    c.run_for(5s);
    c.set_items(2);
    c.run_for(6s);
    CHECK(c.starts(2).size() == 1);
    CHECK_FALSE(c.find(c.at.item(2)));
    c.set_items(4);
    c.run_for(30s);
    CHECK(c.starts(3).size() == 1);
    c.run_for(1min);
    CHECK(c.starts(3).size() > 1);
    CHECK(c.count(kind::fenced) == 0);
    CHECK(c.wrong() == "");
}

TEST_CASE("D-38: a sharding that is left unfinished stops no instance") {
    small_cluster c{every_five_seconds(4), 3, {2}};
    c.start();
    c.create(c.at.sharding_necessary());
    c.create(c.at.sharding_processing());
    c.run_for(1s);
    CHECK_FALSE(c.find(c.at.sharding_necessary()));
    CHECK_FALSE(c.find(c.at.sharding_processing()));
    c.create(c.at.sharding_processing()); // and again, while an instance joins
    c.join(2);
    c.run_for(6s);
    CHECK_FALSE(c.find(c.at.sharding_processing()));
    CHECK(c.items_of(2).size() >= 1);
    for (item_index i = 0; i < 4; ++i) CHECK(c.starts(i).size() >= 1);
    CHECK(c.wrong() == "");
}
