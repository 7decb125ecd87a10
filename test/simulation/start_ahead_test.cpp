// SPDX-License-Identifier: Apache-2.0
// `scheduler_options::start_ahead`: a run is on record shortly before its instant, and its body begins at the instant.
#include <elasticjob/execution/job_pauses.hpp>

#include <simulation/lateness.hpp>
#include <simulation/small_cluster.hpp>

#include <doctest/doctest.h>

#include <set>

using namespace elasticjob;
using namespace elasticjob::test;
using namespace elasticjob::testing;

namespace {

constexpr auto ahead = 100ms;

struct early_job : small_cluster {
    explicit early_job(job_config config, std::uint32_t nodes = 2, std::chrono::milliseconds start_ahead = ahead)
        : small_cluster{std::move(config), nodes, {}, 1, slow(start_ahead)} {}

    /// Each request takes up to 40 ms, so without `start_ahead` every body would begin late.
    static simulation_options slow(std::chrono::milliseconds start_ahead) {
        simulation_options o;
        o.latency.most = 20ms; // each way
        o.scheduler.start_ahead = start_ahead;
        return o;
    }

    std::chrono::nanoseconds lateness(observation const& o) const { return test::lateness(s.view(), o); }
    /// The time passes until `before` the next instant.
    void run_until_before_an_instant(std::chrono::nanoseconds before) {
        run_for(next_instant() - s.view().server.world().wall_now() - before);
    }
    std::size_t runs_at(wall_time due) const {
        auto const begun = all(kind::body_began);
        return static_cast<std::size_t>(
            std::count_if(begun.begin(), begun.end(), [&](observation const& o) { return o.due == due; }));
    }
    wall_time next_instant() const {
        auto const now = s.view().server.world().wall_now();
        return now - now.time_since_epoch() % period + period;
    }

    std::chrono::seconds period = 5s;
};

job_config every_minute(int count) {
    auto c = hourly(count);
    c.cron = "0 * * * * ?";
    return c;
}

} // namespace

TEST_CASE("start_ahead: bodies begin at their instants although the registry is slow, and no instant is left out") {
    early_job c{every_five_seconds(4)};
    c.start();
    c.run_for(1min);
    auto const begun = c.all(kind::body_began);
    CHECK(begun.size() == 48);
    for (auto const& o : begun) CHECK(c.lateness(o) == 0s);
    CHECK(c.count(kind::skipped) == 0);
    CHECK(c.count(kind::misfired) == 0);
    CHECK_MESSAGE(c.wrong().empty(), c.wrong());
}

TEST_CASE("start_ahead: the run is on record before its instant, and says when its body begins") {
    early_job c{every_five_seconds(1)};
    c.start();
    c.run_until_before_an_instant(1ms);
    auto const due = c.next_instant();
    auto const running = c.record(0).running;
    REQUIRE(running);
    CHECK(running->due == due);
    CHECK(running->begun == due);
    CHECK(c.runs_at(due) == 0);
    CHECK(c.starts(0).empty()); // the event says that the body begins
    c.run_for(1ms);
    CHECK(c.runs_at(due) == 1);
}

TEST_CASE("start_ahead: items that begin at times of their own, and those with a fixed delay, begin on time too") {
    auto spread = every_five_seconds(3);
    spread.jitter = 3s;
    auto delayed = hourly(2);
    delayed.schedules.push_back(job_schedule::fixed_delay(7s));
    for (auto const& config : {spread, delayed}) {
        early_job c{config};
        c.start();
        c.run_for(2min);
        auto const begun = c.all(kind::body_began);
        CHECK(begun.size() >= 2 * 120 / 8);
        std::map<item_index, std::set<std::chrono::nanoseconds>> spans; // the time between an instant and its run
        for (auto const& o : begun) spans[o.item].insert(c.lateness(o));
        for (auto const& [i, span] : spans) {
            REQUIRE(span.size() == 1); // the item's own time, exactly
            CHECK(*span.begin() >= 0s);
            CHECK((*span.begin() == 0s) == (config.jitter == 0s));
        }
        CHECK_MESSAGE(c.wrong().empty(), c.wrong());
    }
}

TEST_CASE("start_ahead: a run that ends shortly before the next instant neither skips it nor delays it") {
    auto config = every_five_seconds(1);
    config.misfire = false; // an instant that finds its item running is skipped
    early_job c{config, 1};
    c.start();
    c.lasts = 5s - 80ms;
    c.run_for(1min);
    CHECK(c.count(kind::body_began) == 12);
    CHECK(c.count(kind::skipped) == 0);
    CHECK_MESSAGE(c.wrong().empty(), c.wrong());
}

TEST_CASE(
    "start_ahead: an instant that still finds its item running is skipped, and is not reported before it is due") {
    auto config = every_five_seconds(1);
    config.misfire = false;
    early_job c{config, 1};
    c.start();
    c.lasts = 6s;
    c.run_until_before_an_instant(0s);
    c.run_for(10ms);
    c.run_until_before_an_instant(1ms);
    CHECK(c.count(kind::skipped) == 0);
    c.run_for(2ms);
    CHECK(c.count(kind::skipped) == 1);
    c.run_for(50s);
    CHECK(c.count(kind::body_began) == 6);
    CHECK_MESSAGE(c.wrong().empty(), c.wrong());
}

TEST_CASE(
    "start_ahead: whenever an instance dies around an instant, the others run the instant, not before it is due") {
    for (auto before = 150ms; before >= -150ms; before -= 10ms) {
        INFO(before.count() << " ms before the instant");
        early_job c{every_minute(3), 3};
        c.period = 1min;
        c.lasts = 1s;
        c.start();
        c.run_until_before_an_instant(before);
        auto const due = before <= 0ms ? c.next_instant() - 1min : c.next_instant();
        c.crash(1);
        c.run_for(30s);
        std::map<item_index, std::size_t> ends;
        for (auto const& o : c.all(kind::body_ended))
            if (o.due == due) ++ends[o.item];
        for (item_index i = 0; i < 3; ++i) CHECK(ends[i] == 1);
        for (auto const& o : c.all(kind::body_began)) CHECK(c.lateness(o) >= 0s);
        CHECK_MESSAGE(c.wrong().empty(), c.wrong());
    }
}

TEST_CASE("start_ahead: whenever an instance leaves around an instant, the instant is run once, not before it is due") {
    for (auto before = 150ms; before >= 0ms; before -= 10ms) {
        INFO(before.count() << " ms before the instant");
        early_job c{every_minute(3), 3};
        c.period = 1min;
        c.start();
        c.run_until_before_an_instant(before);
        auto const due = before == 0ms ? c.next_instant() - 1min : c.next_instant();
        c.leave(1);
        c.run_for(30s);
        std::map<item_index, std::size_t> began;
        for (auto const& o : c.all(kind::body_began)) {
            CHECK(c.lateness(o) >= 0s);
            if (o.due == due) ++began[o.item];
        }
        for (item_index i = 0; i < 3; ++i) CHECK(began[i] == 1);
        CHECK_MESSAGE(c.wrong().empty(), c.wrong());
    }
}

TEST_CASE(
    "start_ahead: no body begins after its lease, although the machine slept between the record and the instant") {
    for (auto before = 90ms; before > 0ms; before -= 10ms) {
        INFO(before.count() << " ms before the instant");
        early_job c{every_minute(2)};
        c.period = 1min;
        c.lasts = 50s;
        c.start();
        c.run_until_before_an_instant(before);
        auto const due = c.next_instant();
        c.inject({.what = fault_kind::partition, .node = 0, .span = 1h});
        c.inject({.what = fault_kind::suspend, .node = 0, .span = 30s});
        c.run_for(40s);
        for (auto const& o : c.all(kind::body_began))
            if (o.due == due) CHECK(o.node == 1);
        CHECK(c.runs_at(due) == 2);
        CHECK_MESSAGE(c.wrong().empty(), c.wrong());
    }
}

TEST_CASE("start_ahead: a clock that is put back in the meantime does not make a body begin before its instant") {
    early_job c{every_minute(1), 1};
    c.period = 1min;
    c.start();
    c.run_until_before_an_instant(5ms);
    auto const due = c.next_instant();
    c.inject({.what = fault_kind::clock_jump, .node = 0, .span = -300ms});
    c.run_for(250ms);
    CHECK(c.runs_at(due) == 0);
    c.run_for(60ms);
    CHECK(c.runs_at(due) == 1);
}

TEST_CASE("start_ahead: an operator's pause comes too late for a run that is on record, and in time before that") {
    for (bool const is_on_record : {false, true}) {
        early_job c{every_five_seconds(1), 1};
        c.start();
        c.run_until_before_an_instant(is_on_record ? 5ms : 500ms);
        auto const due = c.next_instant();
        auto pauses = job_pauses::parse("").value();
        REQUIRE(pauses.pause({}, c.s.world().wall_now()));
        c.create(c.at.pauses(), pauses.to_text());
        c.run_for(1s);
        CHECK(c.runs_at(due) == (is_on_record ? 1 : 0));
        CHECK_MESSAGE(c.wrong().empty(), c.wrong());
    }
}

TEST_CASE("start_ahead: a run that is asked to stop before its instant fails then, and its body is not called") {
    early_job c{every_minute(1), 1, 800ms};
    c.period = 1min;
    c.start();
    c.run_until_before_an_instant(600ms);
    auto const due = c.next_instant();
    REQUIRE(c.record(0).running);
    c.inject({.what = fault_kind::stop_run, .count = 0});
    c.run_for(590ms);
    CHECK(c.record(0).running);
    c.run_for(60ms);
    CHECK(c.runs_at(due) == 0);
    auto const record = c.record(0);
    CHECK(!record.running);
    REQUIRE(!record.ledger.empty());
    auto const& last = record.ledger.back();
    CHECK(last.run.due == due);
    CHECK(last.outcome == run_outcome::failed);
    CHECK(last.note == "job_failed: the run was asked to stop (ordered) before its body was called (settle)");
    CHECK_MESSAGE(c.wrong().empty(), c.wrong());
}

TEST_CASE("start_ahead: a job without records begins as without it") {
    auto config = every_five_seconds(2);
    config.monitor_execution = false;
    early_job c{config};
    c.start();
    c.run_for(1min);
    auto const begun = c.all(kind::body_began);
    CHECK(begun.size() == 24);
    for (auto const& o : begun) CHECK((c.lateness(o) > 0s && c.lateness(o) <= 2 * 40ms));
    CHECK_MESSAGE(c.wrong().empty(), c.wrong());
}
