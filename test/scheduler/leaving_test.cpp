// SPDX-License-Identifier: Apache-2.0
// A scheduler ends while the registry does not answer, and the registry object, with its session, goes on.
#include <elasticjob/execution/run_record.hpp>
#include <elasticjob/scheduler/job_scheduler.hpp>

#include <support/cluster.hpp>

#include <doctest/doctest.h>

#include <functional>
#include <string>
#include <vector>

using namespace elasticjob;
using namespace elasticjob::test;

namespace {

std::string instance_path(member& m) { return "/settle/instances/" + m.id("settle"); }

bool owns_all(cluster& c, member& m, item_index count) {
    for (item_index i = 0; i < count; ++i)
        if (c.owner("settle", i) != m.id("settle")) return false;
    return true;
}

} // namespace

TEST_CASE("scheduler.job: nodes that a scheduler could not remove in an outage are removed when the registry is back") {
    for (bool const is_leader : {false, true}) {
        INFO("the leader leaves: " << is_leader);
        cluster c;
        auto& first = c.add();
        auto& second = c.add();
        auto const job = make_job("settle", "0/5 * * * * ?", 4);
        REQUIRE(first.schedule(job));
        REQUIRE(second.schedule(job));
        c.run_for(2s);
        auto& leaver = is_leader ? first : second;
        auto& other = is_leader ? second : first;
        auto const path = instance_path(leaver);
        REQUIRE(c.find(path));
        on_loop(c, [&] { leaver.registry.disconnect(); });
        leaver.destroy_scheduler(); // takes five seconds
        REQUIRE(c.find(path));
        auto const troubles = c.troubles();
        REQUIRE(troubles.size() == 1);
        CHECK(troubles[0].member == leaver.number);
        CHECK(troubles[0].failure->where == path);
        on_loop(c, [&] { leaver.registry.reconnect(); }); // the same session
        c.run_for(3s);
        CHECK_FALSE(c.find(path));
        CHECK(c.data("/settle/leader/election/instance") == other.id("settle"));
        CHECK(owns_all(c, other, 4));
        c.run_for(20s);
        CHECK(c.violations.empty());
    }
}

TEST_CASE("scheduler.job: nodes that could not be removed go with their session, and the next session's nodes are not "
          "touched") {
    cluster c;
    auto& m = c.add();
    auto const job = make_job("settle", "0/5 * * * * ?", 2);
    REQUIRE(m.schedule(job));
    c.run_for(2s);
    on_loop(c, [&] { m.registry.disconnect(); });
    m.destroy_scheduler();
    c.run_for(10s); // longer than the session
    on_loop(c, [&] { m.registry.reconnect(); });
    c.run_for(1s);
    CHECK(c.find("/settle/instances")->stat.children == 0);
    auto const path = "/settle/instances/" + m.id("settle");
    c.wait_for(m.registry.create(cluster::parsed(path), "", create_mode::ephemeral)).value();
    c.run_for(1min);
    CHECK(c.find(path));
}

TEST_CASE(
    "scheduler.job: an access list that blocks leaving is reported, and the nodes go when it has been corrected") {
    cluster c;
    auto& m = c.add();
    REQUIRE(m.schedule(make_job("settle", never, 2)));
    c.run_for(2s);
    auto const path = instance_path(m);
    c.set_read_only("/settle/instances");
    CHECK(m.shutdown("settle").error() == errc::no_auth);
    CHECK(c.count(heard::kind::trouble) == 1);
    auto const before = c.server.counts().all();
    c.run_for(10min);
    CHECK(c.server.counts().all() - before < 400); // at intervals of up to ten seconds
    CHECK(c.find(path));
    c.set_read_only("/settle/instances", false);
    c.run_for(11s);
    CHECK_FALSE(c.find(path));
    CHECK_FALSE(c.find("/settle/leader/election/instance"));
}

TEST_CASE("scheduler.job: an end that meets an outage is recorded, if the registry is back before the drain time-out") {
    cluster c;
    auto& m = c.add();
    REQUIRE(m.schedule(make_job("settle", never, 1)));
    c.run_for(1s);
    m.holds = true;
    REQUIRE(m.trigger("settle"));
    c.run_for(1s);
    REQUIRE(m.held() == 1);
    std::chrono::seconds outage{};
    SUBCASE("of the same session") { outage = 5s; }
    SUBCASE("longer than the session") { outage = 20s; }
    task_scope later;
    post(c.loop, [&] {
        m.registry.disconnect();
        later.spawn([](cluster& where, member& who, std::chrono::seconds span) -> task<void> {
            co_await sleep_until(where.loop, where.loop.now() + span / 2);
            if (span > 10s) who.registry.expire();
            co_await sleep_until(where.loop, where.loop.now() + span / 2);
            if (span <= 10s) who.registry.reconnect();
        }(c, m, outage));
    });
    c.run_for(1s);
    m.release_all();
    CHECK(m.shutdown("settle"));
    auto const record = run_record::parse(c.data("/settle/ext/run/0")).value();
    CHECK_FALSE(record.running);
    REQUIRE(record.ledger.size() == 1);
    CHECK(record.ledger.front().outcome == run_outcome::completed);
}

TEST_CASE(
    "scheduler.job: when the parent of the instances' nodes is deleted, their leaving is reported with the reason") {
    cluster c;
    auto& m = c.add();
    REQUIRE(m.schedule(make_job("settle", never, 1)));
    c.run_for(1s);
    SUBCASE("the parent") {
        c.remove_tree("/settle/instances");
        c.run_for(5s);
        REQUIRE(c.troubles().size() == 1);
        CHECK(*c.last_trouble() == errc::no_node);
        CHECK(c.last_trouble()->where == "/settle/instances");
    }
    SUBCASE("one instance, as an operator does it") {
        c.remove(instance_path(m));
        c.run_for(5s);
        CHECK(c.troubles().empty());
    }
    CHECK(c.count(heard::kind::left) == 1);
}
