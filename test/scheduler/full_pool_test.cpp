// SPDX-License-Identifier: Apache-2.0
// What belongs to a run that has begun is called, though the pool takes no more for the moment.
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

/// Takes no work as often as it is told to.
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

TEST_CASE("scheduler.full_pool: listeners and error handlers wait for room, and a handler stops the job") {
    virtual_loop loop{wall_time{1'767'225'600s}};
    basic_memory_server<virtual_loop> server{loop};
    using registry_type = basic_memory_registry<virtual_loop>;
    registry_type registry{server};
    std::vector<std::string> lines;
    int refusals = 0;
    using handlers = ErrorHandlers<ask, StopJob>;
    job_scheduler<registry_type, AverageAllocation, SimpleExecutor, shy_pool, NoEvents, UtcZone, Listeners<diary>, handlers>
        scheduler{registry,  {}, shy_pool{&loop, &refusals}, NoEvents{}, UtcZone{}, Listeners{diary{&lines, &refusals}},
                  handlers{ask{&lines}, StopJob{}}};
    job_config config{.name = "settle", .cron = "0 * * * * ?"};
    config.retry = {.attempts_max = 2, .pause = 1s, .spread_percent = 0};
    int calls = 0;
    auto job = scheduler.schedule(config, [&](sharding_context const&) -> result<void> {
        ++calls;
        refusals = 3;
        return error{errc::job_failed, "out of paper"};
    });
    REQUIRE(job);
    loop.run_for(59s);
    refusals = 3; // for the first hook; the others are refused by what was called before
    loop.run_for(10min);
    CHECK(calls == 1); // the handler has stopped the job
    CHECK(lines == std::vector<std::string>{"round", "before 1", "after 1", "failed 1"});
}
