// SPDX-License-Identifier: Apache-2.0
// From a due instant to the end of the runs.
#include <elasticjob/config/json_codec.hpp>

#include <support/cluster.hpp>

#include <doctest/doctest.h>

#include <stdexcept>

using namespace elasticjob;
using namespace elasticjob::test;

namespace {

using items = std::vector<item_index>;

} // namespace

TEST_CASE("scheduler.item_runs: a tick of a hundred items makes one request to start and one to end, and no other") {
    cluster c;
    auto& m = c.add();
    REQUIRE(m.schedule(make_job("settle", "0/5 * * * * ?", 100)));
    c.run_for(6s);
    c.server.counts() = {};
    c.log.clear();
    c.run_for(5s);
    CHECK(c.started().size() == 100);
    CHECK(c.count(heard::kind::finished) == 100);
    CHECK(c.server.counts().writes == 2);
    CHECK(c.server.counts().reads == 0);
}

TEST_CASE(
    "scheduler.item_runs: a tick that is started ahead of time makes no more requests, the first before its instant") {
    cluster c;
    c.start_ahead = 50ms;
    REQUIRE(c.add().schedule(make_job("settle", "0/5 * * * * ?", 100)));
    c.run_for(6s);
    c.server.counts() = {};
    c.log.clear();
    c.run_for(3'949ms);
    CHECK(c.server.counts().writes == 0);
    c.run_for(1ms);
    CHECK(c.server.counts().writes == 1);
    CHECK(c.is_marked("settle", 99));
    c.run_for(49ms);
    CHECK(c.log.empty());
    c.run_for(1s);
    CHECK(c.started().size() == 100);
    CHECK(c.count(heard::kind::finished) == 100);
    CHECK(c.server.counts().writes == 2);
    CHECK(c.server.counts().reads == 0);
}

TEST_CASE("scheduler.item_runs: without monitoring no item is marked, and operators can still disable items") {
    cluster c;
    auto& m = c.add();
    auto job = make_job("settle", "0/5 * * * * ?", 3);
    job.monitor_execution = false;
    REQUIRE(m.schedule(job));
    c.run_for(1s);
    c.create("/settle/sharding/1/disabled");
    m.holds = true;
    c.server.counts() = {};
    c.run_for(5s);
    CHECK(c.started() == items{0, 2});
    for (item_index i = 0; i < 3; ++i) CHECK_FALSE(c.is_marked("settle", i));
    m.release_all();
    c.run_for(1s);
    CHECK(c.server.counts().writes == 0);
    CHECK(c.count(heard::kind::finished) == 2);
}

TEST_CASE("scheduler.item_runs: runs without a record are not repeated when monitoring is switched on again") {
    cluster c;
    auto job = make_job("settle", "0 0 * * * ?", 2);
    job.on_misfire.rule = misfire_rule::all;
    auto const switch_monitoring = [&](bool is_on) {
        job.monitor_execution = is_on;
        c.set("/settle/config", to_json(job));
    };
    REQUIRE(c.add().schedule(job));
    c.run_for(1h + 1min);
    switch_monitoring(false);
    c.run_for(1h);
    SUBCASE("by the same member") {}
    SUBCASE("with another schedule") {
        job.cron = "0 30 * * * ?";
        switch_monitoring(false);
        c.run_for(1h);
    }
    SUBCASE("by a member that has joined meanwhile") {
        REQUIRE(c.add().schedule(job));
        c.run_for(1min);
        REQUIRE(c.members[0]->shutdown("settle"));
        c.run_for(2h);
    }
    c.log.clear();
    switch_monitoring(true);
    c.run_for(10min);
    CHECK(c.count(heard::kind::started) == 0);
    for (item_index i = 0; i < 2; ++i) CHECK(record_of(c, i).through > c.loop.wall_now() - 1h); // for the next owner
    c.run_for(50min);
    CHECK(c.started() == items{0, 1});
    CHECK(c.count(heard::kind::trouble) == 0);
}

TEST_CASE("scheduler.item_runs: a disabled item is skipped and reported until it is enabled (RN-11)") {
    cluster c;
    REQUIRE(c.add().schedule(make_job("settle", "0/5 * * * * ?", 2)));
    c.run_for(1s);
    c.create("/settle/sharding/1/disabled");
    c.run_for(10s);
    CHECK(c.started() == items{0, 0});
    CHECK(c.skips(events::skip_reason::disabled) == 2);
    CHECK_FALSE(c.is_marked("settle", 1));
    c.remove("/settle/sharding/1/disabled");
    c.run_for(5s);
    CHECK(c.count(heard::kind::started, 1) == 1);
}

TEST_CASE("scheduler.item_runs: an item that fails or throws disturbs no other item, and is reported with its reason") {
    cluster c;
    auto& m = c.add();
    m.body = [](sharding_context const& ctx) -> result<void> {
        if (ctx.item == 0) throw std::runtime_error{"out of paper"};
        if (ctx.item == 1) return error{errc::job_failed, "no account"};
        return success();
    };
    REQUIRE(m.schedule(make_job("settle", "0/5 * * * * ?", 3)));
    c.run_for(11s);
    CHECK(c.started() == items{0, 0, 1, 1, 2, 2});
    for (auto const& h : c.log) {
        if (h.what != heard::kind::finished) continue;
        REQUIRE(h.failure.has_value() == (h.item != 2));
        if (h.item == 0) CHECK(*h.failure == errc::job_threw);
        if (h.item == 0) CHECK(h.failure->what == "out of paper");
        if (h.item == 1) CHECK(*h.failure == error{errc::job_failed, "no account"});
    }
    for (item_index i = 0; i < 3; ++i) CHECK_FALSE(c.is_marked("settle", i));
}

TEST_CASE("scheduler.item_runs: an item that still runs at its next instant is skipped and reported; its siblings are "
          "not delayed") {
    cluster c;
    auto& m = c.add();
    auto job = make_job("settle", "0/5 * * * * ?", 2);
    job.misfire = false;
    REQUIRE(m.schedule(job));
    c.run_for(1s);
    m.holds = true;
    c.run_for(4s);
    REQUIRE(m.release(0));
    m.holds = false;
    c.run_for(5s);
    CHECK(c.started() == items{0, 0, 1});
    CHECK(c.skips(events::skip_reason::still_running) == 1);
    CHECK(c.is_marked("settle", 1));
    m.release_all();
    c.run_for(5s);
    CHECK(c.count(heard::kind::started, 1) == 2);
}

TEST_CASE("scheduler.item_runs: a full pool is reported for each item, and the marks are removed") {
    cluster c;
    auto& m = c.add();
    REQUIRE(m.schedule(make_job("settle", "0/5 * * * * ?", 3)));
    c.run_for(1s);
    m.refuses = true;
    c.run_for(5s);
    CHECK(c.skips(events::skip_reason::overloaded) == 3);
    CHECK(c.count(heard::kind::finished) == 0);
    for (item_index i = 0; i < 3; ++i) CHECK_FALSE(c.is_marked("settle", i));
    m.refuses = false;
    c.run_for(5s);
    CHECK(c.count(heard::kind::finished) == 3);
}

TEST_CASE("scheduler.item_runs: an item that still runs elsewhere is waited for, and then started, once") {
    cluster c;
    auto& one = c.add();
    auto const job = make_job("settle", "0/5 * * * * ?", 2);
    REQUIRE(one.schedule(job));
    c.run_for(1s);
    one.holds = true;
    c.run_for(5s);
    REQUIRE(one.held() == 2);
    auto& two = c.add();
    REQUIRE(two.schedule(job));
    c.run_for(1s);
    REQUIRE(c.owner("settle", 0) == two.id("settle")); // the assignment flips at once
    c.run_for(14s);                                    // three instants pass
    CHECK(c.started(1).empty());
    CHECK(c.count(heard::kind::misfired, 0) >= 2);
    one.holds = false;
    one.release(0);
    c.run_for(1s);
    CHECK(c.started(1) == items{0});
    CHECK(c.violations.empty());
    one.release_all();
    c.run_for(9s);
    CHECK(c.violations.empty());
}

TEST_CASE("scheduler.item_runs: an item that goes to another instance while it waits is not started by the instance "
          "that waited") {
    cluster c;
    auto& one = c.add();
    auto const job = make_job("settle", never, 1);
    REQUIRE(one.schedule(job));
    c.run_for(1s);
    one.holds = true;
    REQUIRE(one.trigger("settle"));
    c.run_for(1s);
    auto& two = c.add();
    REQUIRE(two.schedule(job));
    c.run_for(1s);
    REQUIRE(c.owner("settle", 0) == two.id("settle"));
    c.set("/settle/instances/" + two.id("settle"), "TRIGGER");
    c.run_for(1s);
    REQUIRE(two.disable("settle"));
    c.run_for(1s);
    REQUIRE(c.owner("settle", 0) == one.id("settle"));
    one.release_all();
    c.run_for(5s);
    CHECK(c.started(1).empty());
    CHECK(c.skips(events::skip_reason::not_ready) == 1);
}

TEST_CASE(
    "scheduler.item_runs: whichever request or reply is lost in a tick, an item runs at most once and leaves no mark") {
    for (std::uint64_t n = 0; n < 10; ++n)
        for (auto const fate : {request_fate::request_lost, request_fate::reply_lost}) {
            INFO("request " << n);
            cluster c;
            auto& m = c.add();
            REQUIRE(m.schedule(make_job("settle", "0/10 * * * * ?", 4)));
            c.run_for(1s);
            c.create("/settle/sharding/3/disabled"); // so that the member has to look for the obstacle
            losing const network{c.server, losing::nth(m.registry.session().id, n, fate)};
            c.run_for(10s);
            for (item_index i = 0; i < 3; ++i) {
                CHECK(c.count(heard::kind::started, i) + c.count(heard::kind::skipped, i) == 1);
                CHECK_FALSE(c.is_marked("settle", i));
            }
            c.run_for(10s);
            CHECK(c.started().size() >= 3);
            CHECK(c.violations.empty());
        }
}

TEST_CASE("scheduler.item_runs: a body learns the cause of its run from its context") {
    cluster c;
    auto& m = c.add();
    std::vector<std::string> told;
    m.body = [&](sharding_context const& ctx) -> result<void> {
        told.push_back(to_string(ctx));
        CHECK(ctx.due == wall_time{std::chrono::seconds{1'767'225'605}});
        CHECK_FALSE(ctx.stop.stop_requested());
        return success();
    };
    auto job = make_job("settle", "5 * * * * ?", 2);
    job.sharding_item_parameters = "0=Beijing";
    job.job_parameter = "all";
    REQUIRE(m.schedule(job));
    c.run_for(10s);
    REQUIRE(told.size() == 2);
    auto const& id = m.id("settle");
    auto const task = "settle@-@0,1@-@READY@-@" + id;
    CHECK(told[0] == "ShardingContext(jobName=settle, taskId=" + task +
                         ", shardingTotalCount=2, jobParameter=all, shardingItem=0, shardingParameter=Beijing)");
    CHECK(told[1] == "ShardingContext(jobName=settle, taskId=" + task +
                         ", shardingTotalCount=2, jobParameter=all, shardingItem=1, shardingParameter=)");
}

TEST_CASE("scheduler.job: when several instants pass while nothing can start, the last one runs late") {
    cluster c;
    auto& m = c.add();
    REQUIRE(m.schedule(make_job("settle", "0/5 * * * * ?", 1)));
    c.run_for(6s);
    post(c.loop, [&] { m.registry.disconnect(); });
    c.run_for(9s); // its session lives on, two instants pass
    c.log.clear();
    post(c.loop, [&] { m.registry.reconnect(); });
    c.run_for(1s);
    REQUIRE(c.started() == items{0});
    for (auto const& h : c.log)
        if (h.what == heard::kind::started) CHECK(h.due == wall_time{std::chrono::seconds{1'767'225'615}});
    c.run_for(5s);
    CHECK(c.started() == items{0, 0});
}

TEST_CASE(
    "scheduler.job: instants due between two sessions are made up for once, unless another instance has run them") {
    cluster c;
    auto& m = c.add();
    REQUIRE(m.schedule(make_job("settle", "0/5 * * * * ?", 1)));
    c.run_for(6s);
    post(c.loop, [&] { m.registry.disconnect(); });
    c.run_for(32s); // its session ends, six instants pass
    c.log.clear();
    post(c.loop, [&] { m.registry.reconnect(); });
    c.run_for(1s);
    CHECK(c.started() == items{0});
    c.run_for(5s);
    CHECK(c.started() == items{0, 0});
}

TEST_CASE("scheduler.job: a clock that is put forward is noticed within a minute; a clock that is put back fires "
          "nothing twice") {
    cluster c;
    REQUIRE(c.add().schedule(make_job("settle", "0 0 * * * ?", 1)));
    c.run_for(30min);
    CHECK(c.started().empty());
    c.loop.set_wall(c.loop.wall_now() + 45min);
    c.run_for(1min);
    CHECK(c.started() == items{0});
    c.loop.set_wall(c.loop.wall_now() - 20min); // before the hour again
    c.run_for(30min);
    CHECK(c.started() == items{0});
    c.run_for(1h);
    CHECK(c.started() == items{0, 0});
}

TEST_CASE("scheduler.job: a clock that was a day ahead and is corrected leaves nothing behind that keeps items from "
          "running") {
    for (bool const is_disabled_meanwhile : {false, true}) {
        cluster c;
        auto& m = c.add();
        auto job = make_job("settle", "0/5 * * * * ?", 1);
        job.misfire = false;
        REQUIRE(m.schedule(job));
        c.run_for(6s);
        REQUIRE(c.started() == items{0});
        c.loop.set_wall(c.loop.wall_now() + 24h);
        c.run_for(61s); // it is noticed within a minute
        if (is_disabled_meanwhile) {
            REQUIRE(m.disable("settle"));
            c.run_for(1s);
            REQUIRE(m.enable("settle"));
        }
        c.run_for(10s);
        CHECK(c.started().size() > 2);
        c.loop.set_wall(c.loop.wall_now() - 24h);
        c.run_for(1min);
        c.log.clear();
        c.run_for(10s);
        CHECK(c.started() == items{0, 0});
    }
}

TEST_CASE("scheduler.job: with a Java leader a firing waits a bounded time for its sharding, and runs the items that "
          "it assigns") {
    cluster c;
    c.create("/settle");
    for (auto const* path : {"/settle/leader", "/settle/leader/election", "/settle/leader/election/latch",
                             "/settle/leader/sharding", "/settle/instances"})
        c.create(path);
    c.create("/settle/leader/election/instance", "10.0.0.9@-@4711", create_mode::ephemeral);
    c.create("/settle/instances/10.0.0.9@-@4711", "", create_mode::ephemeral);
    auto& m = c.add();
    REQUIRE(m.schedule(make_job("settle", "0 * * * * ?", 2)));
    c.run_for(1s);
    CHECK(c.data("/settle/leader/election/instance") == "10.0.0.9@-@4711");
    CHECK(c.has("/settle/leader/sharding/necessary")); // for the Java leader to see
    c.run_for(75s);
    CHECK(c.started().empty());
    REQUIRE(c.last_trouble());
    CHECK(*c.last_trouble() == errc::timed_out);
    CHECK(c.last_trouble()->what.find("10.0.0.9@-@4711") != std::string::npos);

    // The Java leader shards: item 0 is its own, item 1 ours.
    c.create("/settle/leader/sharding/processing", "", create_mode::ephemeral);
    c.create("/settle/sharding");
    for (std::string const i : {"0", "1"}) c.create("/settle/sharding/" + i);
    transaction t{c.by_hand.session().generation};
    t.create(cluster::parsed("/settle/sharding/0/instance"), "10.0.0.9@-@4711")
        .create(cluster::parsed("/settle/sharding/1/instance"), m.id("settle"))
        .remove(cluster::parsed("/settle/leader/sharding/necessary"))
        .remove(cluster::parsed("/settle/leader/sharding/processing"));
    REQUIRE(c.wait_for(c.by_hand.commit(std::move(t))).value());
    c.run_for(60s);
    CHECK(c.started() == items{1});

    // The Java leader dies, and we lead: all items are ours.
    c.remove("/settle/instances/10.0.0.9@-@4711");
    c.remove("/settle/leader/election/instance");
    c.run_for(2s);
    CHECK(c.data("/settle/leader/election/instance") == m.id("settle"));
    CHECK(c.owners("settle", 2) == std::vector<std::string>(2, m.id("settle")));
    c.log.clear();
    c.run_for(60s);
    CHECK(c.started() == items{0, 1});
}

TEST_CASE("scheduler.job: a removed item that still runs keeps its nodes until it has ended (D-31)") {
    cluster c;
    auto& m = c.add();
    REQUIRE(m.schedule(make_job("settle", "0/5 * * * * ?", 4)));
    c.run_for(1s);
    m.holds = true;
    c.run_for(5s);
    auto const& config = c.data("/settle/config");
    auto edited = config;
    auto const key = std::string{"\"shardingTotalCount\":"};
    edited.replace(edited.find(key + "4"), key.size() + 1, key + "2");
    c.set("/settle/config", edited);
    c.run_for(20s);
    CHECK(c.is_marked("settle", 3));
    CHECK(c.find("/settle/sharding")->stat.children == 4);
    m.holds = false;
    m.release_all();
    c.run_for(10s);
    CHECK(c.find("/settle/sharding")->stat.children == 2);
    CHECK(c.count(heard::kind::started, 3) == 1);
}

TEST_CASE("scheduler.job_scheduler: jobs of one scheduler do not disturb each other") {
    cluster c;
    auto& m = c.add();
    REQUIRE(m.schedule(make_job("slow", "0/5 * * * * ?", 1)));
    c.run_for(1s);
    m.holds = true;
    c.run_for(5s);
    m.holds = false;
    REQUIRE(m.schedule(make_job("quick", "0/5 * * * * ?", 2)));
    c.run_for(10s);
    std::size_t quick = 0;
    for (auto const& h : c.log) quick += h.job == "quick" && h.what == heard::kind::finished;
    CHECK(quick == 4);
    CHECK(c.is_marked("slow", 0));
    m.release_all();
}
