// SPDX-License-Identifier: Apache-2.0
// Features of jobs beyond ElasticJob's, on a real server with its transactions, versions and watches.
#include <elasticjob/operations/add_job.hpp>
#include <elasticjob/operations/dead_letters.hpp>
#include <elasticjob/operations/remove_job.hpp>
#include <elasticjob/scheduler/job_catalog.hpp>
#include <elasticjob/scheduler/job_scheduler.hpp>

#include <elasticjob/allocation/average.hpp>
#include <elasticjob/core/block_on.hpp>
#include <elasticjob/execution/run_record.hpp>
#include <elasticjob/execution/simple_executor.hpp>

#include <integration/zk_lab.hpp>
#include <support/zk_schedulers.hpp>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <string>
#include <vector>

using namespace elasticjob;
using namespace elasticjob::test;

namespace {

/// The parameters of the body calls.
class log_of_runs {
public:
    void add(sharding_context const& c) {
        std::lock_guard const lock{mutex_};
        runs_[c.job_name].push_back({c.due, c.after, c.attempt});
        changed_.notify_all();
    }
    struct one {
        wall_time due;
        std::optional<wall_time> after;
        std::uint32_t attempt;
    };
    /// Waits for this many calls of this job; empty if they never come.
    std::vector<one> wait_for(std::string const& job, std::size_t count) {
        std::unique_lock lock{mutex_};
        if (!changed_.wait_for(lock, 30s, [&] { return runs_[job].size() >= count; })) return {};
        return runs_[job];
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    std::map<std::string, std::vector<one>> runs_;
};

} // namespace

TEST_CASE("zk_jobs: jobs follow one another, fail, are tried again, come and go") {
    shared_zk_server server;
    auto r = connected(to(server));
    using scheduler_type = test::zk_scheduler<SimpleExecutor>;
    scheduler_options options;
    options.server_ip = "10.0.0.1";
    options.pool.threads = 4;
    scheduler_type scheduler{r, options, NoEvents{}};
    log_of_runs log;
    auto const note = [&](sharding_context const& c) { log.add(c); };
    auto const followed = [](std::string name, std::string job) {
        job_config c;
        c.name = std::move(name);
        c.schedules = {job_schedule::after_job(std::move(job))};
        return c;
    };

    SUBCASE("each round of a job is followed once, and a job that would wait for itself is refused") {
        auto second = scheduler.schedule(followed("second", "first"), note); // the followed job comes later
        REQUIRE(second);
        job_config config;
        config.name = "first";
        config.cron = "* * * * * ?";
        config.sharding_total_count = 3;
        auto first = scheduler.schedule(config, note);
        REQUIRE(first);
        auto const runs = log.wait_for("second", 3);
        REQUIRE(runs.size() >= 3);
        for (std::size_t n = 0; n < runs.size(); ++n) {
            REQUIRE(runs[n].after);
            if (n > 0) CHECK(*runs[n].after > *runs[n - 1].after);
        }
        CHECK(first->shutdown());
        auto circle = followed("first", "second");
        circle.overwrite = true;
        CHECK(scheduler.schedule(circle, note).error() == errc::invalid_config);
        CHECK(add_job(r, circle).error() == errc::invalid_config);
    }

    SUBCASE("a leader is elected although the server has removed the empty election queue") {
        job_config config;
        config.name = "settle";
        config.cron = "0 0 0 1 1 ? 2099";
        auto job = scheduler.schedule(config, note);
        REQUIRE(job);
        REQUIRE(job->trigger());
        REQUIRE(log.wait_for("settle", 1).size() == 1); // so there is a leader, and the queue is empty
        on_loop(r.loop(), [&]() -> task<> {
            auto const queue = co_await r.remove(at("/settle/leader/election/latch")); // Curator made it as a container
            REQUIRE(queue);
            auto const office = at("/settle/leader/election/instance");
            auto const removed = co_await r.remove(office);
            REQUIRE(removed);
            for (;;) {
                event_watch<event_loop> changed{r.loop()};
                auto const leader = co_await r.exists(office, &changed);
                REQUIRE(leader);
                if (*leader) break;
                co_await changed.fired();
            }
        });
        CHECK(job->shutdown());
    }

    SUBCASE("a failed run is retried, then becomes a dead letter, which an operator can run again") {
        std::atomic<bool> fails{true};
        job_config config;
        config.name = "settle";
        config.cron = "0 0 0 1 1 ? 2099";
        config.retry = {.attempts_max = 2, .pause = 50ms};
        auto job = scheduler.schedule(config, [&](sharding_context const& c) -> result<void> {
            log.add(c);
            if (fails) return error{errc::job_failed, "out of paper"};
            return success();
        });
        REQUIRE(job);
        REQUIRE(job->trigger());
        REQUIRE(log.wait_for("settle", 2).size() == 2);
        REQUIRE(job->wait_idle());
        auto letters = list_dead_letters(r, "settle");
        REQUIRE(letters);
        REQUIRE(letters->size() == 1);
        CHECK(letters->front().run.run.attempt == 2);
        fails = false;
        REQUIRE(run_again(r, "settle", 0, letters->front().run.run.due));
        auto const runs = log.wait_for("settle", 3);
        REQUIRE(runs.size() == 3);
        CHECK(runs[2].attempt == 3);
        CHECK(runs[2].due == runs[0].due);
        REQUIRE(job->wait_idle());
        CHECK(list_dead_letters(r, "settle")->empty());
    }

    SUBCASE("a catalog runs added jobs, and stops removed ones") {
        job_catalog catalog{scheduler};
        REQUIRE(catalog.add("importer", [&](job_config const&) { return note; }));
        REQUIRE(catalog.follow());
        job_config config;
        config.name = "import";
        config.cron = "* * * * * ?";
        config.job_class = "importer";
        REQUIRE(add_job(r, config));
        REQUIRE(log.wait_for("import", 2).size() >= 2);
        REQUIRE(remove_job(r, "import"));
        CHECK(ends_job(catalog, "import"));
        CHECK(add_job(r, config).error() == errc::removed);
    }
}

TEST_CASE("zk_jobs: with `start_ahead` runs are on record before their instants, at which their bodies begin") {
    shared_zk_server server;
    auto r = connected(to(server));
    scheduler_options options;
    options.server_ip = "10.0.0.1";
    options.start_ahead = 500ms;
    test::zk_scheduler<SimpleExecutor> scheduler{r, options, NoEvents{}};
    log_of_runs log;
    std::atomic<int> too_early = 0;
    auto job = scheduler.schedule({.name = "settle", .cron = "* * * * * ?"}, [&](sharding_context const& c) {
        too_early += std::chrono::system_clock::now() < c.due;
        log.add(c);
    });
    REQUIRE(job);
    REQUIRE(log.wait_for("settle", 4).size() >= 4);
    CHECK(too_early == 0);
    REQUIRE(job->shutdown());
    auto const there = block_on(r.loop(), r.get(at("/settle/ext/run/0")));
    REQUIRE(there);
    auto const ledger = run_record::parse(there->data).value().ledger;
    // A start on record before the instant says that the body begins at the instant; a later one says how late.
    CHECK(std::ranges::any_of(ledger, [](run_entry const& e) { return e.run.begun == e.run.due; }));
    for (std::size_t n = 1; n < ledger.size(); ++n) CHECK(ledger[n].run.due == ledger[n - 1].run.due + 1s);
}
