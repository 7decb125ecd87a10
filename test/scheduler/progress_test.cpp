// SPDX-License-Identifier: Apache-2.0
// Progress reports of bodies: their receivers, how often they are written, and when they must not be written.
#include <elasticjob/scheduler/job_scheduler.hpp>

#include <elasticjob/allocation/average.hpp>
#include <elasticjob/core/virtual_loop.hpp>
#include <elasticjob/execution/coroutine_executor.hpp>
#include <elasticjob/execution/run_record.hpp>
#include <elasticjob/execution/simple_executor.hpp>
#include <elasticjob/operations/explain.hpp>

#include <support/any_policies.hpp>
#include <support/job_world.hpp> // losing

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <semaphore>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace elasticjob;
using namespace elasticjob::test;
using namespace std::chrono_literals;

namespace {

using run_type = coroutine_context<virtual_loop>;

/// The events that a sink receives, in words: `done/total`, and how the run begins and ends.
struct report_sink {
    std::vector<std::string>* into;
    template <class E>
    void operator()(E const&) const {}
    void operator()(events::item_started const&) const { into->push_back("started"); }
    void operator()(events::item_progressed const& e) const {
        CHECK(e.run.number != 0);
        into->push_back(std::to_string(e.done) + "/" + std::to_string(e.total));
    }
    void operator()(events::item_finished const& e) const { into->push_back(e.failure ? "failed" : "finished"); }
    void operator()(events::item_fenced const&) const { into->push_back("fenced"); }
};

struct loop_pool {
    virtual_loop* loop;
    bool try_submit(work& w) {
        loop->post(w);
        return true;
    }
};

/// A process.
struct member {
    using scheduler_type = virtual_scheduler<CoroutineExecutor>;

    member(virtual_loop& l, basic_memory_server<virtual_loop>& s, std::uint64_t seed)
        : registry{s},
          scheduler{registry, {.seed = seed}, loop_pool{&l}, report_sink{&told}, UtcZone{}} {}

    virtual_registry registry;
    std::vector<std::string> told;
    scheduler_type scheduler;
};

struct progress_world {
    virtual_loop loop{wall_time{1'767'225'600s}};
    basic_memory_server<virtual_loop> server{loop};
    virtual_registry by_hand{server};
    member one{loop, server, 1}, two{loop, server, 2};

    node const* find_record(item_index i = 0) const {
        return server.tree().find(node_path::parse("/settle/ext/run/" + std::to_string(i)).value());
    }
    run_record record(item_index i = 0) const { return run_record::parse(find_record(i)->data).value(); }
    std::optional<run_progress> progress(item_index i = 0) const {
        return run_record::parse_progress(find_record(i)->data);
    }
    /// How often the record has been written.
    int writes(item_index i = 0) const { return find_record(i)->stat.version; }
    std::string explained() { return explain(by_hand, "settle", 0)->text; }
    void on_loop(auto f) {
        post(loop, f);
        loop.run_ready();
    }
};

/// On the hour, so that only the run acts between two hours.
job_config hourly(int items = 1) {
    return {.name = "settle", .cron = "0 0 * * * ?", .sharding_total_count = items, .failover = true};
}

/// A thousand reports in each millisecond.
task<void> report_in_a_hurry(run_type const& run, std::chrono::milliseconds span) {
    for (auto n = 1u; n <= span.count(); ++n) {
        for (auto k = 1u; k <= 1000; ++k) run.progress((n - 1) * 1000 + k, 1'000'000);
        co_await run.sleep_for(1ms);
    }
}

/// Until the run is over, whatever it is asked.
task<void> report_for(run_type const& run, std::chrono::seconds span, std::uint64_t first) {
    event_count<virtual_loop> never{run.loop()};
    for (auto n = 0; n < span / 100ms; ++n) {
        run.progress(first + static_cast<std::uint64_t>(n), 0);
        co_await never.newer_than(never.edition(), run.loop().now() + 100ms);
    }
}

bool is_report(std::string const& line) { return line.find('/') != line.npos; }

} // namespace

TEST_CASE("scheduler.progress: a million reports a second become one event and one write a second") {
    progress_world w;
    auto job = w.one.scheduler.schedule(hourly(), [](run_type const& run) { return report_in_a_hurry(run, 5'500ms); });
    REQUIRE(job);
    w.loop.run_for(1h + 10ms);
    auto const before = w.writes();
    CHECK_FALSE(w.progress()); // nothing in the first second
    w.loop.run_for(5'400ms);
    CHECK(w.writes() == before + 5);
    auto const seen = w.progress();
    REQUIRE(seen);
    CHECK(seen->done >= 4'990'000);
    CHECK(seen->done <= 5'010'000);
    CHECK(seen->total == 1'000'000);
    CHECK(seen->at == wall_time{1'767'225'600s + 1h + 5s});
    w.loop.run_for(1s);
    CHECK(w.writes() == before + 6); // the end
    CHECK_FALSE(w.progress());
    // The end of the run reports the last progress before it reports itself.
    REQUIRE(w.one.told.size() == 8);
    CHECK(std::count_if(w.one.told.begin(), w.one.told.end(), is_report) == 6);
    CHECK(w.one.told.front() == "started");
    CHECK(w.one.told[6] == "5500000/1000000");
    CHECK(w.one.told[7] == "finished");
}

TEST_CASE("scheduler.progress: a run that ends within a second writes nothing more, and the sink receives its progress "
          "once") {
    progress_world w;
    auto job = w.one.scheduler.schedule(hourly(), [](run_type const& run) { return report_in_a_hurry(run, 900ms); });
    REQUIRE(job);
    w.loop.run_for(1h + 10ms);
    auto const before = w.writes();
    w.loop.run_for(10s);
    CHECK(w.writes() == before + 1);
    CHECK(w.one.told == std::vector<std::string>{"started", "900000/1000000", "finished"});
}

TEST_CASE("scheduler.progress: unchanged progress is reported and written once") {
    progress_world w;
    auto job = w.one.scheduler.schedule(hourly(), [](run_type const& run) -> task<void> {
        for (int n = 0; n < 100; ++n) {
            run.progress(40, 100);
            co_await run.sleep_for(100ms);
        }
    });
    REQUIRE(job);
    w.loop.run_for(1h + 10ms);
    auto const before = w.writes();
    w.loop.run_for(9s);
    CHECK(w.writes() == before + 1);
    CHECK(w.explained().starts_with("It has been running on "));
    CHECK(w.explained().find(" It had done 40 of 100 by 2026-01-01 01:00:01 UTC.") != std::string::npos);
}

TEST_CASE("scheduler.progress: a job that is not monitored reports to its sink and writes nothing") {
    progress_world w;
    auto config = hourly();
    config.monitor_execution = false;
    config.failover = false;
    auto job = w.one.scheduler.schedule(config, [](run_type const& run) { return report_in_a_hurry(run, 2'500ms); });
    REQUIRE(job);
    w.loop.run_for(1h + 10s);
    CHECK(w.find_record() == nullptr);
    CHECK(std::count_if(w.one.told.begin(), w.one.told.end(), is_report) == 3);
}

TEST_CASE("scheduler.progress: while many items report, each waits longer, and about a hundred a second are written") {
    constexpr int items = 300;
    progress_world w;
    auto job = w.one.scheduler.schedule(hourly(items), [](run_type const& run) { return report_for(run, 60s, 1); });
    REQUIRE(job);
    auto const writes = [&] {
        int sum = 0;
        for (item_index i = 0; i < items; ++i) sum += w.writes(i);
        return sum;
    };
    w.loop.run_for(1h + 10s); // the first were in the first second: they did not know of the others
    auto const before = writes();
    w.loop.run_for(30s);
    CHECK(writes() - before <= 31 * 100);
    CHECK(writes() - before >= 29 * 90);
    for (item_index i = 0; i < items; ++i) CHECK(w.progress(i));
}

TEST_CASE("scheduler.progress: the last progress of a run whose instance has died stays until the item runs again") {
    progress_world w;
    auto config = hourly();
    config.failover = false;
    auto job = w.one.scheduler.schedule(config, [](run_type const& run) { return report_for(run, 1000s, 1); });
    REQUIRE(job);
    w.loop.run_for(1h + 4'500ms);
    w.on_loop([&] { w.one.registry.disconnect(); });
    w.loop.run_for(60s);
    auto const text = w.explained();
    INFO(text);
    CHECK(text.starts_with("It was interrupted: "));
    CHECK(text.find(". It had done 40 by 2026-01-01 01:00:04 UTC.") != text.npos);
    CHECK(text.find(" Failover is switched off, so it is not run again.") != text.npos);
    w.on_loop([&] { w.one.registry.reconnect(); });
    w.loop.run_for(1s);
}

TEST_CASE("scheduler.progress: a run that has lost its item writes no more, though its body goes on and reports") {
    progress_world w;
    // 1000 and more are reports of the first process, 2000 and more of the second.
    auto a = w.one.scheduler.schedule(hourly(), [](run_type const& run) { return report_for(run, 100s, 1000); });
    REQUIRE(a);
    w.loop.run_for(1h + 3s);
    REQUIRE(w.progress()->done >= 1000);
    auto b = w.two.scheduler.schedule(hourly(), [](run_type const& run) { return report_for(run, 100s, 2000); });
    REQUIRE(b);
    auto const first = w.record().running->instance;
    w.on_loop([&] { w.one.registry.disconnect(); });
    for (int n = 0; n < 600 && w.record().running->instance == first; ++n) w.loop.run_for(100ms);
    REQUIRE_FALSE(w.record().running->instance == first);
    CHECK_FALSE(w.progress()); // the progress of the run before has gone with it
    w.on_loop([&] { w.one.registry.reconnect(); });
    w.loop.run_for(100ms);
    // The first is registered again. From now on it is refused, or does not try: it writes to no record.
    int sets_of_first = 0;
    auto const count = [&](std::int64_t session, operation::kind const* write) {
        sets_of_first += session == w.one.registry.session().id && write && *write == operation::kind::set;
        return request_fate::served;
    };
    auto const told = w.one.told.size();
    {
        losing const counted{w.server, count};
        for (int n = 0; n < 200; ++n) {
            w.loop.run_for(100ms);
            auto const p = w.progress();
            if (p) CHECK(p->done >= 2000);
        }
    }
    CHECK(sets_of_first == 0);
    CHECK(w.one.told.size() > told + 10); // it went on reporting
    CHECK(w.progress()->done >= 2100);
    w.loop.run_for(200s);
    CHECK(w.one.told.back() == "fenced");
    CHECK(w.two.told.back() == "finished");
    CHECK(w.record().ledger.back().outcome == run_outcome::completed);
}

TEST_CASE("scheduler.progress: a report whose reply or session is lost leaves the run and its end whole") {
    for (auto const fate : {request_fate::request_lost, request_fate::reply_lost})
        for (bool const expires : {false, true}) {
            INFO("it has happened: " << (fate == request_fate::reply_lost) << ", the session ends: " << expires);
            progress_world w;
            auto job = w.one.scheduler.schedule(hourly(), [](run_type const& run) -> task<result<void>> {
                co_await report_for(run, 5s, 1);
                (void)run.checkpoint("row 7"); // is saved with the end, though a report may be on its way
                co_return success();
            });
            REQUIRE(job);
            w.loop.run_for(1h + 1s + 500ms);
            auto const session = w.one.registry.session().id;
            int lost = 0;
            losing const network{w.server, [&](std::int64_t s, operation::kind const* write) {
                                     bool const is_report = s == session && write && *write == operation::kind::set;
                                     if (!is_report || lost++ != 0) return request_fate::served;
                                     if (expires) post(w.loop, [&] { w.one.registry.expire(); });
                                     return fate;
                                 }};
            w.loop.run_for(30s);
            CHECK(lost > 0);
            CHECK_FALSE(w.record().running);
            CHECK_FALSE(w.progress());
            CHECK(w.record().checkpoint == "row 7");
            CHECK(w.record().ledger.size() == 1);
            CHECK(w.record().ledger.back().outcome == run_outcome::completed);
            CHECK(w.one.told.back() == "finished");
        }
}

TEST_CASE("scheduler.progress: a checkpoint for the end of the run is saved, though a report is written first") {
    progress_world w;
    auto job = w.one.scheduler.schedule(hourly(), [](run_type const& run) -> task<result<void>> {
        co_await report_for(run, 3s, 1);
        co_return run.checkpoint("row 7");
    });
    REQUIRE(job);
    w.loop.run_for(1h + 1s + 500ms);
    auto const before = w.writes();
    w.on_loop([&] { w.one.registry.disconnect(); });
    w.loop.run_for(3s); // the report of 2 s waits for the connection, and the body ends
    CHECK(w.writes() == before);
    CHECK(w.one.told.back() == "finished"); // the end is reported at once
    w.on_loop([&] { w.one.registry.reconnect(); });
    w.loop.run_for(1s);
    CHECK(w.writes() == before + 2);
    CHECK(w.record().checkpoint == "row 7");
    CHECK(w.record().ledger.back().outcome == run_outcome::completed);
}

TEST_CASE("scheduler.progress: reports of a body that was given up reach no receiver") {
    progress_world w;
    auto config = hourly();
    config.give_up_after = 3'500ms; // with a report that was not passed on
    auto job = w.one.scheduler.schedule(config, [](run_type const& run) { return report_for(run, 100s, 1); });
    REQUIRE(job);
    w.loop.run_for(1h + 4s);
    auto const told = w.one.told;
    CHECK(told.back() == "failed");
    auto const record = w.record();
    w.loop.run_for(200s);
    CHECK(w.one.told == told);
    CHECK(w.record() == record);
}

TEST_CASE("scheduler.progress: several threads of a body report at once") {
    MemoryRegistry registry;
    std::vector<std::string> told;
    std::binary_semaphore has_run{0};
    {
        memory_scheduler<SimpleExecutor> scheduler{registry, {}, any_sink{report_sink{&told}}};
        auto job = scheduler.schedule({.name = "settle", .cron = "0 0 0 1 1 ? 2099"}, [&](sharding_context const& c) {
            std::vector<std::jthread> threads;
            for (std::uint64_t t = 1; t <= 4; ++t)
                threads.emplace_back([&c] {
                    for (std::uint64_t n = 1; n <= 20'000; ++n) c.progress(n, 100'000);
                });
            threads.clear();
            c.progress(100'000, 100'000);
            has_run.release();
        });
        REQUIRE(job);
        REQUIRE(job->trigger());
        has_run.acquire();
        REQUIRE(job->shutdown());
    }
    REQUIRE(told.size() >= 3);
    CHECK(told.front() == "started");
    CHECK(told[told.size() - 2] == "100000/100000");
    CHECK(told.back() == "finished");
}

TEST_CASE("scheduler.progress: a coroutine that ends right after the report of a thread") {
    MemoryRegistry registry;
    std::vector<std::string> told;
    std::counting_semaphore<> has_run{0};
    {
        memory_scheduler<CoroutineExecutor> scheduler{registry, {}, any_sink{report_sink{&told}}};
        auto const body = [&](coroutine_context<event_loop> const& run) -> task<void> {
            std::jthread{[&run] { run.progress(1, 2); }}.join();
            has_run.release();
            co_return;
        };
        auto job = scheduler.schedule({.name = "settle", .cron = "0 0 0 1 1 ? 2099"}, body);
        REQUIRE(job);
        REQUIRE(job->trigger());
        has_run.acquire();
        REQUIRE(job->shutdown());
    }
    CHECK(told == std::vector<std::string>{"started", "1/2", "finished"});
}
