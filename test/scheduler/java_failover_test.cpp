// SPDX-License-Identifier: Apache-2.0
// What an instance that dies leaves behind in a job that has members of 2.1.5, which keep no records.
#include <support/cluster.hpp>

#include <elasticjob/execution/run_record.hpp>

#include <doctest/doctest.h>

using namespace elasticjob;
using namespace elasticjob::test;

namespace {

using items = std::vector<item_index>;

job_config failover_job(int count) {
    auto job = make_job("settle", "0 0 * * * ?", count);
    job.failover = true;
    return job;
}

/// A session of a Java member that has registered.
struct java_member {
    cluster& c;
    basic_memory_registry<virtual_loop> registry{c.server};
    std::string id;

    java_member(cluster& where, std::string name) : c{where}, id{std::move(name)} {
        create("/settle/instances/" + id, "");
        if (!c.has("/settle/leader/sharding/necessary")) c.create("/settle/leader/sharding/necessary");
    }
    void create(std::string const& path, std::string data) {
        c.wait_for(registry.create(cluster::parsed(path), std::move(data), create_mode::ephemeral)).value();
    }
    void remove(std::string const& path) { c.wait_for(registry.remove(cluster::parsed(path))).value(); }
    static std::string mark(item_index i) { return "/settle/sharding/" + std::to_string(i) + "/running"; }
    void begin(item_index i) { create(mark(i), ""); }
    void end(item_index i) { remove(mark(i)); }
    void die() {
        post(c.loop, [this] { registry.expire(); });
        c.loop.run_ready();
    }
};

items owned_by(cluster const& c, std::string const& id, item_index count) {
    items all;
    for (item_index i = 0; i < count; ++i)
        if (c.owner("settle", i) == id) all.push_back(i);
    return all;
}

/// The second of two members of ours dies while it runs its items, and some of these go to a Java member.
struct dying {
    cluster c;
    member& leader = c.add("10.0.0.5");
    member& victim = c.add("10.0.0.7");
    std::optional<java_member> java;
    items interrupted;

    explicit dying(int count) {
        for (auto* m : {&leader, &victim}) REQUIRE(m->schedule(failover_job(count)));
        c.run_for(1s);
        java.emplace(c, "10.0.0.9@-@4711");
        c.run_for(1s);
        victim.holds = true;
        c.run_for(3600s); // past the hour
        interrupted = owned_by(c, victim.id("settle"), static_cast<item_index>(count));
        REQUIRE(!interrupted.empty());
        REQUIRE(victim.held() == interrupted.size());
        c.log.clear();
    }
    void kill() {
        post(c.loop, [this] { victim.registry.expire(); });
        post(c.loop, [this] { victim.registry.disconnect(); });
        c.loop.run_ready();
    }
};

} // namespace

TEST_CASE(
    "scheduler.job: what ran on a dead member of ours is run again though a Java member has the item now (JV-5)") {
    dying w{9};
    w.kill();
    w.c.run_for(5s);
    items to_java;
    for (auto const i : w.interrupted)
        if (w.c.owner("settle", i) == w.java->id) to_java.push_back(i);
    REQUIRE(!to_java.empty());
    CHECK(w.c.started(0) == w.interrupted);
    for (auto const i : w.interrupted) {
        auto const runs = w.c.all(heard::kind::started, i);
        REQUIRE(runs.size() == 1);
        CHECK(runs[0].source == run_source::failover);
        CHECK(runs[0].attempt == 2);
        auto const item = "/settle/sharding/" + std::to_string(i);
        CHECK_FALSE(w.c.has(item + "/failover"));
        CHECK_FALSE(w.c.has(item + "/running"));
    }
    w.c.log.clear();
    w.c.run_for(3600s); // the next hour: the Java member's items are its own
    CHECK(w.c.started(0) == owned_by(w.c, w.leader.id("settle"), 9));
}

TEST_CASE("scheduler.job: such a run goes on while it is marked for Java members, and waits for their own run") {
    dying w{9};
    w.leader.holds = true;
    w.kill();
    w.c.run_for(5s);
    for (auto const i : w.interrupted) {
        auto const item = "/settle/sharding/" + std::to_string(i);
        CHECK(w.c.data(item + "/failover") == w.leader.id("settle"));
        CHECK(w.c.has(item + "/running"));
    }
    REQUIRE(w.leader.trigger("settle")); // adopted items are not the leader's to order
    w.leader.holds = false;
    w.leader.release_all();
    w.c.run_for(5s);
    for (auto const i : w.interrupted) {
        bool const is_leaders = w.c.owner("settle", i) == w.leader.id("settle");
        CHECK(w.c.all(heard::kind::started, i).size() == (is_leaders ? 2 : 1));
        CHECK_FALSE(w.c.has("/settle/sharding/" + std::to_string(i) + "/failover"));
    }
}

TEST_CASE("scheduler.job: under a Java leader a dead member's runs are made up for before that leader shards") {
    dying w{9};
    // The leadership goes to the Java member.
    w.java->create("/settle/leader/x", "");
    w.java->remove("/settle/leader/x");
    transaction t{w.java->registry.session().generation};
    t.remove(cluster::parsed("/settle/leader/election/instance"));
    t.create(cluster::parsed("/settle/leader/election/instance"), w.java->id, create_mode::ephemeral);
    REQUIRE(w.c.wait_for(w.java->registry.commit(std::move(t))).value());
    w.c.run_for(1s);
    w.kill();
    w.c.create("/settle/leader/sharding/necessary");
    w.c.run_for(5s);
    CHECK(owned_by(w.c, w.victim.id("settle"), 9) == w.interrupted);
    CHECK(w.c.started(0) == w.interrupted);
    w.c.run_for(60s);
    CHECK(w.c.started(0) == w.interrupted);
}

TEST_CASE("scheduler.job: what a Java member makes up for is left to it, also if we would adopt it") {
    dying w{9};
    for (auto const i : w.interrupted)
        w.java->create("/settle/sharding/" + std::to_string(i) + "/failover", w.java->id);
    w.kill();
    w.c.run_for(5s);
    CHECK(w.c.started(0).empty());
    for (auto const i : w.interrupted) {
        auto const record = run_record::parse(w.c.data("/settle/ext/run/" + std::to_string(i)));
        REQUIRE(record);
        CHECK_FALSE(record->running);
    }
}
