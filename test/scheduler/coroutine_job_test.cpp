// SPDX-License-Identifier: Apache-2.0
// Jobs that are coroutines, on virtual time.
#include <elasticjob/scheduler/job_scheduler.hpp>

#include <elasticjob/allocation/average.hpp>
#include <elasticjob/core/virtual_loop.hpp>
#include <elasticjob/execution/coroutine_executor.hpp>
#include <elasticjob/execution/run_record.hpp>
#include <elasticjob/registry/memory_registry.hpp>

#include <support/any_policies.hpp>

#include <doctest/doctest.h>

#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

using namespace elasticjob;
using namespace std::chrono_literals;

namespace {

using registry_type = basic_memory_registry<virtual_loop>;
using run_type = coroutine_context<virtual_loop>;

/// Counts the work that it receives, and takes no more than it is told to.
struct counting_pool {
    virtual_loop* loop;
    int* given;
    int* most;
    bool try_submit(work& w) {
        if (*given >= *most) return false;
        ++*given;
        loop->post(w);
        return true;
    }
};

struct coroutine_world {
    using scheduler_type = test::virtual_scheduler<CoroutineExecutor>;

    virtual_loop loop{wall_time{1'767'225'600s}};
    basic_memory_server<virtual_loop> server{loop};
    registry_type registry{server};
    int given = 0, most = 1'000'000;
    scheduler_type scheduler{registry, {}, counting_pool{&loop, &given, &most}, NoEvents{}, UtcZone{}};

    run_record record(item_index i) const {
        auto const* n = server.tree().find(node_path::parse("/wait/ext/run/" + std::to_string(i)).value());
        return run_record::parse(n ? n->data : "").value();
    }
};

task<void> save(run_type const& run, std::string text, std::vector<std::string>& heard) {
    auto const saved = co_await run.save(text);
    heard.push_back(saved ? text : to_string(saved.error()));
}

job_config hourly(int items) { return {.name = "wait", .cron = "0 0 * * * ?", .sharding_total_count = items}; }

} // namespace

TEST_CASE("coroutine_context: the longest sleep lasts until the run is asked to stop") {
    virtual_loop loop{wall_time{1'767'225'600s}};
    loop.run_for(1s);
    std::stop_source stop;
    run_type run{loop};
    run.stop = stop.get_token();
    std::optional<bool> goes_on;
    auto const sleep = [&]() -> task<void> { goes_on = co_await run.sleep_for(std::chrono::nanoseconds::max()); };
    task_scope tasks;
    tasks.spawn(sleep());
    loop.run_for(1h);
    CHECK_FALSE(goes_on);
    stop.request_stop();
    loop.run_for(1s);
    CHECK(goes_on == false);
}

TEST_CASE("scheduler.coroutine_job: a thousand items wait at the same time and use no thread") {
    coroutine_world w;
    int waiting = 0, most_waiting = 0, done = 0;
    auto job = w.scheduler.schedule(hourly(1000), [&](run_type const& run) -> task<result<void>> {
        most_waiting = std::max(most_waiting, ++waiting);
        bool const goes_on = co_await run.sleep_for(10min);
        --waiting;
        done += goes_on;
        co_return success();
    });
    REQUIRE(job);
    w.loop.run_for(1h + 9min);
    CHECK(waiting == 1000);
    CHECK(done == 0);
    CHECK(w.record(999).running);
    w.loop.run_for(2min);
    CHECK(done == 1000);
    CHECK(most_waiting == 1000);
    CHECK(w.given == 0);
    CHECK(w.record(999).ledger.back().outcome == run_outcome::completed);
}

TEST_CASE("scheduler.coroutine_job: the result or the exception of a body decides how the run ends, even for a task "
          "without a result") {
    coroutine_world w;
    auto job = w.scheduler.schedule(hourly(3), [](run_type const& run) -> task<result<void>> {
        co_await run.sleep_for(1s);
        if (run.item == 0) co_return error{errc::job_failed, "out of paper"};
        if (run.item == 1) throw std::runtime_error{"torn"};
        co_return success();
    });
    REQUIRE(job);
    w.loop.run_for(1h + 1min);
    CHECK(w.record(0).ledger.back().note == "job_failed: out of paper");
    CHECK(w.record(1).ledger.back().note == "job_threw: torn");
    CHECK(w.record(2).ledger.back().outcome == run_outcome::completed);

    auto plain = hourly(1);
    plain.name = "plain";
    int runs = 0;
    auto other = w.scheduler.schedule(plain, [&](run_type const& run) -> task<void> {
        co_await run.sleep_for(1s);
        ++runs;
    });
    REQUIRE(other);
    w.loop.run_for(1h);
    CHECK(runs == 1);
}

TEST_CASE("scheduler.coroutine_job: long work goes to the pool, and its result comes back") {
    coroutine_world w;
    std::vector<std::string> seen;
    auto job = w.scheduler.schedule(hourly(1), [&](run_type const& run) -> task<result<void>> {
        auto const tell = [&](result<void> const& r) { seen.push_back(r ? "done" : to_string(r.error())); };
        tell(co_await run.on_pool([&] { seen.push_back("works"); }));
        tell(co_await run.on_pool([]() -> result<void> { return error{errc::job_failed, "no"}; }));
        tell(co_await run.on_pool([] { throw std::runtime_error{"torn"}; }));
        w.most = 0;
        tell(co_await run.on_pool([] {}));
        co_return success();
    });
    REQUIRE(job);
    w.loop.run_for(1h + 1s);
    CHECK(seen == std::vector<std::string>{"works", "done", "job_failed: no", "job_threw: torn",
                                           "overloaded: the worker pool's queue is full"});
    CHECK(w.given == 3);
}

TEST_CASE("scheduler.coroutine_job: a checkpoint is written while the run goes on; without records it is refused") {
    for (bool const is_monitored : {true, false}) {
        coroutine_world w;
        std::vector<std::string> seen;
        auto config = hourly(1);
        config.monitor_execution = is_monitored;
        auto job = w.scheduler.schedule(config, [&](run_type const& run) -> task<result<void>> {
            seen.push_back(run.last_checkpoint);
            auto const saved = co_await run.save("row 7");
            seen.push_back(saved ? w.record(0).checkpoint : std::string{name_of(saved.error().code)});
            auto const large = co_await run.save(std::string(40'000, 'x'));
            seen.push_back(std::string{name_of(large.error().code)});
            co_return success();
        });
        REQUIRE(job);
        w.loop.run_for(2h + 1s);
        if (is_monitored)
            CHECK(seen == std::vector<std::string>{"", "row 7", "too_large", "row 7", "row 7", "too_large"});
        else
            CHECK(seen == std::vector<std::string>{"", "invalid_argument", "invalid_argument", "", "invalid_argument",
                                                   "invalid_argument"});
    }
}

TEST_CASE(
    "scheduler.coroutine_job: two checkpoints that are being written when the run is given up both come to an end") {
    coroutine_world w;
    std::vector<std::string> heard;
    auto config = hourly(1);
    config.give_up_after = 2min;
    auto job = w.scheduler.schedule(config, [&](run_type const& run) -> task<result<void>> {
        event_count<virtual_loop> never{w.loop};
        co_await never.newer_than(never.edition(), w.loop.now() + 1s);
        task_scope both;
        both.spawn(save(run, "row 7", heard));
        both.spawn(save(run, "row 8", heard)); // waits for the other
        co_await never.newer_than(never.edition(), w.loop.now() + 20min);
        co_return success();
    });
    REQUIRE(job);
    w.loop.run_for(1h + 500ms);
    post(w.loop, [&] { w.registry.disconnect(); });
    w.loop.run_for(3min);
    REQUIRE(heard.size() == 2); // the body does not wait for work that goes on without it
    for (auto const& one : heard) CHECK(one.starts_with("unknown_outcome"));
    CHECK(w.record(0).running);
    post(w.loop, [&] { w.registry.reconnect(); });
    w.loop.run_for(1min);
    CHECK_FALSE(w.record(0).running);
    CHECK(w.record(0).checkpoint == "row 8");
    CHECK(w.record(0).ledger.back().note.starts_with("timed_out"));
}

TEST_CASE("scheduler.coroutine_job: a request to stop wakes a sleeping run and tells it the reason") {
    for (bool const is_given_up : {false, true}) {
        coroutine_world w;
        std::optional<bool> went_on;
        stop_reason why{};
        auto config = hourly(1);
        config.run_time_limit = 1min;
        if (is_given_up) config.give_up_after = 2min;
        auto job = w.scheduler.schedule(config, [&](run_type const& run) -> task<result<void>> {
            went_on = co_await run.sleep_for(30min);
            why = run.why_stop();
            auto const late = co_await run.sleep_for(30min);
            CHECK_FALSE(late);
            if (is_given_up) {
                event_count<virtual_loop> never{w.loop};
                co_await never.newer_than(never.edition(), w.loop.now() + 20min); // deaf to requests
                auto const saved = co_await run.save("too late");
                CHECK(saved.error() == errc::fenced);
            }
            co_return error{errc::job_failed, "stopped"};
        });
        REQUIRE(job);
        w.loop.run_for(1h + 1min + 1s);
        REQUIRE(went_on);
        CHECK_FALSE(*went_on);
        CHECK(why == stop_reason::time_limit);
        w.loop.run_for(2min);
        auto const record = w.record(0);
        CHECK_FALSE(record.running);
        CHECK(record.ledger.back().note.starts_with(is_given_up ? "timed_out" : "job_failed: stopped"));
        w.loop.run_for(30min);
        CHECK(w.record(0) == record);
    }
}
