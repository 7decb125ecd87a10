// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/elasticjob.hpp>
#include <elasticjob/operations/add_job.hpp>
#include <elasticjob/scheduler/job_catalog.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <thread>

using namespace elasticjob;
using namespace std::chrono_literals;

TEST_CASE("scheduler.job_catalog: it can end while runs keep all threads and another job is being started") {
    constexpr int threads = 2;
    MemoryRegistry registry;
    scheduler_options options;
    options.drain_timeout = 0s;
    options.pool.threads = threads;
    job_scheduler<MemoryRegistry, AverageAllocation, SimpleExecutor> scheduler{registry, options};
    std::atomic<int> begun{0}, stopped{0};
    std::mutex m;
    std::condition_variable_any news;
    {
        job_catalog catalog{scheduler};
        REQUIRE(catalog.add("stream", [&](job_config const&) {
            return [&](sharding_context const& shard) {
                ++begun;
                std::unique_lock lock{m};
                news.wait_for(lock, shard.stop, 20s, [] { return false; });
                if (shard.stop.stop_requested()) ++stopped;
            };
        }));
        REQUIRE(catalog.follow());
        REQUIRE(add_job(registry, {.name = "keeps-threads",
                                   .cron = "* * * * * ?",
                                   .sharding_total_count = threads,
                                   .job_class = "stream"}));
        while (begun < threads) std::this_thread::yield();
        REQUIRE(add_job(registry, {.name = "waits", .cron = "* * * * * ?", .job_class = "stream"}));
        // Each call is a turn of the loop; after so many of them, the catalog waits for a thread to make the body.
        for (int n = 0; n < 100; ++n) CHECK(catalog.running()->size() == 1);
    }
    CHECK(begun == threads);
    CHECK(stopped == threads);
}
