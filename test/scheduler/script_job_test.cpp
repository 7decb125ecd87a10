// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/allocation/average.hpp>
#include <elasticjob/execution/script_executor.hpp>
#include <elasticjob/registry/memory_registry.hpp>
#include <elasticjob/scheduler/job_scheduler.hpp>

#include <support/script_world.hpp>

#include <support/any_policies.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <map>
#include <mutex>
#include <optional>
#include <semaphore>
#include <string>

using namespace elasticjob;
using namespace elasticjob::test;
using namespace std::chrono_literals;

namespace {

/// Keeps the outcomes of the runs.
struct outcomes {
    std::mutex mutex;
    std::map<item_index, std::optional<error>> of;
    std::counting_semaphore<> ended{0};

    struct sink {
        outcomes* all;
        template <class E>
        void operator()(E const&) const {}
        void operator()(events::item_finished const& e) const {
            {
                std::lock_guard const lock{all->mutex};
                all->of[e.item] = e.failure;
            }
            all->ended.release();
        }
    };
};

using scripts = test::memory_scheduler<ScriptExecutor>;

} // namespace

TEST_CASE("scheduler.script_job: a script runs for each item, and its output and its end are known") {
    script_directory d;
    auto const work = d.file("work", "#!/bin/sh\n"
                                     "echo \"$1 $ELASTICJOB_SHARDING_PARAMETER\"\n"
                                     "test $ELASTICJOB_SHARDING_ITEM != 1 || exit 4\n");
    outcomes seen;
    std::mutex mutex;
    std::map<item_index, std::string> said;
    MemoryRegistry registry;
    scripts scheduler{registry, {}, outcomes::sink{&seen}};
    auto job = scheduler.schedule({.name = "report",
                                   .cron = "0 0 0 1 1 ? 2099",
                                   .sharding_total_count = 3,
                                   .sharding_item_parameters = "0=A,1=B,2=C",
                                   .script_command_line = work + " 'the item'"},
                                  script{{}, [&](script_line const& line) {
                                             std::lock_guard const lock{mutex};
                                             said[line.run.item] = line.text;
                                         }});
    REQUIRE_MESSAGE(job, to_string(job.error()));
    REQUIRE(job->trigger());
    for (int n = 0; n < 3; ++n) REQUIRE(seen.ended.try_acquire_for(30s));
    CHECK(said == std::map<item_index, std::string>{{0, "the item A"}, {1, "the item B"}, {2, "the item C"}});
    std::lock_guard const lock{seen.mutex};
    CHECK(!seen.of[0]);
    CHECK(!seen.of[2]);
    REQUIRE(seen.of[1]);
    CHECK(seen.of[1]->what == "'" + work + "' left with exit code 4");
}

TEST_CASE("scheduler.script_job: run_time_limit and leaving end a script; an empty command line is refused") {
    script_directory d;
    life_sign const life{d};
    auto const endless = d.file("endless", "#!/bin/sh\n"
                                           "exec 9>" +
                                               life.path() +
                                               "\n"
                                               "echo ready\n"
                                               "sleep 1000; sleep 1000\n");
    outcomes seen;
    std::binary_semaphore ready{0};
    MemoryRegistry registry;
    scripts scheduler{registry, {.drain_timeout = 0ms}, outcomes::sink{&seen}};
    script const body{{.grace = 1h}, [&](script_line const&) { ready.release(); }};
    job_config config{.name = "endless", .cron = "0 0 0 1 1 ? 2099", .script_command_line = ""};
    CHECK(scheduler.schedule(config, body).error() == errc::invalid_config);

    config.script_command_line = endless;
    {
        auto job = scheduler.schedule(config, body);
        REQUIRE_MESSAGE(job, to_string(job.error()));
        REQUIRE(job->trigger());
        REQUIRE(ready.try_acquire_for(30s));
    }
    CHECK(life.all_are_gone());
    REQUIRE(seen.ended.try_acquire_for(30s));
    CHECK(seen.of[0].value().what.find("asked to stop (draining)") != std::string::npos);

    config.run_time_limit = 50ms;
    auto job = scheduler.schedule(config, body);
    REQUIRE_MESSAGE(job, to_string(job.error()));
    REQUIRE(job->trigger());
    REQUIRE(seen.ended.try_acquire_for(30s));
    CHECK(seen.of[0].value() == errc::timed_out);
}

TEST_CASE("scheduler.script_job: the default body") {
    MemoryRegistry registry;
    job_scheduler<MemoryRegistry, AverageAllocation, ScriptExecutor> scheduler{registry};
    CHECK(scheduler.schedule({.name = "plain", .cron = "0 0 0 1 1 ? 2099", .script_command_line = "true"}, script{}));
    CHECK(scheduler.schedule({.name = "timed", .cron = "0 0 0 1 1 ? 2099", .script_command_line = "true"},
                             script{{.time_limit = 10min}}));
}

namespace {

/// The events of runs, in their order.
struct transcript {
    std::mutex mutex;
    std::map<item_index, std::string> of;
    std::counting_semaphore<> shared{0}, ended{0};

    struct sink {
        transcript* all;
        template <class E>
        void operator()(E const&) const {}
        void operator()(events::share_changed const& e) const {
            if (!e.items.empty()) all->shared.release();
        }
        void operator()(events::item_started const& e) const { add(e.item, "started " + std::to_string(e.run.number != 0)); }
        void operator()(events::script_output const& e) const {
            add(e.item, "|" + std::string{name_of(e.stream)} + " " + std::string{e.text} + " " + std::to_string(e.dropped) +
                            " " + std::to_string(e.lost) + (e.run.task_id.starts_with("report@-@") ? "" : " of no run"));
        }
        void operator()(events::item_finished const& e) const {
            add(e.item, "|finished");
            all->ended.release();
        }
        void add(item_index item, std::string const& text) const {
            std::lock_guard const lock{all->mutex};
            all->of[item] += text;
        }
    };
};

} // namespace

TEST_CASE("scheduler.script_job: the output of a script is reported between the start and the end of its run") {
    script_directory d;
    auto const work = d.file("work", "#!/bin/sh\necho one $ELASTICJOB_SHARDING_ITEM\necho two two two\nprintf end\n");
    for (bool const is_monitored : {true, false}) {
        transcript seen;
        MemoryRegistry registry;
        test::memory_scheduler<ScriptExecutor> scheduler{registry, {}, transcript::sink{&seen}};
        auto job = scheduler.schedule({.name = "report",
                                       .cron = "0 0 0 1 1 ? 2099",
                                       .sharding_total_count = 2,
                                       .script_command_line = work,
                                       .monitor_execution = is_monitored},
                                      script{{.line_max = 7}, EventOutput{}});
        REQUIRE_MESSAGE(job, to_string(job.error()));
        REQUIRE(seen.shared.try_acquire_for(30s));
        REQUIRE(job->trigger());
        for (int n = 0; n < 2; ++n) REQUIRE(seen.ended.try_acquire_for(30s));
        std::lock_guard const lock{seen.mutex};
        std::string const end = "|stdout two two 4 0|stdout end 0 0|finished";
        CHECK(seen.of == std::map<item_index, std::string>{{0, "started 1|stdout one 0 0 0" + end},
                                                           {1, "started 1|stdout one 1 0 0" + end}});
    }
}
