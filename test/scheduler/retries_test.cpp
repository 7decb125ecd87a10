// SPDX-License-Identifier: Apache-2.0
// The reaction to a run that fails or takes too long.
#include <elasticjob/config/json_codec.hpp>
#include <elasticjob/operations/dead_letters.hpp>

#include <support/cluster.hpp>

#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace elasticjob;
using namespace elasticjob::test;

namespace {

job_config hourly(int count) { return make_job("settle", "0 0 * * * ?", count); }

/// A body that fails as often as it is told to.
auto failing(int times) {
    return [times](sharding_context const&) mutable -> result<void> {
        if (times-- > 0) return error{errc::job_failed, "out of paper"};
        return success();
    };
}

} // namespace

TEST_CASE("retries: a run that fails is tried again after growing pauses until it succeeds") {
    cluster c;
    auto job = hourly(1);
    job.retry = {.attempts_max = 4, .pause = 10s, .factor = 3, .spread_percent = 0};
    auto& m = c.add();
    m.body = failing(2);
    REQUIRE(m.schedule(job));
    c.run_for(1h + 2min);
    auto const runs = c.all(heard::kind::started, 0);
    REQUIRE(runs.size() == 3);
    auto const due = runs[0].due;
    for (std::uint32_t n = 0; n < 3; ++n) {
        CHECK(runs[n].due == due);
        CHECK(runs[n].attempt == n + 1);
        CHECK(runs[n].source == run_source::schedule);
    }
    CHECK(runs[1].at - runs[0].at >= 10s);
    CHECK(runs[1].at - runs[0].at < 11s);
    CHECK(runs[2].at - runs[1].at >= 30s);
    CHECK(runs[2].at - runs[1].at < 31s);
    CHECK(runs[0].token < runs[1].token);
    CHECK(runs[1].token < runs[2].token);

    auto const record = record_of(c, 0);
    REQUIRE(record.ledger.size() == 3);
    CHECK(record.ledger[0].outcome == run_outcome::retried);
    CHECK(record.ledger[0].note == "job_failed: out of paper");
    CHECK(record.ledger[2].outcome == run_outcome::completed);
    CHECK_FALSE(record.retry);
    CHECK(record.dead_letters.empty());
    auto const ends = c.all(heard::kind::finished, 0);
    CHECK(ends[0].retry_at);
    CHECK_FALSE(ends[2].retry_at);
    c.run_for(1h);
    CHECK(c.count(heard::kind::started) == 4);
}

TEST_CASE("retries: a run that fails to the end is a dead letter, and only the last dead letters are kept") {
    cluster c;
    auto job = hourly(1);
    job.retry = {.attempts_max = 2, .pause = 1s};
    job.dead_letters_max = 2;
    auto& m = c.add();
    m.body = failing(1000);
    REQUIRE(m.schedule(job));
    c.run_for(4h + 1min);
    CHECK(c.count(heard::kind::started) == 8);
    auto const record = record_of(c, 0);
    REQUIRE(record.dead_letters.size() == 2);
    for (auto const& d : record.dead_letters) {
        CHECK(d.outcome == run_outcome::failed);
        CHECK(d.run.attempt == 2);
        CHECK(d.note == "job_failed: out of paper");
    }
    CHECK(record.dead_letters[0].run.due + 1h == record.dead_letters[1].run.due);
    CHECK(record.dead_letters[1].run.due == c.all(heard::kind::started, 0).back().due);
}

TEST_CASE("retries: a waiting retry goes to another instance when its own has died or left") {
    for (bool const is_orderly : {true, false}) {
        cluster c;
        auto job = hourly(1);
        job.retry = {.attempts_max = 5, .pause = 2min, .spread_percent = 0};
        for (int n = 0; n < 2; ++n) c.add().body = failing(1);
        for (auto& m : c.members) REQUIRE(m->schedule(job));
        c.run_for(1h + 10s);
        auto runs = c.all(heard::kind::started, 0);
        REQUIRE(!runs.empty());
        auto const first = runs.back();
        auto& dead = *c.members[first.member];
        REQUIRE(record_of(c, 0).retry);
        if (is_orderly)
            REQUIRE(dead.shutdown("settle"));
        else
            post(c.loop, [&] { dead.registry.disconnect(); });
        c.run_for(4min);
        runs = c.all(heard::kind::started, 0);
        auto const& again = runs[runs.size() - 1];
        CHECK(again.member != first.member);
        CHECK(again.due == first.due);
        CHECK(again.attempt == first.attempt + 1);
        CHECK(again.at - first.at >= 2min); // not sooner because it moved
        CHECK(c.violations.empty());
    }
}

TEST_CASE("retries: instants that become due while a run waits for its retry find the item running") {
    for (auto const rule : {misfire_rule::skip, misfire_rule::once}) {
        cluster c;
        auto job = make_job("settle", "0/10 * * * * ?", 1);
        job.retry = {.attempts_max = 2, .pause = 35s, .spread_percent = 0};
        job.on_misfire.rule = rule;
        auto& m = c.add();
        m.body = failing(1);
        REQUIRE(m.schedule(job));
        c.run_for(30s);
        CHECK(c.count(heard::kind::started) == 1);
        if (rule == misfire_rule::skip)
            CHECK(c.skips(events::skip_reason::still_running) == 2);
        else
            CHECK(c.count(heard::kind::misfired) == 2);
        c.run_for(30s);
        auto const runs = c.all(heard::kind::started, 0);
        REQUIRE(runs.size() >= 3);
        CHECK(runs[1].attempt == 2);
        CHECK(runs[1].due == runs[0].due);
        CHECK(runs[2].due > runs[1].due);
        CHECK((runs[2].source == run_source::misfire) == (rule == misfire_rule::once));
    }
}

TEST_CASE("retries: an hourly limit bounds the retries of a job whose runs all fail") {
    cluster c;
    auto job = hourly(10);
    job.retry = {.attempts_max = 5, .pause = 1s, .hourly_max = 7};
    auto& m = c.add();
    m.body = failing(100'000);
    REQUIRE(m.schedule(job));
    c.run_for(1h + 59min);
    CHECK(c.count(heard::kind::started) == 17); // ten, and seven of them once more, or some several times
    c.run_for(1h + 2min);
    CHECK(c.count(heard::kind::started) == 51);
}

TEST_CASE("retries: a run that an operator stopped is not tried again") {
    cluster c;
    auto job = hourly(1);
    job.retry = {.attempts_max = 5, .pause = 1s};
    auto& m = c.add();
    m.body = [](sharding_context const& ctx) -> result<void> {
        if (ctx.stop.stop_requested()) return error{errc::job_failed, "stopped"};
        return success();
    };
    m.holds = true;
    REQUIRE(m.schedule(job));
    c.run_for(1h + 1s);
    REQUIRE(m.held() >= 1);
    auto const due = record_of(c, 0).running->due;
    using std::chrono::milliseconds;
    c.create("/settle/ext/orders/stop-0", std::to_string(due.time_since_epoch() / milliseconds{1}));
    c.run_for(1s);
    m.holds = false;
    m.release_all();
    c.run_for(1min);
    CHECK(record_of(c, 0).ledger.back().outcome == run_outcome::failed);
    CHECK_FALSE(record_of(c, 0).retry);
    CHECK(record_of(c, 0).dead_letters.empty());
}

TEST_CASE("retries: a retry that waits when its item is disabled becomes a dead letter") {
    cluster c;
    auto job = make_job("settle", "0 0/1 * * * ?", 1);
    job.retry = {.attempts_max = 2, .pause = 10s};
    auto& m = c.add();
    m.body = failing(1);
    REQUIRE(m.schedule(job));
    c.run_for(1min + 1s);
    REQUIRE(record_of(c, 0).retry);
    c.create("/settle/sharding/0/disabled");
    c.run_for(3min);
    c.remove("/settle/sharding/0/disabled");
    c.run_for(1min);
    auto const record = record_of(c, 0);
    CHECK(record.ledger.back().outcome == run_outcome::completed);
    REQUIRE(record.dead_letters.size() == 1);
    CHECK(record.dead_letters[0].run.due == c.all(heard::kind::started, 0).front().due);
    CHECK(record.dead_letters[0].run.attempt == 2);
    CHECK(record.dead_letters[0].note == "disabled");
}

TEST_CASE("retries: a trigger runs an item that waits for its retry, and the retry follows all the same") {
    cluster c;
    auto job = hourly(1);
    job.retry = {.attempts_max = 2, .pause = 5min, .spread_percent = 0};
    auto& m = c.add();
    m.body = failing(1);
    REQUIRE(m.schedule(job));
    c.run_for(1h + 1s);
    auto const before = c.count(heard::kind::started);
    REQUIRE(record_of(c, 0).retry);
    REQUIRE(m.trigger("settle"));
    c.run_for(1min);
    CHECK(c.count(heard::kind::started) == before + 1);
    CHECK(c.all(heard::kind::started, 0).back().source == run_source::trigger);
    c.run_for(5min);
    CHECK(c.count(heard::kind::started) == before + 2);
    CHECK(c.all(heard::kind::started, 0).back().attempt == 2);
}

TEST_CASE("retries: without records the instance that knows of a failed run tries it again") {
    cluster c;
    auto job = hourly(1);
    job.monitor_execution = false;
    job.retry = {.attempts_max = 3, .pause = 1min};
    auto& m = c.add();
    m.body = failing(2);
    REQUIRE(m.schedule(job));
    c.run_for(1h + 10min);
    auto const runs = c.all(heard::kind::started, 0);
    REQUIRE(runs.size() >= 3);
    CHECK(runs[2].attempt == 3);
    CHECK_FALSE(c.has("/settle/ext/run/0"));
}

TEST_CASE("retries: a run that gets no thread in time is given up, and its body is not called any more") {
    cluster c;
    auto job = make_job("settle", "0 0/10 * * * ?", 1);
    job.give_up_after = 2min;
    auto& m = c.add();
    std::vector<std::int64_t> called;
    m.body = [&](sharding_context const& ctx) -> result<void> {
        called.push_back(ctx.token);
        return success();
    };
    m.queues = true;
    REQUIRE(m.schedule(job));
    c.run_for(11min);
    REQUIRE(c.count(heard::kind::started) == 1);
    CHECK(c.is_marked("settle", 0));
    c.run_for(2min);
    CHECK_FALSE(c.is_marked("settle", 0));
    auto const end = c.all(heard::kind::finished, 0).back();
    REQUIRE(end.failure);
    CHECK(end.failure->what == "no thread of the pool was free for the run within give_up_after, 120000 ms");
    CHECK(record_of(c, 0).ledger.back().outcome == run_outcome::failed);

    m.queues = false;
    c.run_for(10min);
    auto const runs = c.all(heard::kind::started, 0);
    REQUIRE(runs.size() == 2);
    CHECK(called == std::vector{runs[1].token});
    m.release_all(); // the thread that comes too late
    c.run_for(1s);
    CHECK(called.size() == 1);
    CHECK(c.violations.empty());
}

TEST_CASE("retries: a run that was given up is tried again, and no instance leaves before its work has left the pool") {
    cluster c;
    auto job = hourly(1);
    job.give_up_after = 1min;
    job.retry = {.attempts_max = 2, .pause = 1s};
    auto& m = c.add();
    m.holds = true;
    REQUIRE(m.schedule(job));
    c.run_for(1h + 10s);
    REQUIRE(m.held() == 1);
    m.holds = false;
    c.run_for(2min);
    auto const runs = c.all(heard::kind::started, 0);
    CHECK(runs.back().attempt == 2);
    CHECK(record_of(c, 0).ledger.back().outcome == run_outcome::completed);

    // The registry's loop ends the call of shutdown when the body has ended, and not before.
    std::optional<mono_time> ended;
    auto const held = m.held();
    REQUIRE(held >= 1);
    struct alarm : timer {
        alarm(cluster& c_, member& m_, std::optional<mono_time>& e)
            : timer{[](timer& t) {
                  auto& self = static_cast<alarm&>(t);
                  self.ended = self.c.loop.now();
                  self.m.release_all();
              }},
              c{c_}, m{m_}, ended{e} {}
        cluster& c;
        member& m;
        std::optional<mono_time>& ended;
    } a{c, m, ended};
    c.loop.arm(a, c.loop.now() + 5min);
    CHECK(m.shutdown("settle"));
    CHECK(ended);
}

TEST_CASE("retries: a verdict on a dead letter does not repeat the runs of a job that is not monitored any more") {
    cluster c;
    auto& m = c.add();
    m.body = failing(1);
    auto job = hourly(1);
    REQUIRE(m.schedule(job));
    c.run_for(1h + 1min);
    auto const name = *job_name::parse("settle");
    auto const letters = c.wait_for(find_dead_letters(c.by_hand, name)).value();
    REQUIRE(letters.size() == 1);
    job.monitor_execution = false;
    c.set("/settle/config", to_json(job));
    c.run_for(3h);
    auto const runs = c.all(heard::kind::started, 0).size();
    CHECK(runs == 4);
    auto const due = letters[0].run.run.due;
    REQUIRE(c.wait_for(settle_dead_letter(c.by_hand, name, 0, due, dead_letter_verdict::discard)));
    c.run_for(10min);
    CHECK(c.all(heard::kind::started, 0).size() == runs);
    job.monitor_execution = true;
    c.set("/settle/config", to_json(job));
    c.run_for(10min);
    CHECK(c.all(heard::kind::started, 0).size() == runs);
}
