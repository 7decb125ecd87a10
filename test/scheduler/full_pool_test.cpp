// SPDX-License-Identifier: Apache-2.0
// Calls that belong to a run that has begun are made, even if the pool takes no more for the moment.
#include <elasticjob/scheduler/job_scheduler.hpp>

#include <elasticjob/allocation/average.hpp>
#include <elasticjob/core/virtual_loop.hpp>
#include <elasticjob/execution/simple_executor.hpp>
#include <elasticjob/registry/memory_registry.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace elasticjob;
using namespace std::chrono_literals;

namespace {

/// Refuses work as often as it is told to.
struct shy_pool {
    virtual_loop* loop;
    int* refusals;
    bool try_submit(work& w) {
        if (*refusals > 0) return --*refusals, false;
        loop->post(w);
        return true;
    }
};

struct diary {
    std::vector<std::string>* lines;
    int* refusals;
    void before_round(job_round const&) const {
        lines->push_back("round");
        *refusals = 3;
    }
    void before(sharding_context const& ctx) const { lines->push_back("before " + std::to_string(ctx.attempt)); }
    void after(sharding_context const& ctx, result<void> const&) const {
        lines->push_back("after " + std::to_string(ctx.attempt));
        *refusals = 3;
    }
};

struct ask {
    std::vector<std::string>* lines;
    void operator()(failed_run const& run) const { lines->push_back("failed " + std::to_string(run.attempt)); }
};

} // namespace

namespace {

/// One instance, whose pool refuses as often as `refusals` says.
struct lone_instance {
    using registry_type = basic_memory_registry<virtual_loop>;
    using handlers = ErrorHandlers<ask, StopJob>;

    virtual_loop loop{wall_time{1'767'225'600s}};
    basic_memory_server<virtual_loop> server{loop};
    registry_type registry{server};
    std::vector<std::string> lines;
    int refusals = 0;
    job_scheduler<registry_type, AverageAllocation, SimpleExecutor, shy_pool, NoEvents, UtcZone, Listeners<diary>, handlers>
        scheduler{registry,  {.drain_timeout = 1s, .round_start_timeout = 2s}, shy_pool{&loop, &refusals}, NoEvents{}, UtcZone{},
                  Listeners{diary{&lines, &refusals}}, handlers{ask{&lines}, StopJob{}}};
};

} // namespace

TEST_CASE("scheduler.full_pool: listeners and error handlers wait for room, and a handler stops the job") {
    lone_instance it;
    job_config config{.name = "settle", .cron = "0 * * * * ?"};
    config.retry = {.attempts_max = 2, .pause = 1s, .spread_percent = 0};
    int calls = 0;
    auto job = it.scheduler.schedule(config, [&](sharding_context const&) -> result<void> {
        ++calls;
        it.refusals = 3;
        return error{errc::job_failed, "out of paper"};
    });
    REQUIRE(job);
    it.loop.run_for(59s);
    it.refusals = 3; // for the first hook; earlier calls use up the other refusals
    it.loop.run_for(10min);
    CHECK(calls == 1); // the handler has stopped the job
    CHECK(it.lines == std::vector<std::string>{"round", "before 1", "after 1", "failed 1"});
}

TEST_CASE("scheduler.full_pool: the wait for hooks does not count for the time limit of a run") {
    lone_instance it;
    job_config config{.name = "settle", .cron = "0 * * * * ?"};
    config.run_time_limit = 500ms;
    int calls = 0;
    auto job = it.scheduler.schedule(config, [&] { ++calls; });
    REQUIRE(job);
    it.loop.run_for(59s);
    it.refusals = 5; // for a second
    it.loop.run_for(10s);
    CHECK(it.lines == std::vector<std::string>{"round", "before 1", "after 1"});
    CHECK(calls == 1);
}

TEST_CASE(
    "scheduler.full_pool: a hook before a round that does not get its turn in time is not called after the items") {
    lone_instance it;
    auto job = it.scheduler.schedule({.name = "settle", .cron = "0 * * * * ?"}, [] {});
    REQUIRE(job);
    it.loop.run_for(59s);
    it.refusals = 30; // more than the round waits for
    it.loop.run_for(30s);
    CHECK(it.lines == std::vector<std::string>{"before 1", "after 1"});
}

TEST_CASE(
    "scheduler.full_pool: a failed run stays failed, though it is asked to stop before its listeners are called") {
    lone_instance it;
    auto job = it.scheduler.schedule({.name = "settle", .cron = "0 * * * * ?"}, [&](sharding_context const&) -> result<void> {
        it.refusals = 25; // for five seconds
        return error{errc::job_failed, "out of paper"};
    });
    REQUIRE(job);
    it.loop.run_for(61s);
    CHECK(it.lines == std::vector<std::string>{"round", "before 1"});
    REQUIRE(job->shutdown()); // it asks runs to stop a second later
    CHECK(it.lines == std::vector<std::string>{"round", "before 1", "after 1", "failed 1"});
    auto const record = run_record::parse(it.server.tree().find(node_path::parse("/settle/ext/run/0").value())->data).value();
    REQUIRE(record.dead_letters.size() == 1);
    CHECK(record.dead_letters[0].outcome == run_outcome::failed);
}
