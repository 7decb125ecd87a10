// SPDX-License-Identifier: Apache-2.0
// What a dying instance leaves behind in a job with members of 2.1.5, which keep no records.
#include <support/cluster.hpp>

#include <elasticjob/config/json_codec.hpp>
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

/// The second of two members of ours dies while it runs its items, and a Java member receives some of them.
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
        interrupted = share_of(c, victim.id("settle"), static_cast<item_index>(count));
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

TEST_CASE("scheduler.job: a run of our dead member runs again though a Java member has the item now (JV-5)") {
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
    CHECK(w.c.started(0) == share_of(w.c, w.leader.id("settle"), 9));
}

TEST_CASE("scheduler.adoption: runs whose records may not be read are reported once, and adopted when they may") {
    dying w{9};
    w.c.set_unreadable("/settle/ext/run");
    w.kill();
    w.c.run_for(5s);
    auto const before = w.c.server.counts().all();
    w.c.run_for(10min);
    CHECK(w.c.server.counts().all() - before < 2'000);
    items to_java, ours;
    for (auto const i : w.interrupted) (w.c.owner("settle", i) == w.java->id ? to_java : ours).push_back(i);
    REQUIRE(!to_java.empty());
    CHECK(w.c.troubles().size() == 1 + ours.size()); // our own items report their own records
    for (auto const i : to_java) CHECK(w.c.count(heard::kind::started, i) == 0);
    w.c.set_unreadable("/settle/ext/run", false);
    w.c.run_for(10s);
    for (auto const i : w.interrupted) CHECK(w.c.count(heard::kind::started, i) == 1);
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
    CHECK(share_of(w.c, w.victim.id("settle"), 9) == w.interrupted);
    CHECK(w.c.started(0) == w.interrupted);
    w.c.run_for(60s);
    CHECK(w.c.started(0) == w.interrupted);
}

TEST_CASE("scheduler.job: under a Java leader a joining member makes up for a dead member's runs at once") {
    dying w{9};
    transaction t{w.java->registry.session().generation};
    t.remove(cluster::parsed("/settle/leader/election/instance"));
    t.create(cluster::parsed("/settle/leader/election/instance"), w.java->id, create_mode::ephemeral);
    for (item_index i = 0; i < 9; ++i) { // it shards, with the same result
        auto const owner = cluster::parsed("/settle/sharding/" + std::to_string(i) + "/instance");
        t.remove(owner).create(owner, w.c.owner("settle", i));
    }
    REQUIRE(w.c.wait_for(w.java->registry.commit(std::move(t))).value());
    w.c.run_for(1s);
    REQUIRE(w.leader.shutdown("settle").has_value());
    w.kill();
    w.c.run_for(20s);
    auto& joiner = w.c.add("10.0.0.6");
    REQUIRE(joiner.schedule(failover_job(9)));
    w.c.run_for(2s); // the leader does not shard meanwhile, so the joiner has no share
    CHECK(w.c.started(2) == w.interrupted);
}

TEST_CASE("scheduler.job: an item that a Java member makes up for is left to it, even if we would adopt it") {
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

namespace {

/// A member of ours leads. Two Java members have items, and the first of them runs some of its own.
struct dying_java {
    cluster c;
    member& leader = c.add("10.0.0.5");
    std::optional<java_member> victim, other;
    items owned;

    explicit dying_java(int count) {
        REQUIRE(leader.schedule(failover_job(count)));
        c.run_for(1s);
        victim.emplace(c, "10.0.0.7@-@815");
        other.emplace(c, "10.0.0.9@-@4711");
        c.run_for(1s);
        owned = share_of(c, victim->id, static_cast<item_index>(count));
        REQUIRE(owned.size() >= 3);
        for (std::size_t n = 0; n < 2; ++n) victim->begin(owned[n]);
        victim->begin(owned[2]);
        c.run_for(1s);
        victim->end(owned[2]);
        c.run_for(1s);
    }
};

/// A member of ours, and a Java member that has received half of the items.
struct shared_with_java {
    cluster c;
    java_member java;
    items owned; ///< by the Java member

    explicit shared_with_java(int count, std::string java_id = "10.0.0.7@-@815", memory_server_options options = {})
        : c{options},
          java{with_our_member(count), std::move(java_id)} {
        c.run_for(1s);
        owned = share_of(c, java.id, static_cast<item_index>(count));
        REQUIRE(owned.size() * 2 == static_cast<std::size_t>(count));
    }

private:
    cluster& with_our_member(int count) {
        REQUIRE(c.add("10.0.0.5").schedule(failover_job(count)));
        c.run_for(1s);
        return c;
    }
};

/// The member begins these items, whose records contain checkpoints of that size.
void begin_with_checkpoints(java_member& java, items const& owned, std::size_t bytes) {
    run_record before;
    before.checkpoint = std::string(bytes, 'x');
    for (auto const i : owned) {
        java.c.set("/settle/ext/run/" + std::to_string(i), before.to_text());
        java.begin(i);
    }
}

} // namespace

TEST_CASE("scheduler.job: the runs of a dead Java member run again, and no others (JV-6)") {
    dying_java w{9};
    w.victim->die();
    w.c.run_for(5s);
    items const expected{w.owned[0], w.owned[1]};
    CHECK(w.c.started() == expected);
    for (auto const i : expected) {
        CAPTURE(i);
        auto const runs = w.c.all(heard::kind::started, i);
        REQUIRE(runs.size() == 1);
        CHECK(runs[0].source == run_source::failover);
        CHECK(runs[0].attempt == 2);
        CHECK_FALSE(w.c.has("/settle/leader/failover/items/" + std::to_string(i)));
        CHECK_FALSE(w.c.has("/settle/sharding/" + std::to_string(i) + "/failover"));
    }
    CHECK(share_of(w.c, w.victim->id, 9).empty());
    CHECK(w.c.count(heard::kind::trouble) == 0);
}

TEST_CASE(
    "scheduler.job: a single run of a dead Java member is recognized too, even when no other Java member is left") {
    shared_with_java w{4};
    w.java.begin(w.owned[1]);
    w.c.run_for(1s);
    w.java.die();
    w.c.run_for(5s);
    CHECK(w.c.started() == items{w.owned[1]});
    CHECK_FALSE(w.c.has("/settle/leader/failover")); // no Java member is left to remove such a flag
}

TEST_CASE("scheduler.job: a run of a dead Java member runs again after instants that a clock ahead of ours handled") {
    shared_with_java w{4};
    run_record before;
    before.through = w.c.loop.wall_now() + 20s;
    w.c.set("/settle/ext/run/" + std::to_string(w.owned[1]), before.to_text());
    w.java.begin(w.owned[1]);
    w.c.run_for(1s);
    w.java.die();
    w.c.run_for(5s);
    auto const runs = w.c.all(heard::kind::started, w.owned[1]);
    REQUIRE(runs.size() == 1);
    CHECK(runs[0].source == run_source::failover);
    CHECK(runs[0].due == before.through + 1ms);
    w.c.run_for(30s);
    CHECK(w.c.started().size() == 1);
    CHECK(w.c.violations.empty());
}

TEST_CASE("scheduler.job: runs of a dead Java member that do not fit into one request run again nevertheless") {
    constexpr std::size_t checkpoint = 4'000;
    shared_with_java w{
        16, "10.0.0.7@-@815", {.limits = {.request_bytes_max = 3 * checkpoint, .operations_max = 100'000}}};
    begin_with_checkpoints(w.java, w.owned, checkpoint);
    w.c.run_for(1s);
    w.java.die();
    w.c.run_for(5s);
    CHECK(w.c.started() == w.owned);
    CHECK(share_of(w.c, w.java.id, 16).empty());
    CHECK(w.c.count(heard::kind::trouble) == 0);
    CHECK(w.c.violations.empty());
}

TEST_CASE("scheduler.job: such runs run again whichever of its requests is the leader's last") {
    constexpr std::size_t checkpoint = 4'000;
    int deaths = 0;
    for (std::string const victim_id : {"10.0.0.7@-@815", "10.0.0.1@-@815"})
        for (int last = 0;; ++last) {
            INFO(victim_id << " dies, and then our leader with its write number " << last);
            cluster c{{.limits = {.request_bytes_max = 3 * checkpoint, .operations_max = 100'000}}};
            auto& leader = c.add("10.0.0.5");
            REQUIRE(leader.schedule(failover_job(18)));
            c.run_for(1s);
            REQUIRE(c.add("10.0.0.6").schedule(failover_job(18)));
            c.run_for(1s);
            java_member victim{c, victim_id};
            c.run_for(1s);
            auto const owned = share_of(c, victim.id, 18);
            REQUIRE(owned.size() == 6);
            begin_with_checkpoints(victim, owned, checkpoint);
            c.run_for(1s);
            int writes = 0;
            {
                losing const network{c.server, [&](std::int64_t session, operation::kind const* write) {
                                         if (!write || session != leader.registry.session().id || writes++ != last)
                                             return request_fate::served;
                                         post(c.loop, [&] { leader.registry.expire(); });
                                         post(c.loop, [&] { leader.registry.disconnect(); });
                                         return request_fate::request_lost;
                                     }};
                victim.die();
                c.run_for(60s);
            }
            if (writes <= last || !share_of(c, leader.id("settle"), 18).empty()) break;
            ++deaths;
            for (auto const i : owned) CHECK_FALSE(c.all(heard::kind::started, i).empty());
            CHECK(c.violations.empty());
        }
    CHECK(deaths > 4);
}

TEST_CASE("scheduler.job: the next leader makes up for the runs of a Java member that led and died") {
    dying_java w{9};
    w.c.run_for(1s);
    transaction t{w.victim->registry.session().generation};
    t.remove(cluster::parsed("/settle/leader/election/instance"));
    t.create(cluster::parsed("/settle/leader/election/instance"), w.victim->id, create_mode::ephemeral);
    REQUIRE(w.c.wait_for(w.victim->registry.commit(std::move(t))).value());
    w.c.run_for(1s);
    w.victim->die();
    w.c.run_for(5s);
    CHECK(w.c.started() == items{w.owned[0], w.owned[1]});
}

TEST_CASE("scheduler.job: a Java member that leaves in order, or has failover off, leaves nothing to make up for") {
    SUBCASE("in order") {
        dying_java w{9};
        w.victim->remove("/settle/instances/" + w.victim->id);
        w.c.run_for(100ms);
        w.victim->die();
        w.c.run_for(5s);
        CHECK(w.c.started().empty());
        CHECK_FALSE(w.c.has("/settle/leader/failover"));
    }
    SUBCASE("failover is off") {
        dying_java w{9};
        auto job = failover_job(9);
        job.failover = false;
        w.c.set("/settle/config", to_json(job));
        w.c.run_for(1s);
        w.victim->die();
        w.c.run_for(5s);
        CHECK(w.c.started().empty());
    }
}

TEST_CASE("scheduler.job: instants that a Java member has run are not repeated when the last such member is gone") {
    cluster c;
    auto& ours = c.add("10.0.0.5");
    REQUIRE(ours.schedule(failover_job(2)));
    c.run_for(1s);
    c.run_for(1h);
    java_member java{c, "10.0.0.9@-@4711"};
    c.run_for(1s);
    auto const javas = share_of(c, java.id, 2);
    REQUIRE(javas.size() == 1);
    auto const item = javas[0];
    c.run_for(2h + 10min);
    c.log.clear();
    SUBCASE("because it has left") {
        java.remove("/settle/instances/" + java.id);
        c.run_for(1min);
        CHECK(c.started().empty());
        auto const record = run_record::parse(c.data("/settle/ext/run/" + std::to_string(item)));
        REQUIRE(record);
        CHECK(record->through >= c.loop.wall_now() - 2min); // for the next owner
    }
    SUBCASE("because it has left, and still runs the item") {
        java.begin(item);
        java.remove("/settle/instances/" + java.id);
        auto const before = c.server.counts().all();
        c.run_for(1min);
        CHECK(c.started().empty());
        CHECK(c.count(heard::kind::trouble) == 0);
        CHECK(c.server.counts().all() - before < 60);
        auto const record = run_record::parse(c.data("/settle/ext/run/" + std::to_string(item)));
        REQUIRE(record);
        CHECK(record->through >= c.loop.wall_now() - 2min);
        java.end(item);
    }
    SUBCASE("because it has died during a run") {
        java.begin(item);
        c.run_for(1s);
        java.die();
        c.run_for(1min);
        CHECK(c.started() == items{item});
        CHECK(c.all(heard::kind::started, item).front().source == run_source::failover);
    }
    c.run_for(50min);
    REQUIRE(c.count(heard::kind::started, item) >= 1);
    CHECK(c.all(heard::kind::started, item).back().source == run_source::schedule);
}

TEST_CASE("scheduler.job: the same holds if that member led the job last, and was asked for a sharding") {
    cluster c;
    auto& leader = c.add("10.0.0.5");
    REQUIRE(leader.schedule(failover_job(3)));
    REQUIRE(c.add("10.0.0.6").schedule(failover_job(3)));
    c.run_for(1s);
    java_member java{c, "10.0.0.9@-@4711"};
    c.run_for(2h + 10min);
    auto const javas = share_of(c, java.id, 3);
    REQUIRE(javas.size() == 1);
    c.log.clear();
    transaction t{java.registry.session().generation};
    t.remove(cluster::parsed("/settle/leader/election/instance"));
    t.create(cluster::parsed("/settle/leader/election/instance"), java.id, create_mode::ephemeral);
    t.create(cluster::parsed("/settle/leader/sharding/necessary"), {});
    REQUIRE(c.wait_for(java.registry.commit(std::move(t))).value());
    c.run_for(1s);
    java.remove("/settle/instances/" + java.id); // before its next firing
    java.remove("/settle/leader/election/instance");
    c.run_for(1min);
    REQUIRE(share_of(c, java.id, 3).empty());
    CHECK(c.started().empty());
}

TEST_CASE("scheduler.job: an idle Java member that dies makes no completed run of ours run again") {
    cluster c;
    auto& ours = c.add("10.0.0.5");
    REQUIRE(ours.schedule(failover_job(6)));
    c.run_for(1s);
    ours.holds = true;
    c.run_for(1h);
    REQUIRE(ours.held() == 6);
    java_member java{c, "10.0.0.9@-@4711"};
    c.run_for(1s);
    REQUIRE(share_of(c, java.id, 6).size() >= 2);
    ours.holds = false;
    ours.release_all(); // all ends are one transaction
    c.run_for(1min);
    REQUIRE(ours.held() == 0);
    c.log.clear();
    java.die();
    c.run_for(1min);
    CHECK(c.started().empty());
}

TEST_CASE("scheduler.job: a run of a dead Java member runs again, even if its item has moved meanwhile") {
    shared_with_java w{6, "10.0.0.9@-@4711"};
    for (auto const i : w.owned) w.java.begin(i);
    w.c.run_for(1s);
    REQUIRE(w.c.add("10.0.0.99").schedule(failover_job(6)));
    w.c.run_for(10s);
    REQUIRE(share_of(w.c, w.java.id, 6).size() < w.owned.size());
    w.java.die();
    w.c.run_for(1min);
    for (auto const i : w.owned) {
        CAPTURE(i);
        CHECK(w.c.count(heard::kind::started, i) == 1);
    }
    CHECK(w.c.started().size() == w.owned.size());
}

TEST_CASE("scheduler.job: a disabled item of a dead Java member is not flagged for the others, which would run it") {
    dying_java w{9};
    auto const item = std::to_string(w.owned[0]);
    w.c.create("/settle/sharding/" + item + "/disabled");
    w.victim->die();
    w.c.run_for(100ms);
    CHECK_FALSE(w.c.has("/settle/leader/failover/items/" + item));
    w.c.run_for(1min);
    CHECK(w.c.started() == items{w.owned[1]});
}

TEST_CASE("scheduler.job: an owner that was cut off repeats no run that a Java member has made up for") {
    cluster c;
    auto& leader = c.add("10.0.0.5");
    auto& owner = c.add("10.0.0.6");
    for (auto* m : {&leader, &owner}) REQUIRE(m->schedule(failover_job(8)));
    c.run_for(1s);
    java_member victim{c, "10.0.0.1@-@4711"}, other{c, "10.0.0.8@-@4711"};
    c.run_for(1s);
    auto const javas = share_of(c, victim.id, 8);
    for (auto const i : javas) victim.begin(i);
    c.run_for(1s);
    disconnect(c, owner);
    victim.die();
    c.run_for(1s);
    items made_up;
    for (auto const i : javas) { // as a Java member does at the end of its own execution
        auto const flag = "/settle/leader/failover/items/" + std::to_string(i);
        auto const failover = "/settle/sharding/" + std::to_string(i) + "/failover";
        if (!c.has(flag)) continue;
        other.create(failover, other.id);
        c.remove(flag);
        other.begin(i);
        c.run_for(100ms);
        other.end(i);
        other.remove(failover);
        made_up.push_back(i);
    }
    REQUIRE(!made_up.empty());
    c.run_for(500ms);
    reconnect(c, owner);
    c.run_for(1min);
    for (auto const i : javas) {
        CAPTURE(i);
        bool const by_java = std::find(made_up.begin(), made_up.end(), i) != made_up.end();
        CHECK(c.count(heard::kind::started, i) == (by_java ? 0 : 1));
    }
}

TEST_CASE("scheduler.adoption: no interrupted run is left out if members divided the items by different lists") {
    cluster c;
    auto& cut_off = c.add("10.0.0.6");
    auto& leader = c.add("10.0.0.5");
    auto& victim = c.add("10.0.0.2");
    REQUIRE(leader.schedule(failover_job(24)));
    c.run_for(1s);
    for (auto* m : {&cut_off, &victim}) REQUIRE(m->schedule(failover_job(24)));
    java_member java{c, "10.0.0.1@-@4711"};
    c.run_for(1s);
    victim.holds = true;
    c.run_for(1h);
    auto const interrupted = share_of(c, victim.id("settle"), 24);
    REQUIRE(victim.held() == interrupted.size());
    c.log.clear();
    disconnect(c, cut_off);
    c.run_for(200ms);
    post(c.loop, [&] { victim.registry.expire(); });
    post(c.loop, [&] { victim.registry.disconnect(); });
    c.loop.run_ready();
    c.run_for(500ms);
    REQUIRE(c.add("10.0.0.0").schedule(failover_job(24)));
    c.run_for(500ms);
    reconnect(c, cut_off);
    c.run_for(2min);
    for (auto const i : interrupted) {
        CAPTURE(i);
        CHECK(c.count(heard::kind::started, i) == 1);
    }
}
