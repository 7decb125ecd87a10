// SPDX-License-Identifier: Apache-2.0
// Runs that do not reach their end, though their bodies would: the item is given to another instance, the job is shut
// down, the pool is full, or instance after instance dies.
#include <elasticjob/execution/run_record.hpp>
#include <elasticjob/operations/stop_run.hpp>

#include <support/cluster.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

using namespace elasticjob;
using namespace elasticjob::test;

namespace {

job_config hourly(int count) { return make_job("settle", "0 0 * * * ?", count); }

/// The usual behaviour of bodies that look at their stop token.
result<void> until_stopped(sharding_context const& ctx) {
    if (ctx.stop.stop_requested()) return error{errc::job_failed, "asked to stop"};
    return success();
}

/// Lets the runs of a member end, at that time.
struct release_later : timer {
    explicit release_later(member& m) noexcept : timer{&ring}, who{m} {}
    static void ring(timer& t) {
        auto& m = static_cast<release_later&>(t).who;
        m.holds = false;
        m.release_all();
    }
    member& who;
};

} // namespace

TEST_CASE("stopped_runs: a run that ends because its item goes to another instance is run again there") {
    for (bool const is_monitored : {true, false}) {
        INFO("monitored: " << is_monitored);
        cluster c;
        auto job = hourly(2);
        job.monitor_execution = is_monitored;
        auto& one = c.add();
        one.body = until_stopped;
        one.holds = true;
        REQUIRE(one.schedule(job));
        c.run_for(1h + 1s);
        REQUIRE(one.held() == 2);
        auto& two = c.add();
        REQUIRE(two.schedule(job));
        c.run_for(5s);
        one.holds = false;
        one.release_all();
        c.run_for(1min);
        std::size_t moved = 0;
        for (item_index i = 0; i < 2; ++i) {
            auto const runs = c.all(heard::kind::started, i);
            if (c.owner("settle", i) == one.id("settle")) {
                CHECK(runs.size() == 1);
                continue;
            }
            ++moved;
            if (!is_monitored) { // no record tells the other instance: this one reports it
                CHECK(runs.size() == 1);
                CHECK(c.skips(events::skip_reason::not_ready) == 1);
                continue;
            }
            REQUIRE(runs.size() == 2);
            CHECK(runs[1].member == two.number);
            CHECK(runs[1].due == runs[0].due);
            CHECK(runs[1].attempt == 2);
            auto const record = record_of(c, i);
            REQUIRE(record.ledger.size() == 2);
            CHECK(record.ledger[0].outcome == run_outcome::retried);
            CHECK(record.ledger[1].outcome == run_outcome::completed);
            CHECK(record.dead_letters.empty());
        }
        CHECK(moved == 1);
        CHECK(c.violations.empty());
    }
}

TEST_CASE("stopped_runs: a run that is asked to stop before a thread is free is not called, and is run again elsewhere") {
    cluster c;
    auto& one = c.add();
    std::vector<item_index> called;
    one.body = [&](sharding_context const& ctx) { // it would ignore the request to stop
        called.push_back(ctx.item);
        return result<void>{success()};
    };
    one.queues = true;
    REQUIRE(one.schedule(hourly(2)));
    c.run_for(1h + 1s);
    REQUIRE(one.held() == 2);
    auto& two = c.add();
    REQUIRE(two.schedule(hourly(2)));
    c.run_for(5s);
    one.queues = false;
    one.release_all();
    c.run_for(1min);
    item_index const moved = c.owner("settle", 0) == one.id("settle") ? 1 : 0;
    CHECK(called == std::vector<item_index>{1 - moved});
    auto const runs = c.all(heard::kind::started, moved);
    REQUIRE(runs.size() == 2);
    CHECK(runs[1].member == two.number);
    CHECK(runs[1].due == runs[0].due);
    auto const record = record_of(c, moved);
    REQUIRE(record.ledger.size() == 2);
    CHECK(record.ledger[0].note == "job_failed: the run was asked to stop (reassigned) before its body was called (settle)");
    CHECK(record.ledger[1].outcome == run_outcome::completed);
    CHECK(c.violations.empty());
}

TEST_CASE(
    "stopped_runs: a run that a shutdown stops is made up for where failover or retries are on, or else is a dead letter") {
    struct {
        bool failover;
        std::uint32_t attempts_max;
    } const all[] = {{true, 1}, {false, 3}, {false, 1}};
    for (auto const& how : all) {
        INFO("failover: " << how.failover << ", attempts_max " << how.attempts_max);
        cluster c;
        auto job = hourly(1);
        job.failover = how.failover;
        job.retry.attempts_max = how.attempts_max;
        auto& one = c.add();
        one.body = until_stopped;
        one.holds = true;
        REQUIRE(one.schedule(job));
        c.run_for(1h + 1s);
        REQUIRE(one.held() == 1);
        auto const first = c.all(heard::kind::started, 0).at(0);
        release_later then{one};
        c.loop.arm(then, c.loop.now() + c.drain_timeout + 1s);
        REQUIRE(one.shutdown("settle"));
        auto& two = c.add();
        REQUIRE(two.schedule(job));
        c.run_for(1min);
        auto const runs = c.all(heard::kind::started, 0);
        auto const record = record_of(c, 0);
        if (how.failover || how.attempts_max > 1) {
            REQUIRE(runs.size() == 2);
            CHECK(runs[1].due == first.due);
            CHECK(runs[1].attempt == 2);
            CHECK(record.dead_letters.empty());
        } else {
            CHECK(runs.size() == 1);
            REQUIRE(record.dead_letters.size() == 1);
            CHECK(record.dead_letters[0].outcome == run_outcome::interrupted);
            CHECK(record.dead_letters[0].run.due == first.due);
        }
    }
}

TEST_CASE("stopped_runs: an order that is stopped while its item waits for a retry is carried out, and so is the retry") {
    for (bool const is_refused : {false, true}) {
        INFO("the pool is full at first: " << is_refused);
        cluster c;
        auto job = hourly(1);
        job.failover = true;
        job.retry = {.attempts_max = 3, .pause = 30min, .spread_percent = 0};
        auto const body = [](sharding_context const& ctx) -> result<void> {
            bool const has_bad_luck = ctx.source == run_source::schedule && ctx.attempt == 1;
            if (has_bad_luck) return error{errc::job_failed, "no luck"};
            return until_stopped(ctx);
        };
        auto& one = c.add();
        one.body = body;
        REQUIRE(one.schedule(job));
        c.run_for(1h + 1s);
        auto const waiting = record_of(c, 0).retry;
        REQUIRE(waiting);
        one.holds = true;
        REQUIRE(one.trigger("settle"));
        c.run_for(1s);
        REQUIRE(one.held() == 1);
        auto& two = c.add();
        two.body = body;
        two.refuses = is_refused;
        REQUIRE(two.schedule(job));
        REQUIRE(one.disable("settle")); // so the item goes to the other
        c.run_for(5s);
        one.holds = false;
        one.release_all();
        c.run_for(5s);
        two.refuses = false;
        REQUIRE(two.trigger("settle")); // the stopped order goes first, and no order is lost to another
        c.run_for(1min);
        std::vector<std::uint32_t> ordered;
        for (auto const& run : c.all(heard::kind::finished, 0))
            if (run.source == run_source::trigger) ordered.push_back(run.attempt);
        if (is_refused) // put off, once or more
            CHECK(std::count(ordered.begin(), ordered.end(), 2) >= 2);
        else
            CHECK(ordered == std::vector<std::uint32_t>{1, 2, 1});
        CHECK(ordered.back() == 1);
        CHECK(record_of(c, 0).retry == waiting);
        CHECK_FALSE(record_of(c, 0).resume);
        c.run_for(29min);
        auto const last = c.all(heard::kind::started, 0).back();
        CHECK(last.due == waiting->due);
        CHECK(last.attempt == 2);
        CHECK(last.member == two.number);
        CHECK(record_of(c, 0).dead_letters.empty());
        CHECK(c.violations.empty());
    }
}

TEST_CASE("stopped_runs: a further attempt that the pool refuses comes later, and is not counted") {
    cluster c;
    auto job = hourly(1);
    job.retry = {.attempts_max = 2, .pause = 10s, .spread_percent = 0};
    auto& m = c.add();
    int calls = 0;
    m.body = [&](sharding_context const&) -> result<void> {
        if (++calls == 1) return error{errc::job_failed, "out of paper"};
        return success();
    };
    REQUIRE(m.schedule(job));
    c.run_for(1h + 1s);
    REQUIRE(calls == 1);
    m.refuses = true;
    c.run_for(1min);
    CHECK(calls == 1);
    CHECK(record_of(c, 0).retry);
    CHECK(record_of(c, 0).dead_letters.empty());
    m.refuses = false;
    c.run_for(15s);
    CHECK(calls == 2);
    auto const record = record_of(c, 0);
    CHECK(record.ledger.back().outcome == run_outcome::completed);
    CHECK(record.ledger.back().run.attempt == 2);
    CHECK_FALSE(record.retry);
    CHECK(c.violations.empty());
}

TEST_CASE(
    "stopped_runs: an interrupted run that no instance makes up for is a dead letter at once, not with the next run") {
    cluster c;
    c.add();
    c.add();
    for (auto& m : c.members) REQUIRE(m->schedule(hourly(1)));
    for (auto& m : c.members) m->holds = true;
    c.run_for(1h + 1s);
    auto const runs = c.all(heard::kind::started, 0);
    REQUIRE(runs.size() == 1);
    disconnect(c, *c.members[runs[0].member]);
    c.run_for(1min);
    auto const record = record_of(c, 0);
    CHECK_FALSE(record.running);
    REQUIRE(record.dead_letters.size() == 1);
    CHECK(record.dead_letters[0].outcome == run_outcome::interrupted);
    CHECK(record.dead_letters[0].run.due == runs[0].due);
    CHECK(record.settled_through() == runs[0].due); // so a job that follows this one need not wait either
    CHECK(c.count(heard::kind::started) == 1);
}

TEST_CASE("stopped_runs: a run that kills one instance after another is given up in the end") {
    for (std::uint32_t const attempts_max : {1U, 3U}) {
        cluster c;
        std::uint32_t const most = attempts_max == 1 ? 10 : attempts_max;
        for (std::uint32_t n = 0; n < most + 2; ++n) c.add();
        auto job = hourly(1);
        job.failover = true;
        job.retry.attempts_max = attempts_max;
        for (auto& m : c.members) REQUIRE(m->schedule(job));
        for (auto& m : c.members) m->holds = true;
        c.run_for(1h + 1s);
        for (std::uint32_t attempt = 1; attempt <= most; ++attempt) {
            auto const runs = c.all(heard::kind::started, 0);
            REQUIRE(runs.size() == attempt);
            CHECK(runs.back().attempt == attempt);
            disconnect(c, *c.members[runs.back().member]);
            c.run_for(20s);
        }
        CHECK(c.count(heard::kind::started) == most);
        auto const record = record_of(c, 0);
        CHECK_FALSE(record.running);
        REQUIRE(record.dead_letters.size() == 1);
        CHECK(record.dead_letters[0].outcome == run_outcome::interrupted);
        CHECK(record.dead_letters[0].run.attempt == most);
    }
}

TEST_CASE("stopped_runs: a run that is asked to stop with session after session is given up in the end") {
    for (std::uint32_t const attempts_max : {1U, 3U}) {
        cluster c;
        std::uint32_t const most = attempts_max == 1 ? 10 : attempts_max;
        auto job = hourly(1);
        job.failover = true;
        job.retry.attempts_max = attempts_max;
        auto& m = c.add();
        m.body = until_stopped;
        m.holds = true;
        REQUIRE(m.schedule(job));
        c.run_for(1h + 1s);
        for (std::uint32_t attempt = 1; attempt <= most; ++attempt) {
            auto const runs = c.all(heard::kind::started, 0);
            REQUIRE(runs.size() == attempt);
            CHECK(runs.back().attempt == attempt);
            post(c.loop, [&m] { m.registry.expire(); });
            c.run_for(10s);
            m.release_all();
            c.run_for(10s);
        }
        CHECK(c.count(heard::kind::started) == most);
        auto const record = record_of(c, 0);
        CHECK_FALSE(record.running);
        CHECK_FALSE(record.retry);
        REQUIRE(record.dead_letters.size() == 1);
        CHECK(record.dead_letters[0].outcome == run_outcome::interrupted);
        CHECK(record.dead_letters[0].run.attempt == most);
        CHECK(c.violations.empty());
    }
}

TEST_CASE("stopped_runs: an order that fails while a retry waits does not take its place") {
    cluster c;
    auto job = hourly(1);
    job.retry = {.attempts_max = 2, .pause = 5min, .spread_percent = 0};
    auto& m = c.add();
    int calls = 0;
    m.body = [&](sharding_context const&) -> result<void> {
        if (++calls <= 2) return error{errc::job_failed, "out of paper"};
        return success();
    };
    REQUIRE(m.schedule(job));
    c.run_for(1h + 1s);
    REQUIRE(record_of(c, 0).retry);
    auto const due = record_of(c, 0).retry->due;
    REQUIRE(m.trigger("settle"));
    c.run_for(30min);
    auto const runs = c.all(heard::kind::started, 0);
    REQUIRE(runs.size() == 3);
    CHECK(runs[1].source == run_source::trigger);
    CHECK(runs[2].due == due);
    CHECK(runs[2].attempt == 2);
    REQUIRE(record_of(c, 0).dead_letters.size() == 1);
    CHECK(record_of(c, 0).dead_letters[0].run.source == run_source::trigger);
}

TEST_CASE("stopped_runs: an attempt that is put off again and again has one entry") {
    cluster c;
    auto job = hourly(1);
    job.retry = {.attempts_max = 2, .pause = 10s, .spread_percent = 0};
    auto& m = c.add();
    int calls = 0;
    m.body = [&](sharding_context const&) -> result<void> {
        if (++calls == 3) return error{errc::job_failed, "out of paper"};
        return success();
    };
    REQUIRE(m.schedule(job));
    c.run_for(3h + 1s);
    m.refuses = true;
    auto const before = c.find("/settle/ext/run/0")->stat.version;
    c.run_for(5min);
    CHECK(c.find("/settle/ext/run/0")->stat.version - before < 80);
    std::size_t completed = 0, retried = 0;
    for (auto const& e : record_of(c, 0).ledger) {
        completed += e.outcome == run_outcome::completed;
        retried += e.outcome == run_outcome::retried;
    }
    CHECK(completed == 2);
    CHECK(retried == 2);
}

TEST_CASE("stopped_runs: a run that a Java member makes up for is left to it, at whatever moment the member begins") {
    for (int steps = 0; steps < 60; ++steps) {
        INFO("steps " << steps);
        cluster c;
        auto job = hourly(2);
        job.failover = true;
        auto& m = c.add("10.0.0.5");
        REQUIRE(m.schedule(job));
        c.create("/settle/instances/10.0.0.1@-@77", "", create_mode::ephemeral);
        c.run_for(2s);
        item_index i = 0;
        while (i < 2 && c.owner("settle", i) != m.id("settle")) ++i;
        REQUIRE(i < 2);
        auto const item = "/settle/sharding/" + std::to_string(i);
        auto record = record_of(c, i);
        auto const wall = std::chrono::floor<std::chrono::milliseconds>(c.loop.wall_now());
        record.running = run_begin{wall, run_source::schedule, 1, "10.0.0.3@-@9-9", wall}; // that instance is dead
        c.create(item + "/failover", "10.0.0.1@-@77", create_mode::ephemeral);
        c.set("/settle/ext/run/" + std::to_string(i), record.to_text());
        c.create("/settle/ext/orders/look-" + std::to_string(i), "");
        for (int n = 0; n < steps; ++n) c.loop.step();
        c.create(item + "/running", "", create_mode::ephemeral);
        c.run_for(30s);
        c.remove(item + "/running");
        c.remove(item + "/failover");
        c.run_for(30s);
        CHECK(c.all(heard::kind::started, i).empty());
        CHECK(record_of(c, i).dead_letters.empty());
    }
}

TEST_CASE("stopped_runs: a run that an operator stops after its item has gone to another instance is not run again") {
    cluster c;
    auto& one = c.add();
    one.body = until_stopped;
    one.holds = true;
    REQUIRE(one.schedule(hourly(2)));
    c.run_for(1h + 1s);
    auto& two = c.add();
    REQUIRE(two.schedule(hourly(2)));
    c.run_for(5s);
    item_index const moved = c.owner("settle", 0) == two.id("settle") ? 0 : 1;
    REQUIRE(c.owner("settle", moved) == two.id("settle"));
    REQUIRE(c.wait_for(request_stop(c.by_hand, *job_name::parse("settle"), moved, c.loop.now() + 10s)));
    one.holds = false;
    one.release_all();
    c.run_for(1min);
    CHECK(c.all(heard::kind::started, moved).size() == 1);
    auto const record = record_of(c, moved);
    REQUIRE(record.ledger.size() == 1);
    CHECK(record.ledger[0].outcome == run_outcome::failed);
    CHECK(record.dead_letters.empty());
}
