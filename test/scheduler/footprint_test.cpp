// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/scheduler/job_catalog.hpp>

#include <elasticjob/allocation/average.hpp>
#include <elasticjob/core/block_on.hpp>
#include <elasticjob/execution/simple_executor.hpp>
#include <elasticjob/operations/add_job.hpp>
#include <elasticjob/registry/memory_registry.hpp>

#include <support/sanitized.hpp>
#include <support/standard_error.hpp>

#include <doctest/doctest.h>

#include <malloc.h>

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <optional>
#include <semaphore>
#include <string>
#include <vector>

using namespace elasticjob;

namespace {

std::ptrdiff_t threads_of_this_process() {
    return std::distance(std::filesystem::directory_iterator{"/proc/self/task"}, {});
}

#ifndef ELASTICJOB_TEST_SANITIZED // because its allocators keep no such account
std::size_t bytes_in_use() { return mallinfo2().uordblks; }

task<void> copy_node(MemoryRegistry& registry, node_path from, node_path to) {
    auto const original = co_await registry.get(from);
    if (original) (void)co_await registry.create(to, original->data, create_mode::persistent);
    auto const names = co_await registry.children(from);
    if (!names) co_return;
    for (auto const& name : *names) co_await copy_node(registry, from / name, to / name);
}

/// Of the nodes of one of these jobs. Those of all are copied.
std::size_t bytes_of_nodes(MemoryRegistry& registry, std::size_t jobs) {
    auto const before = bytes_in_use();
    auto const copy_all = [&]() -> task<result<void>> {
        for (std::size_t n = 0; n < jobs; ++n) {
            auto const number = std::to_string(n);
            co_await copy_node(registry, node_path{} / ("job" + number), node_path{} / ("sub" + number));
        }
        co_return success();
    };
    REQUIRE(block_on(registry.loop(), copy_all()));
    return (bytes_in_use() - before) / jobs;
}
#endif

} // namespace

TEST_CASE("scheduler.job_scheduler: one more job costs no thread, and less than 12 KiB beside the registry's nodes") {
    constexpr std::size_t few = 10;
    constexpr std::size_t many = 1000;
    MemoryRegistry registry;
    job_scheduler<MemoryRegistry, AverageAllocation, SimpleExecutor> scheduler{registry};
    std::vector<decltype(scheduler)::handle> jobs;
    auto const grow_to = [&](std::size_t count) {
        while (jobs.size() < count) {
            auto job = scheduler.schedule(
                {.name = "job" + std::to_string(jobs.size()), .cron = "0 0 0 1 1 ? 2099", .sharding_total_count = 3}, [] {});
            REQUIRE(job);
            jobs.push_back(*std::move(job));
        }
    };

    grow_to(few);
    auto const threads = threads_of_this_process();
#ifndef ELASTICJOB_TEST_SANITIZED
    auto const before = bytes_in_use();
#endif
    grow_to(few + many);
    CHECK(threads_of_this_process() == threads);
#ifndef ELASTICJOB_TEST_SANITIZED
    auto const of_job = (bytes_in_use() - before) / many;
    auto const of_nodes = bytes_of_nodes(registry, few + many);
    INFO("bytes of an idle job: ", of_job, ", of which its nodes in the registry take ", of_nodes);
    CHECK(of_job - of_nodes < 12 * 1024);
#endif
}

TEST_CASE("scheduler.job_catalog: jobs that are added cost no thread") {
    constexpr int many = 300;
    MemoryRegistry registry;
    job_scheduler<MemoryRegistry, AverageAllocation, SimpleExecutor> scheduler{registry};
    job_catalog catalog{scheduler};
    std::counting_semaphore<> made{0};
    auto const make = [&](job_config const&) {
        made.release();
        return [] {};
    };
    REQUIRE(catalog.add("elasticjob.Job", make));
    REQUIRE(catalog.follow());
    auto const threads = threads_of_this_process();
    for (int n = 0; n < many; ++n)
        REQUIRE(add_job(registry, {.name = "job" + std::to_string(n), .cron = "0 0 0 1 1 ? 2099"}));
    for (int n = 0; n < many; ++n) REQUIRE(made.try_acquire_for(std::chrono::seconds{30}));
    CHECK(threads_of_this_process() == threads);
}

TEST_CASE("scheduler.job_scheduler: an unread standard error stops no job") {
    MemoryRegistry registry;
    job_scheduler<MemoryRegistry, AverageAllocation, SimpleExecutor> scheduler{registry};
    std::counting_semaphore<> failed{0}, ran{0};
    std::optional<test::unread_stream> pipe{std::in_place, STDERR_FILENO};
    auto const bad = scheduler.schedule({.name = "bad", .cron = "0/1 * * * * ?"}, [&]() -> result<void> {
        failed.release();
        return error{errc::job_failed, "out of paper"};
    });
    auto const good = scheduler.schedule({.name = "good", .cron = "0/1 * * * * ?"}, [&] { ran.release(); });
    bool in_time = bad && good;
    for (int n = 0; n < 3; ++n) in_time = in_time && failed.try_acquire_for(std::chrono::seconds{30});
    while (ran.try_acquire()) {
    }
    for (int n = 0; n < 2; ++n) in_time = in_time && ran.try_acquire_for(std::chrono::seconds{30});
    pipe.reset(); // otherwise the end would wait, too
    CHECK(in_time);
}
