// SPDX-License-Identifier: Apache-2.0
// A day of a job in virtual time, with runs that fail, are tried again and are given up, as its sinks see it: numbers
// are exact, whatever another sink does.
#include <elasticjob/scheduler/job_scheduler.hpp>

#include <elasticjob/allocation/average.hpp>
#include <elasticjob/core/virtual_loop.hpp>
#include <elasticjob/events/firing_tracer.hpp>
#include <elasticjob/events/metrics_events.hpp>
#include <elasticjob/events/ring_events.hpp>
#include <elasticjob/events/sinks.hpp>
#include <elasticjob/execution/coroutine_executor.hpp>
#include <elasticjob/registry/memory_registry.hpp>

#include <support/any_policies.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <concepts>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>

using namespace elasticjob;
using namespace std::chrono_literals;

namespace {

struct throws {
    template <class E>
    void operator()(E const&) const {
        throw std::runtime_error{"no room"};
    }
};

/// The first two attempts of each hour's first run fail. The run of half past twelve hangs the first time.
struct day {
    task<result<void>> operator()(coroutine_context<virtual_loop> const& run) const {
        auto const at = run.due.time_since_epoch() % 24h;
        if (at % 1h == 0s && run.attempt < 3) co_return error{errc::job_failed, "out of paper"};
        bool const hangs = at == 12h + 30min && run.attempt == 1;
        co_await run.sleep_for(hangs ? std::chrono::seconds{120} : std::chrono::seconds{1});
        co_return success();
    }
};

/// The first attempt of item 1 fails in each firing, after the others have ended.
struct slow_item {
    task<result<void>> operator()(coroutine_context<virtual_loop> const& run) const {
        co_await run.sleep_for(std::chrono::seconds{1 + run.item % 2});
        if (run.item == 1 && run.attempt == 1) co_return error{errc::job_failed, "out of paper"};
        co_return success();
    }
};

/// Counts the states of firings, with their items and messages.
struct count_states {
    trace::firing_tracer& firings;
    std::map<std::string, int>& counts;

    template <class E>
    void operator()(E const& e) const {
        firings(e, [this]<class Row>(Row const& row) {
            if constexpr (std::same_as<Row, trace::execution_event>)
                ++counts[row.complete_time ? "ended" : "begun"];
            else
                ++counts[std::string{row.state} + row.sharding_items + row.message];
        });
    }
};

bool has(std::string const& text, std::string const& line) { return text.find(line + "\n") != text.npos; }

} // namespace

TEST_CASE("scheduler.sinks: a day in virtual time is reported exactly, though one of the sinks throws at every event") {
    virtual_loop loop{wall_time{1'767'225'600s}};
    basic_memory_server<virtual_loop> server{loop};
    using registry_type = basic_memory_registry<virtual_loop>;
    registry_type registry{server};
    MetricsEvents const numbers;
    RingEvents const ring{4};
    using sinks_type = Sinks<throws, MetricsEvents, RingEvents>;
    sinks_type sinks{throws{}, numbers, ring};
    auto const thrown = sinks.thrown();
    test::virtual_scheduler<CoroutineExecutor> scheduler{
        registry, {}, LoopPool<virtual_loop>{loop}, std::move(sinks), UtcZone{}};
    job_config config{.name = "settle", .cron = "0 * * * * ?"};
    config.retry = {.attempts_max = 3, .pause = 1s, .spread_percent = 0};
    config.give_up_after = 40s;
    auto job = scheduler.schedule(config, day{});
    REQUIRE(job);
    loop.run_for(24h + 30s);
    auto const text = numbers.expose();
    INFO(text);
    CHECK(has(text, "elasticjob_runs_started_total{job=\"settle\",source=\"schedule\"} 1489"));
    CHECK(has(text, "elasticjob_runs_total{job=\"settle\",outcome=\"success\"} 1440"));
    CHECK(has(text, "elasticjob_runs_total{job=\"settle\",outcome=\"job_failed\"} 48"));
    CHECK(has(text, "elasticjob_runs_total{job=\"settle\",outcome=\"timed_out\"} 1"));
    CHECK(has(text, "elasticjob_retries_total{job=\"settle\"} 49"));
    CHECK(has(text, "elasticjob_failures_total{job=\"settle\"} 0"));
    CHECK(has(text, "elasticjob_running{job=\"settle\"} 0"));
    CHECK(has(text, "elasticjob_duration_seconds_count{job=\"settle\"} 1489"));
    CHECK(has(text, "elasticjob_duration_seconds_sum{job=\"settle\"} 1480.0"));
    // A second and three for the retries, and 41 for the run that hung.
    CHECK(has(text, "elasticjob_lateness_seconds_sum{job=\"settle\"} 137.0"));
    CHECK((*thrown)[0] == ring.told());
    CHECK((*thrown)[1] == 0);
    auto const last = ring.read();
    REQUIRE(last.size() == 4);
    CHECK(ring.told() > 2 * 1489);
}

TEST_CASE("scheduler.sinks: the states of firings, where a retry is a firing of its own") {
    virtual_loop loop{wall_time{1'767'225'600s}};
    basic_memory_server<virtual_loop> server{loop};
    basic_memory_registry<virtual_loop> registry{server};
    trace::firing_tracer firings;
    std::map<std::string, int> counts;
    test::virtual_scheduler<CoroutineExecutor> scheduler{
        registry, {}, LoopPool<virtual_loop>{loop}, count_states{firings, counts}, UtcZone{}};
    job_config config{.name = "settle", .cron = "0 * * * * ?", .sharding_total_count = 3};
    config.retry = {.attempts_max = 2, .pause = 1s, .spread_percent = 0};
    auto job = scheduler.schedule(config, slow_item{});
    REQUIRE(job);
    loop.run_for(60min + 30s);
    CHECK(counts == std::map<std::string, int>{{"TASK_ERROR[0, 1, 2]{1=job_failed: out of paper}", 60},
                                               {"TASK_FINISHED[1]", 60},
                                               {"TASK_RUNNING[0, 1, 2]", 60},
                                               {"TASK_RUNNING[1]", 60},
                                               {"TASK_STAGING[0, 1, 2]Job 'settle' execute begin.", 60},
                                               {"TASK_STAGING[1]Job 'settle' execute begin.", 60},
                                               {"begun", 240},
                                               {"ended", 240}});
    CHECK(firings.open_count() == 0);
}
