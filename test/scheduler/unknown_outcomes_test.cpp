// SPDX-License-Identifier: Apache-2.0
// Requests of a run whose replies are lost or late. The member must find out what has happened, and later decisions
// must count.
#include <elasticjob/execution/run_record.hpp>

#include <support/cluster.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

using namespace elasticjob;
using namespace elasticjob::test;

namespace {

constexpr auto hour = 1h;

job_config hourly(int count) {
    auto job = make_job("settle", "0 0 * * * ?", count);
    job.failover = true;
    return job;
}
std::size_t entries(cluster const& c, item_index i, run_outcome outcome) {
    std::size_t n = 0;
    for (auto const& e : record_of(c, i).ledger) n += e.outcome == outcome;
    return n;
}

/// The first start of the member meets its fate; once the server has dealt with it, `then` is called. Starts, and
/// nothing else while nothing runs and the instances stay, begin with a check.
struct fate_of_start {
    fate_of_start(cluster& c, member& m, request_fate fate, std::function<void()> then, int before = 0)
        : others{before},
          network{c.server, [this, &c, &m, fate, act = std::move(then)](std::int64_t s, operation::kind const* write) {
                      if (has_come || s != m.registry.session().id || !write || *write != operation::kind::check)
                          return request_fate::served;
                      if (others-- != 0) return request_fate::served;
                      has_come = true;
                      // The server's turn is between this one and that.
                      post(c.loop, [&c, act] { post(c.loop, act); });
                      return fate;
                  }} {}
    bool has_come = false;
    int others; ///< that are served before
    losing network;
};

} // namespace

TEST_CASE("scheduler.item_runs: a start without a reply before the session ended is undone and made again") {
    for (bool const has_happened : {true, false})
        for (bool const failover : {true, false}) {
            INFO("it has happened: " << has_happened << ", failover: " << failover);
            cluster c;
            auto& m = c.add();
            auto job = hourly(1);
            job.failover = failover;
            REQUIRE(m.schedule(job));
            c.run_for(hour - 1s);
            std::string left_behind;
            fate_of_start const lost{c, m, has_happened ? request_fate::reply_lost : request_fate::request_lost, [&] {
                                         left_behind = c.data("/settle/ext/run/0");
                                         m.registry.expire();
                                     }};
            c.run_for(10s);
            REQUIRE(lost.has_come);
            CHECK((left_behind.find("\nrunning ") != left_behind.npos) == has_happened);
            // For its instant, in time, and not as a run that a dead instance has left.
            auto const runs = c.all(heard::kind::started, 0);
            REQUIRE(runs.size() == 1);
            CHECK(runs[0].source == run_source::schedule);
            CHECK(runs[0].attempt == 1);
            REQUIRE(record_of(c, 0).ledger.size() == 1);
            CHECK(record_of(c, 0).ledger[0].outcome == run_outcome::completed);
            CHECK_FALSE(c.is_marked("settle", 0));
            c.run_for(hour);
            CHECK(c.count(heard::kind::started) == 2);
            CHECK(c.violations.empty());
        }
}

TEST_CASE("scheduler.item_runs: a skip is reported once, though its record is lost with the start of the next run") {
    int lost_in_all = 0;
    for (bool const has_happened : {true, false})
        for (int others = 0; others != 6; ++others) { // one of them is the start, after the writes of the newcomer
            INFO("it has happened: " << has_happened << ", after others: " << others);
            cluster c;
            auto job = hourly(1);
            job.on_misfire = {.rule = misfire_rule::all, .runs_max = 1};
            REQUIRE(c.add().schedule(job));
            c.run_for(hour + 1s);
            c.members[0]->destroy_scheduler();
            c.run_for(3 * hour);
            auto& m = c.add();
            auto const fate = has_happened ? request_fate::reply_lost : request_fate::request_lost;
            fate_of_start const lost{c, m, fate, [&] { m.registry.expire(); }, others};
            (void)m.schedule(job); // may have met its fate
            c.run_for(30s);
            (void)m.schedule(job);
            c.run_for(30s);
            lost_in_all += lost.has_come;
            CHECK(c.count(heard::kind::started) == 2);
            auto const skipped = c.all(heard::kind::skipped, 0);
            REQUIRE(skipped.size() == 1); // both instants at once
            CHECK(skipped[0].why == events::skip_reason::too_late);
            CHECK(entries(c, 0, run_outcome::skipped) == 1);
        }
    CHECK(lost_in_all > 4);
}

TEST_CASE("scheduler.item_runs: a start without a reply is not undone once another instance has taken the item over") {
    for (bool const has_happened : {true, false}) {
        INFO("it has happened: " << has_happened);
        cluster c;
        c.add();
        c.add();
        for (auto& m : c.members) REQUIRE(m->schedule(hourly(1)));
        c.run_for(hour - 1s);
        bool const is_first = c.owner("settle", 0) == c.members[0]->id("settle");
        auto& owner = *c.members[is_first ? 0 : 1];
        auto& other = *c.members[is_first ? 1 : 0];
        other.holds = true;
        fate_of_start const lost{c, owner, has_happened ? request_fate::reply_lost : request_fate::request_lost,
                                 [&] { owner.registry.disconnect(); }};
        c.run_for(15s);
        REQUIRE(lost.has_come);
        REQUIRE(other.held() == 1);
        on_loop(c, [&] { owner.registry.reconnect(); });
        c.run_for(10s);
        CHECK(c.started(owner.number).empty());
        other.holds = false;
        other.release_all();
        c.run_for(10s);
        auto const runs = c.all(heard::kind::started, 0);
        REQUIRE(runs.size() == 1);
        CHECK(runs[0].attempt == (has_happened ? 2 : 1)); // only the owner can know that no body was called
        CHECK(c.count(heard::kind::fenced) == 0);
        CHECK(entries(c, 0, run_outcome::completed) == 1);
        CHECK(c.violations.empty());
    }
}

TEST_CASE("scheduler.item_runs: a start whose answer comes when the session may be over is undone, and no body has its "
          "token") {
    cluster c; // sessions end after 10 s, and a start without more is believed for 3/8 of that
    auto& m = c.add();
    std::vector<bool> was_stopped;
    m.body = [&](sharding_context const& ctx) -> result<void> {
        was_stopped.push_back(ctx.stop.stop_requested());
        return success();
    };
    REQUIRE(m.schedule(hourly(2)));
    c.run_for(hour - 1s);
    fate_of_start const slow{c, m, request_fate::reply_lost, [&] { m.registry.disconnect(); }};
    c.run_for(6s);
    REQUIRE(slow.has_come);
    CHECK(c.count(heard::kind::started) == 0);
    revision const stale = c.find("/settle/ext/run/0")->stat.modified;
    REQUIRE(c.is_marked("settle", 0));
    on_loop(c, [&] { m.registry.reconnect(); }); // in time: it is the same session, and the mark is ours
    c.run_for(5s);
    for (item_index i = 0; i < 2; ++i) {
        auto const runs = c.all(heard::kind::started, i);
        REQUIRE(runs.size() == 1);
        CHECK(runs[0].token > stale);
        CHECK(runs[0].attempt == 1);
        CHECK(record_of(c, i).ledger.size() == 1);
        CHECK_FALSE(c.is_marked("settle", i));
    }
    CHECK(was_stopped == std::vector<bool>{false, false});
    CHECK(c.violations.empty());
}

TEST_CASE(
    "scheduler.item_runs: a start that is confirmed after the item has changed hands calls no body, and the new owner runs it") {
    cluster c;
    auto& old = c.add();
    int called = 0;
    old.body = [&](sharding_context const&) -> result<void> {
        ++called;
        return success();
    };
    REQUIRE(old.schedule(hourly(1)));
    auto& fresh = c.add();
    fresh.holds = true;
    c.run_for(hour - 1s);
    // The reply is lost, and so are the first of the questions about it.
    int questions = 0;
    losing const network{c.server, [&](std::int64_t s, operation::kind const* write) {
                             if (s != old.registry.session().id || !write || *write != operation::kind::check)
                                 return request_fate::served;
                             if (questions++ == 0)
                                 post(c.loop, [&] { post(c.loop, [&] { old.registry.disconnect(); }); });
                             return questions < 20 ? request_fate::reply_lost : request_fate::served;
                         }};
    c.run_for(1s + 1ms);
    REQUIRE(questions > 0);
    REQUIRE(fresh.schedule(hourly(1)));
    REQUIRE(old.registry.session().state == session_state::suspended);
    c.set("/settle/servers/" + old.ip, "DISABLED"); // the item goes to the other one
    c.run_for(1s);
    c.wait_for(c.by_hand.remove(cluster::parsed("/settle/leader/election/instance"))).value();
    c.run_for(500ms);
    REQUIRE(c.owner("settle", 0) == fresh.id("settle"));
    on_loop(c, [&] { old.registry.reconnect(); });
    c.run_for(5s);
    CHECK(called == 0);
    REQUIRE(c.started(fresh.number).size() == 1);
    CHECK(c.all(heard::kind::started, 0).back().attempt == 2);
    fresh.release_all();
    c.run_for(1s);
    CHECK(entries(c, 0, run_outcome::retried) == 1);
    CHECK(entries(c, 0, run_outcome::completed) == 1);
    CHECK(c.violations.empty());
}

TEST_CASE("scheduler.item_runs: a new owner waits for the run of the old one without asking, and begins as soon as it "
          "has ended") {
    cluster c;
    auto& old = c.add();
    auto const job = make_job("settle", "0/5 * * * * ?", 1);
    REQUIRE(old.schedule(job));
    c.run_for(1s);
    old.holds = true;
    c.run_for(5s);
    REQUIRE(old.held() == 1);
    auto& fresh = c.add();
    REQUIRE(fresh.schedule(job));
    REQUIRE(old.disable("settle"));
    c.run_for(2s);
    REQUIRE(c.owner("settle", 0) == fresh.id("settle"));
    std::size_t requests = 0;
    losing const counting{c.server, [&](std::int64_t s, operation::kind const*) {
                              requests += s == fresh.registry.session().id;
                              return request_fate::served;
                          }};
    c.run_for(60s);
    CHECK(requests == 0);
    CHECK(c.started(fresh.number).empty());
    CHECK(c.count(heard::kind::misfired, 0) >= 12);
    old.holds = false;
    old.release_all();
    c.run_for(100ms);
    auto const runs = c.all(heard::kind::started, 0);
    auto const ends = c.all(heard::kind::finished, 0);
    REQUIRE(runs.size() == 2);
    CHECK(runs[1].member == fresh.number);
    CHECK(runs[1].source == run_source::misfire);
    CHECK(runs[1].at - ends[0].at < 10ms);
    CHECK(c.violations.empty());
}

TEST_CASE(
    "scheduler.job: a body whose start is under way when the draining begins is not called, and the record tells of it") {
    int stopped = 0, not_started = 0;
    for (int turns = 0; turns < 30; ++turns) {
        INFO("after " << turns << " turns");
        cluster c;
        c.drain_timeout = 0ms;
        auto& m = c.add();
        bool is_leaving = false;
        std::vector<stop_reason> why;
        m.body = [&](sharding_context const& ctx) -> result<void> {
            if (is_leaving) why.push_back(ctx.why_stop());
            return success();
        };
        REQUIRE(m.schedule(hourly(1)));
        c.run_for(hour - 1ms);
        for (int n = 0; n < turns; ++n) c.loop.step();
        is_leaving = true;
        REQUIRE(m.shutdown("settle"));
        CHECK_FALSE(c.is_marked("settle", 0));
        CHECK_FALSE(record_of(c, 0).running);
        CHECK(c.find("/settle/instances")->stat.children == 0);
        CHECK(c.violations.empty());
        auto const runs = c.count(heard::kind::started);
        CHECK(runs <= 1);
        auto const retried = entries(c, 0, run_outcome::retried); // by the next instance
        CHECK(entries(c, 0, run_outcome::completed) + retried == runs);
        for (auto const w : why) CHECK(w == stop_reason::none);
        stopped += retried > 0;
        not_started += runs == 0;
    }
    CHECK(stopped > 3);
    CHECK(not_started > 0);
}

TEST_CASE("scheduler.item_runs: a checkpoint whose reply is lost is stored all the same, and its run still counts") {
    enum class mishap { reply_lost, request_lost, session_over };
    for (auto const what : {mishap::reply_lost, mishap::request_lost, mishap::session_over}) {
        INFO("mishap " << static_cast<int>(what));
        cluster c;
        auto& m = c.add();
        std::optional<result<void>> saved;
        std::vector<std::string> found;
        m.body = [&](sharding_context const& ctx) -> result<void> {
            found.push_back(ctx.last_checkpoint);
            saved = ctx.checkpoint("half");
            return success();
        };
        REQUIRE(m.schedule(hourly(1)));
        c.run_for(hour - 1s);
        m.holds = true;
        c.run_for(2s);
        REQUIRE(m.held() == 1);
        bool has_come = false;
        std::string written;
        losing const network{
            c.server, [&](std::int64_t s, operation::kind const* write) {
                if (has_come || s != m.registry.session().id || !write || *write != operation::kind::set)
                    return request_fate::served;
                has_come = true;
                post(c.loop, [&] {
                    post(c.loop, [&] {
                        written = record_of(c, 0).checkpoint;
                        if (what == mishap::session_over) m.registry.expire();
                    });
                });
                return what == mishap::request_lost ? request_fate::request_lost : request_fate::reply_lost;
            }};
        m.holds = false;
        REQUIRE(m.call_held(0));
        REQUIRE(has_come);
        CHECK(written == (what == mishap::request_lost ? "" : "half"));
        REQUIRE(saved);
        if (what == mishap::session_over) // the run is asked to stop, so its body does not wait for the next session
            CHECK(saved->error() == errc::unknown_outcome);
        else
            CHECK(*saved);
        c.run_for(5s);
        CHECK(record_of(c, 0).checkpoint == "half");
        CHECK(c.count(heard::kind::fenced) == 0);
        CHECK(entries(c, 0, run_outcome::completed) == 1);
        CHECK_FALSE(c.is_marked("settle", 0));
        c.run_for(hour);
        CHECK(found == std::vector<std::string>{"", "half"});
        CHECK(c.violations.empty());
    }
}

TEST_CASE("scheduler.job: an orderly exit undoes a start with an unknown outcome") {
    for (bool const failover : {false, true}) {
        INFO("failover: " << failover);
        cluster c;
        auto& m = c.add();
        auto job = make_job("settle", "0 0 * * * ?", 1);
        job.failover = failover;
        REQUIRE(m.schedule(job));
        c.run_for(1h - 1s);
        bool has_come = false, is_over = false;
        losing const network{c.server, [&](std::int64_t s, operation::kind const* write) {
                                 if (has_come || s != m.registry.session().id || !write ||
                                     *write != operation::kind::check)
                                     return request_fate::served;
                                 has_come = true;
                                 post(c.loop, [&] { // behind the server's turn, before the reply's
                                     post(c.loop, [&] {
                                         m.registry.expire();
                                         is_over = true;
                                     });
                                 });
                                 return request_fate::reply_lost;
                             }};
        while (!is_over) c.loop.step();
        REQUIRE(m.registry.session().state == session_state::connected); // with a new session
        REQUIRE(m.shutdown("settle"));
        CHECK(c.count(heard::kind::started) == 0);
        CHECK_FALSE(run_record::parse(c.data("/settle/ext/run/0")).value().running);
        auto& next = c.add();
        REQUIRE(next.schedule(job));
        c.run_for(30s);
        auto const runs = c.all(heard::kind::started, 0);
        REQUIRE(runs.size() == 1); // without failover the instant is given up: no body was ever called for it
        CHECK(runs[0].attempt == 1);
    }
}
