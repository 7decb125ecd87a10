// SPDX-License-Identifier: Apache-2.0
// All jobs of a scheduler leave at the same time, but not more than the registry can answer in time.
#include <elasticjob/scheduler/job_scheduler.hpp>

#include <elasticjob/execution/simple_executor.hpp>

#include <support/any_policies.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

using namespace elasticjob;
using namespace elasticjob::test;
using namespace std::chrono_literals;

TEST_CASE("scheduler.leave_all: all jobs leave, at most 64 at a time, and each handle tells that its job has ended") {
    virtual_loop loop{wall_time{1'767'225'600s}};
    basic_memory_server<virtual_loop> server{loop};
    virtual_registry registry{server};
    virtual_scheduler<SimpleExecutor> scheduler{registry, {}, LoopPool{loop}, NoEvents{}, UtcZone{}};
    std::vector<decltype(scheduler)::handle> jobs;
    for (int n = 0; n < 150; ++n) {
        auto job = scheduler.schedule({.name = "job-" + std::to_string(n), .cron = "0 0 0 1 1 ? 2099"}, [] {});
        REQUIRE(job);
        jobs.push_back(*std::move(job));
    }
    auto const count = [&](auto which) {
        auto const all = scheduler.jobs().value();
        return std::count_if(all.begin(), all.end(), which);
    };
    auto const is_leaving = [](job_status const& s) { return s.state == job_state::leaving; };
    auto const is_there = [](job_status const&) { return true; };
    scheduler.leave_all();
    std::ptrdiff_t most = 0;
    for (auto left = count(is_there); left > 0; left = count(is_there)) {
        most = std::max(most, count(is_leaving));
        REQUIRE(loop.step());
    }
    CHECK(most == 64);
    for (int n = 0; n < 150; ++n) {
        auto const* const instances = server.tree().find(node_path::parse("/job-" + std::to_string(n) + "/instances").value());
        REQUIRE(instances);
        CHECK(instances->stat.children == 0);
    }
    CHECK(jobs.front().trigger().error() == errc::closed);
    CHECK(jobs.back().shutdown());
}
