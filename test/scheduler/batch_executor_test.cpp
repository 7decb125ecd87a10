// SPDX-License-Identifier: Apache-2.0
// One call for all items that begin together.
#include <elasticjob/execution/batch_executor.hpp>

#include <elasticjob/execution/run_record.hpp>

#include <support/any_policies.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <semaphore>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace elasticjob;
using namespace elasticjob::test;
using namespace std::chrono_literals;

namespace {

using outcomes = std::vector<result<void>>;
using batch = std::vector<item_index>;

batch items_of(item_contexts all) {
    batch items;
    for (auto const* ctx : all) items.push_back(ctx->item);
    return items;
}

/// Takes no more than it is told to.
struct bounded_pool {
    virtual_loop* loop;
    int* room;
    bool try_submit(work& w) {
        if (*room == 0) return false;
        --*room;
        loop->post(w);
        return true;
    }
};

/// Its thread is busy until the test runs what waits.
struct busy_pool {
    std::vector<work*>* waiting;
    bool try_submit(work& w) {
        waiting->push_back(&w);
        return true;
    }
};

struct batch_world {
    explicit batch_world(std::chrono::milliseconds start_ahead = {})
        : scheduler{registry, {.start_ahead = start_ahead}, bounded_pool{&loop, &room}, NoEvents{}, UtcZone{}} {}

    virtual_loop loop{wall_time{1'767'225'600s}};
    basic_memory_server<virtual_loop> server{loop};
    virtual_registry registry{server};
    int room = 1'000'000;
    std::vector<batch> calls;
    virtual_scheduler<BatchExecutor> scheduler;

    run_record record(item_index i) const {
        auto const* n = server.tree().find(node_path::parse("/settle/ext/run/" + std::to_string(i)).value());
        return run_record::parse(n ? n->data : "").value();
    }
    std::string outcome(item_index i) const { return std::string{name_of(record(i).ledger.back().outcome)}; }
    std::string note(item_index i) const { return record(i).ledger.back().note; }
};

job_config hourly(int items) { return {.name = "settle", .cron = "0 0 * * * ?", .sharding_total_count = items}; }

/// An executor that answers for fewer items than it was given.
struct Forgetful {
    static constexpr job_type type = job_type::simple;
    template <class Body>
    outcomes operator()(Body&, item_contexts all) const {
        return outcomes(all.size() - 1, success());
    }
};

} // namespace

TEST_CASE(
    "scheduler.batch_executor: items that begin together share one call, in order, and each has its own outcome") {
    batch_world w;
    auto job = w.scheduler.schedule(hourly(4), [&](item_contexts all) {
        w.calls.push_back(items_of(all));
        outcomes ended;
        for (auto const* ctx : all)
            ended.push_back(ctx->item == 2 ? result<void>{error{errc::job_failed, "out of paper"}} : success());
        return ended;
    });
    REQUIRE(job);
    w.loop.run_for(1h + 1min);
    CHECK(w.calls == std::vector<batch>{{0, 1, 2, 3}});
    for (item_index const i : {0U, 1U, 3U}) CHECK(w.outcome(i) == "completed");
    CHECK(w.outcome(2) == "failed");
    CHECK(w.note(2) == "job_failed: out of paper");
    w.loop.run_for(1h);
    CHECK(w.calls.size() == 2);
}

TEST_CASE("scheduler.batch_executor: items that are started ahead of time share a call, too") {
    batch_world w{80ms};
    auto job = w.scheduler.schedule(hourly(4), [&](item_contexts all) { w.calls.push_back(items_of(all)); });
    REQUIRE(job);
    w.loop.run_for(2h + 1min);
    CHECK(w.calls == std::vector<batch>{{0, 1, 2, 3}, {0, 1, 2, 3}});
}

TEST_CASE("scheduler.batch_executor: a result counts for all items, and so does an exception") {
    batch_world w;
    auto job = w.scheduler.schedule(hourly(2), [&](item_contexts all) -> result<void> {
        w.calls.push_back(items_of(all));
        if (w.calls.size() == 1) return error{errc::job_failed, "no connection"};
        if (w.calls.size() == 2) throw std::runtime_error{"torn"};
        return success();
    });
    REQUIRE(job);
    for (auto const* note : {"job_failed: no connection", "job_threw: torn", ""}) {
        w.loop.run_for(1h + 1s);
        for (item_index const i : {0U, 1U}) CHECK(w.note(i) == note);
    }
}

TEST_CASE("scheduler.batch_executor: an item that is tried again is a batch of its own") {
    batch_world w;
    auto job = hourly(3);
    job.retry = {.attempts_max = 2, .pause = 10s};
    auto handle = w.scheduler.schedule(job, [&](item_contexts all) {
        w.calls.push_back(items_of(all));
        outcomes ended;
        for (auto const* ctx : all)
            ended.push_back(ctx->item == 1 && ctx->attempt == 1 ? result<void>{error{errc::job_failed, "once"}}
                                                                : success());
        return ended;
    });
    REQUIRE(handle);
    w.loop.run_for(1h + 1min);
    CHECK(w.calls == std::vector<batch>{{0, 1, 2}, {1}});
    CHECK(w.outcome(1) == "completed");
}

TEST_CASE("scheduler.batch_executor: an item without a result has failed, and the error says what is missing") {
    virtual_loop loop{wall_time{1'767'225'600s}};
    basic_memory_server<virtual_loop> server{loop};
    virtual_registry registry{server};
    int room = 10;
    virtual_scheduler<Forgetful> scheduler{registry, {}, bounded_pool{&loop, &room}, NoEvents{}, UtcZone{}};
    auto job = scheduler.schedule(hourly(3), [] {});
    REQUIRE(job);
    loop.run_for(1h + 1min);
    auto const text = server.tree().find(node_path::parse("/settle/ext/run/2").value())->data;
    CHECK(run_record::parse(text).value().ledger.back().note ==
          "job_failed: the executor returned 2 results for a batch of 3 items (settle)");
}

TEST_CASE("scheduler.batch_executor: a pool without room refuses all items of a batch, and calls those of the next") {
    batch_world w;
    auto job = w.scheduler.schedule(hourly(2), [&](item_contexts all) { w.calls.push_back(items_of(all)); });
    REQUIRE(job);
    w.room = 0;
    w.loop.run_for(1h + 1min);
    CHECK(w.calls.empty());
    for (item_index const i : {0U, 1U}) CHECK(w.note(i) == "overloaded");
    w.room = 1; // which is enough for both
    w.loop.run_for(1h);
    CHECK(w.calls == std::vector<batch>{{0, 1}});
}

TEST_CASE("scheduler.batch_executor: runs that are given up while they wait for a thread are not called") {
    MemoryRegistry registry;
    scheduler_options options;
    options.pool.threads = 1;
    std::binary_semaphore blocks{0}, is_blocked{0}, has_run{0};
    std::atomic<int> calls = 0;
    memory_scheduler<BatchExecutor> scheduler{registry, options, NoEvents{}};
    auto blocker = scheduler.schedule({.name = "blocker", .cron = "0 0 0 1 1 ? 2099"}, [&](item_contexts) {
        is_blocked.release();
        blocks.acquire();
    });
    REQUIRE(blocker);
    auto job = scheduler.schedule({.name = "settle",
                                   .cron = "0 0 0 1 1 ? 2099",
                                   .sharding_total_count = 2,
                                   .give_up_after = 100ms,
                                   .retry = {.attempts_max = 1000, .pause = 100ms, .pause_max = 100ms}},
                                  [&](item_contexts all) {
                                      calls += static_cast<int>(all.size());
                                      if (calls == 2) has_run.release();
                                  });
    REQUIRE(job);
    REQUIRE(blocker->trigger());
    REQUIRE(is_blocked.try_acquire_for(30s));
    REQUIRE(job->trigger());
    auto const gave_up = [&] {
        auto const there = block_on(registry.loop(), registry.get(node_path::parse("/settle/ext/run/1").value()));
        return there && !run_record::parse(there->data).value().ledger.empty();
    };
    while (!gave_up()) std::this_thread::yield();
    CHECK(calls == 0);
    blocks.release();
    REQUIRE(has_run.try_acquire_for(30s));
    CHECK(calls == 2); // no earlier attempt was called
}

TEST_CASE("scheduler.batch_executor: runs that are asked to stop while they wait for a thread are not called") {
    batch_world w;
    std::vector<work*> waiting;
    virtual_scheduler<BatchExecutor> scheduler{w.registry, {}, busy_pool{&waiting}, NoEvents{}, UtcZone{}};
    auto c = hourly(2);
    c.run_time_limit = 1s;
    auto job = scheduler.schedule(c, [&](item_contexts all) { w.calls.push_back(items_of(all)); });
    REQUIRE(job);
    w.loop.run_for(1h + 2s);
    REQUIRE(waiting.size() == 1);
    w.loop.post(*std::exchange(waiting, {}).front());
    w.loop.run_for(1s);
    CHECK(w.calls.empty());
    for (item_index const i : {0U, 1U})
        CHECK(w.note(i) == "job_failed: the run was asked to stop (time_limit) before its body was called (settle)");
    w.loop.run_for(1h - 3s);
    REQUIRE(waiting.size() == 1);
    w.loop.post(*std::exchange(waiting, {}).front());
    w.loop.run_for(500ms);
    CHECK(w.calls == std::vector<batch>{{0, 1}});
}
