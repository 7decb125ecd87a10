// SPDX-License-Identifier: Apache-2.0
// Instances that die while their items run. To the others, an instance that is cut off for good is dead.
#include <elasticjob/execution/run_record.hpp>

#include <support/cluster.hpp>

#include <doctest/doctest.h>

using namespace elasticjob;
using namespace elasticjob::test;

namespace {

using items = std::vector<item_index>;

job_config hourly(int count) {
    auto job = make_job("settle", "0 0 * * * ?", count);
    job.failover = true;
    return job;
}

/// All members in the job, and the hour is near.
void join_all(cluster& c, job_config const& job) {
    for (auto& m : c.members) REQUIRE(m->schedule(job));
    c.run_for(59min + 59s);
    REQUIRE(c.started().empty());
}

} // namespace

TEST_CASE(
    "failover: exactly the items that were running on the dead instance are run again, once, elsewhere (D-1, D-2)") {
    cluster c;
    for (int n = 0; n < 3; ++n) c.add();
    join_all(c, hourly(9));
    auto& dead = *c.members[0];
    auto const share = share_of(c, dead.id("settle"), 9);
    REQUIRE(share.size() == 3);
    dead.holds = true;
    c.run_for(2s);
    REQUIRE(dead.held() == 3);
    REQUIRE(dead.release(share[1])); // one of them ends in time
    c.run_for(1s);
    disconnect(c, dead);
    c.run_for(30s);
    for (item_index i = 0; i < 9; ++i) {
        bool const was_interrupted = i == share[0] || i == share[2];
        auto const runs = c.all(heard::kind::started, i);
        REQUIRE(runs.size() == (was_interrupted ? 2 : 1));
        if (!was_interrupted) continue;
        CHECK(runs[1].source == run_source::failover);
        CHECK(runs[1].attempt == 2);
        CHECK(runs[1].due == runs[0].due);
        CHECK(runs[1].token > runs[0].token);
        CHECK(runs[1].member != dead.number);
        CHECK(record_of(c, i).ledger.size() == 2);
        CHECK(record_of(c, i).ledger[0].outcome == run_outcome::retried);
        CHECK(record_of(c, i).ledger[1].outcome == run_outcome::completed);
        CHECK_FALSE(c.has("/settle/sharding/" + std::to_string(i) + "/failover"));
    }
    // The interrupted items go to different survivors.
    CHECK(c.all(heard::kind::started, share[0])[1].member != c.all(heard::kind::started, share[2])[1].member);

    // The instance that was taken for dead comes back, and its runs end. They do not count, and no item runs again.
    post(c.loop, [&] { dead.registry.reconnect(); });
    dead.holds = false;
    dead.release_all();
    c.run_for(30s);
    CHECK(c.count(heard::kind::started) == 11);
    CHECK(c.count(heard::kind::fenced) == 2);
    CHECK(c.violations.empty());
    c.run_for(1h);
    CHECK(c.count(heard::kind::started) == 20);
}

TEST_CASE("failover: an orderly exit, and the death of an idle instance, fail over nothing (D-1)") {
    for (bool const is_orderly : {true, false}) {
        cluster c;
        for (int n = 0; n < 2; ++n) c.add();
        join_all(c, hourly(4));
        c.run_for(2s);
        REQUIRE(c.count(heard::kind::started) == 4);
        if (is_orderly)
            REQUIRE(c.members[0]->shutdown("settle"));
        else
            disconnect(c, *c.members[0]);
        c.run_for(10min);
        CHECK(c.count(heard::kind::started) == 4);
        c.run_for(1h);
        CHECK(c.count(heard::kind::started) == 8);
    }
}

TEST_CASE("failover: one survivor takes all items, however many, even while it is busy itself (D-3, D-5)") {
    cluster c;
    for (int n = 0; n < 2; ++n) c.add();
    join_all(c, hourly(40));
    auto& dead = *c.members[0];
    auto& survivor = *c.members[1];
    dead.holds = survivor.holds = true;
    c.run_for(2s);
    REQUIRE(dead.held() == 20);
    REQUIRE(survivor.held() == 20);
    disconnect(c, dead);
    c.run_for(12s);
    CHECK(survivor.held() == 40);
    survivor.holds = false;
    survivor.release_all();
    c.run_for(10min);
    CHECK(c.count(heard::kind::started) == 60); // its own items were not run again
    for (item_index i = 0; i < 40; ++i) CHECK_FALSE(record_of(c, i).running);
}

TEST_CASE("failover: when the instance that took over dies too, the next one takes over (D-4)") {
    cluster c;
    for (int n = 0; n < 4; ++n) c.add();
    join_all(c, hourly(1));
    for (auto& m : c.members) m->holds = true;
    c.run_for(2s);
    for (std::uint32_t attempt = 1; attempt < 4; ++attempt) {
        auto const runs = c.all(heard::kind::started, 0);
        REQUIRE(runs.size() == attempt);
        CHECK(runs.back().attempt == attempt);
        disconnect(c, *c.members[runs.back().member]);
        c.run_for(15s);
    }
    REQUIRE(c.count(heard::kind::started) == 4);
    for (auto& m : c.members) {
        m->holds = false;
        m->release_all();
    }
    c.run_for(10min);
    CHECK(c.count(heard::kind::started) == 4);
    CHECK(record_of(c, 0).ledger.back().outcome == run_outcome::completed);
    CHECK(record_of(c, 0).ledger.back().run.attempt == 4);
}

TEST_CASE("failover: disabled items stay as they are, and disabled servers take nothing (D-7)") {
    cluster c;
    for (int n = 0; n < 3; ++n) c.add();
    join_all(c, hourly(3));
    auto& dead = *c.members[0];
    auto const mine = share_of(c, dead.id("settle"), 3);
    REQUIRE(mine.size() == 1);
    dead.holds = true;
    c.run_for(2s);
    REQUIRE(dead.held() == 1);
    c.create("/settle/sharding/" + std::to_string(mine[0]) + "/disabled");
    disconnect(c, dead);
    c.run_for(30s);
    CHECK(c.all(heard::kind::started, mine[0]).size() == 1);
    CHECK(c.skips(events::skip_reason::disabled) == 1);
    c.remove("/settle/sharding/" + std::to_string(mine[0]) + "/disabled");

    c.run_for(1h - 35s);
    auto& second = *c.members[1];
    auto& third = *c.members[2];
    second.holds = true;
    c.run_for(10s);
    auto const held = second.held();
    REQUIRE(held > 0);
    auto const before = c.count(heard::kind::started);
    REQUIRE(third.disable("settle"));
    c.run_for(1s);
    disconnect(c, second);
    c.run_for(30s);
    CHECK(c.count(heard::kind::started) == before);
    REQUIRE(third.enable("settle"));
    c.run_for(30s);
    CHECK(c.count(heard::kind::started) == before + held);
}

TEST_CASE("failover: with failover switched off, an interrupted run is on record and does not run again") {
    cluster c;
    for (int n = 0; n < 2; ++n) c.add();
    auto job = hourly(1);
    job.failover = false;
    join_all(c, job);
    for (auto& m : c.members) m->holds = true;
    c.run_for(2s);
    auto const first = c.all(heard::kind::started, 0);
    REQUIRE(first.size() == 1);
    disconnect(c, *c.members[first[0].member]);
    c.run_for(30min);
    CHECK(c.count(heard::kind::started) == 1);
    c.run_for(30min);
    REQUIRE(c.count(heard::kind::started) == 2);
    CHECK(record_of(c, 0).ledger.at(0).outcome == run_outcome::interrupted);
    CHECK(record_of(c, 0).running->attempt == 1);
}

TEST_CASE("failover: when all instances have died, the next one to join runs the interrupted items") {
    cluster c;
    auto& dead = c.add();
    join_all(c, hourly(2));
    dead.holds = true;
    c.run_for(2s);
    REQUIRE(dead.release(0));
    c.run_for(1s);
    disconnect(c, dead);
    c.run_for(10min);
    auto& late = c.add();
    REQUIRE(late.schedule(hourly(2)));
    c.run_for(1s);
    CHECK(c.all(heard::kind::started, 0).size() == 1);
    auto const runs = c.all(heard::kind::started, 1);
    REQUIRE(runs.size() == 2);
    CHECK(runs[1].member == late.number);
    CHECK(runs[1].attempt == 2);
}

TEST_CASE(
    "failover: an item that has been given away while it runs is run again by the new owner, if the old one dies") {
    cluster c;
    auto& old = c.add();
    join_all(c, hourly(2));
    old.holds = true;
    c.run_for(2s);
    auto& fresh = c.add();
    REQUIRE(fresh.schedule(hourly(2)));
    c.run_for(10s);
    auto const moved = share_of(c, fresh.id("settle"), 2);
    REQUIRE(moved.size() == 1);
    CHECK(c.started(fresh.number).empty()); // it waits
    disconnect(c, old);
    c.run_for(30s);
    CHECK(c.started(fresh.number) == items{0, 1});
    for (auto const& h : c.log)
        if (h.what == heard::kind::started && h.member == fresh.number) CHECK(h.source == run_source::failover);
    CHECK(c.violations.empty());
}

TEST_CASE("failover: when a session ends but its instance lives on, the first to take the item has it; the other is "
          "refused") {
    cluster c;
    for (int n = 0; n < 2; ++n) c.add();
    join_all(c, hourly(1));
    for (auto& m : c.members) m->holds = true;
    c.run_for(2s);
    auto const first = c.all(heard::kind::started, 0);
    REQUIRE(first.size() == 1);
    auto& owner = *c.members[first[0].member];
    post(c.loop, [&] { owner.registry.expire(); });
    c.run_for(30s);
    auto const runs = c.all(heard::kind::started, 0);
    REQUIRE(runs.size() <= 2);
    for (auto& m : c.members) {
        m->holds = false;
        m->release_all();
    }
    c.run_for(30s);
    CHECK(c.count(heard::kind::started) == runs.size());
    CHECK(c.count(heard::kind::fenced) == runs.size() - 1);
    CHECK(record_of(c, 0).ledger.back().outcome == run_outcome::completed);
    CHECK(c.violations.empty());
}

TEST_CASE("scheduler.item_runs: an early run is repeated no earlier than its instant, also by a member without "
          "`start_ahead`") {
    for (auto const span : {0ms, 50ms, 1000ms}) {
        memory_server_options o;
        o.session_timeout = 300ms;
        cluster c{o};
        c.start_ahead = 1s;
        auto& one = c.add();
        auto job = make_job("settle", "0 * * * * ?", 2);
        job.failover = true;
        REQUIRE(one.schedule(job));
        c.start_ahead = span;
        auto& two = c.add();
        REQUIRE(two.schedule(job));
        auto const due = std::chrono::floor<std::chrono::minutes>(c.loop.wall_now()) + 1min;
        c.run_for(due - c.loop.wall_now() - 900ms);
        item_index const i = c.owner("settle", 0) == one.id("settle") ? 0 : 1;
        REQUIRE(record_of(c, i).running->due == due);
        std::vector<wall_time> bodies; // that begin
        for (auto* m : {&one, &two})
            m->body = [&](sharding_context const& ctx) -> result<void> {
                if (ctx.item == i) bodies.push_back(c.loop.wall_now());
                return success();
            };
        disconnect(c, one); // its session ends 600 ms before the instant
        c.run_for(600ms);
        REQUIRE(record_of(c, i).running->attempt == 2);
        CHECK(record_of(c, i).running->begun == due);
        auto const first = record_of(c, i).ledger.back();
        CHECK(first.outcome == run_outcome::retried);
        CHECK(first.ended == first.run.begun); // and not before that
        c.run_for(10s);
        REQUIRE(bodies.size() == 1); // the other body was not called, because its lease was over
        CHECK(bodies[0] == due);
    }
}
