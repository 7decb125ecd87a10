// SPDX-License-Identifier: Apache-2.0
// All jobs of a scheduler leave at the same time, but not more than the registry can answer in time.
#include <elasticjob/scheduler/job_scheduler.hpp>

#include <elasticjob/core/task.hpp>
#include <elasticjob/execution/simple_executor.hpp>
#include <elasticjob/operations/add_job.hpp>

#include <support/any_policies.hpp>
#include <support/catalog_world.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace elasticjob;
using namespace elasticjob::test;
using namespace std::chrono_literals;

namespace {

using scheduler_type = virtual_scheduler<SimpleExecutor>;
using handle = scheduler_type::handle;

/// A process with a scheduler, in virtual time.
struct process {
    virtual_loop loop{wall_time{1'767'225'600s}};
    basic_memory_server<virtual_loop> server{loop};
    virtual_registry registry{server};
    scheduler_type scheduler{registry, {}, LoopPool{loop}, NoEvents{}, UtcZone{}};

    static job_config config(std::string name) {
        job_config c;
        c.name = std::move(name);
        c.cron = "0 0 0 1 1 ? 2099";
        return c;
    }
    result<handle> schedule(std::string name) {
        return scheduler.schedule(config(std::move(name)), [] {});
    }

    /// The registered instances of the job.
    std::int32_t instances(std::string const& name) {
        auto const* const parent = server.tree().find(node_path::parse("/" + name + "/instances").value());
        return parent ? parent->stat.children : 0;
    }
};

task<void> schedule_on(process& p, std::optional<result<handle>>& scheduled) {
    scheduled.emplace(co_await p.scheduler.async_schedule(process::config("x"), [] {}));
}

} // namespace

TEST_CASE("scheduler.leave_all: all jobs leave, at most 64 at a time, and each handle tells that its job has ended") {
    process p;
    std::vector<handle> jobs;
    for (int n = 0; n < 150; ++n) {
        auto job = p.schedule("job-" + std::to_string(n));
        REQUIRE(job);
        jobs.push_back(*std::move(job));
    }
    auto const count_leaving = [&] {
        auto const all = p.scheduler.jobs().value();
        return std::count_if(all.begin(), all.end(), [](job_status const& s) { return s.state == job_state::leaving; });
    };
    auto const count_left = [&] {
        std::ptrdiff_t left = 0;
        for (auto const& job : jobs) left += p.instances(job.name()) == 0;
        return left;
    };
    p.scheduler.leave_all();
    std::ptrdiff_t most = 0;
    for (auto left = count_left(); left < 150; left = count_left()) {
        most = std::max(most, count_leaving() - left);
        REQUIRE(p.loop.step());
    }
    CHECK(most == 64);
    CHECK(jobs.front().trigger().error() == errc::closed);
    CHECK(jobs.back().shutdown());
}

TEST_CASE(
    "scheduler.leave_all: at any moment of a start, the job leaves or is not asked to, and leaves no node behind") {
    int stayed = 0;
    for (int steps = 0;; ++steps) {
        process p;
        std::optional<result<handle>> scheduled;
        task_scope tasks;
        post(p.loop, [&] { tasks.spawn(schedule_on(p, scheduled)); });
        for (int n = 0; n < steps; ++n) REQUIRE(p.loop.step());
        bool const has_started = scheduled.has_value();
        p.scheduler.leave_all();
        while (!scheduled) REQUIRE(p.loop.step());
        REQUIRE(*scheduled);
        p.loop.run_for(1s);
        bool const stays = (*scheduled)->status().has_value();
        stayed += stays;
        CHECK(p.instances("x") == (stays ? 1 : 0));
        CHECK((*scheduled)->shutdown());
        CHECK(p.instances("x") == 0);
        if (!has_started) continue;
        CHECK_FALSE(stays);
        break;
    }
    CHECK(stayed > 0);
}

TEST_CASE("scheduler.leave_all: a handle whose job has left keeps the name, so it ends no other job") {
    process p;
    auto job = p.schedule("x").value();
    p.scheduler.leave_all();
    p.loop.run_for(1s);
    CHECK(p.instances("x") == 0);
    CHECK(p.schedule("x").error() == errc::job_conflict);
    CHECK(job.shutdown());
    job = p.schedule("x").value();
    CHECK(job.status());
    CHECK(p.instances("x") == 1);
}

TEST_CASE("scheduler.leave_all: a catalog may end, or start jobs, at any moment") {
    for (int steps = 0; steps < 80; ++steps) {
        catalog_world w;
        for (auto const* name : {"a", "b", "c"}) add_job(w.by_hand, w.job(name)).value();
        auto& leaving = w.start();
        w.run_for(1s);
        leaving.leave_all();
        for (int n = 0; n < steps; ++n) REQUIRE(w.loop.step());
        w.processes.front().reset();
        auto& starting = w.start();
        for (int n = 0; n < steps; ++n) REQUIRE(w.loop.step());
        starting.leave_all();
        w.run_for(2s);
        w.processes.back().reset();
        for (auto const* name : {"a", "b", "c"}) CHECK(w.children(std::string{"/"} + name + "/instances").empty());
    }
}
