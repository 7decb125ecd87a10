// SPDX-License-Identifier: Apache-2.0
/// \file \brief The laws of every event_database, as its table states them. A world makes one and reads the tables
/// itself.
#ifndef ELASTICJOB_TEST_EVENTS_DATABASE_LAWS_HPP
#define ELASTICJOB_TEST_EVENTS_DATABASE_LAWS_HPP

#include <elasticjob/events/event_database.hpp>
#include <elasticjob/events/sql_events.hpp>

#include <events/kinds.hpp>

#include <doctest/doctest.h>

#include <string>
#include <thread>
#include <vector>

namespace elasticjob::test {

inline std::vector<trace::entry> entries_of(auto const&... e) {
    std::vector<trace::entry> all;
    trace::tracer const trace{"box"};
    (trace(e, [&](auto&& row) { all.emplace_back(std::move(row)); }), ...);
    return all;
}

using rows = std::vector<std::string>; ///< columns joined with `|`, NULL as `-`

inline constexpr char const* all_executions = "SELECT id, job_name, task_id, hostname, ip, sharding_item, "
                                              "execution_source, failure_cause, is_success, start_time, "
                                              "complete_time FROM JOB_EXECUTION_LOG ORDER BY start_time, id";
inline constexpr char const* all_states =
    "SELECT state, job_name, original_task_id, task_id, slave_id, source, execution_type, sharding_item, message, "
    "creation_time FROM JOB_STATUS_TRACE_LOG ORDER BY creation_time, state";

/// `world.make()` gives an event_database on empty tables; `world.query(text)` asks by another connection.
template <class World>
void check_database_laws(World& world) {
    happenings h;
    auto d = world.make();
    auto const id = [&] { return std::get<0>(entries_of(h.succeeded()).at(0)).id; };
    auto const run = [&] { return id() + "|settle|" + h.task + "|box|10.0.0.1|1|NORMAL_TRIGGER|"; };
    std::string const start = "2026-01-01 00:00:00.025", end = "2026-01-01 00:00:01.275";

    SUBCASE("a run that begins, and ends well") {
        REQUIRE(d.write(entries_of(h.started())));
        CHECK(world.query(all_executions) == rows{run() + "-|0|" + start + "|-"});
        REQUIRE(d.write(entries_of(h.succeeded())));
        CHECK(world.query(all_executions) == rows{run() + "-|1|" + start + "|" + end});
        auto const status = "|settle||" + h.task + "|10.0.0.1|LITE_EXECUTOR|READY|[1]|";
        CHECK(world.query(all_states) == rows{"TASK_RUNNING" + status + "|" + start,
                                              "TASK_STAGING" + status + "Job 'settle' execute begin.|" + start,
                                              "TASK_FINISHED" + status + "|" + end});
    }
    SUBCASE("a task id with thousands of items") {
        std::string items;
        for (int i = 0; i < 5'000; ++i) items += (i ? "," : "") + std::to_string(i * 7919 % 10'007);
        h.task = "settle@-@" + items + "@-@READY@-@10.0.0.1@-@11";
        REQUIRE(d.write(entries_of(h.started())));
        REQUIRE(d.write(entries_of(h.succeeded())));
        CHECK(world.query(all_executions) == rows{run() + "-|1|" + start + "|" + end});
    }
    SUBCASE("a run that fails, with any text") {
        h.failure = error{errc::job_threw, "'); DROP TABLE JOB_EXECUTION_LOG; -- :id $1 %s \\ \"\n\xe2\x82\xac", ""};
        h.job = "o'neil";
        REQUIRE(d.write(entries_of(h.started(), h.failed())));
        CHECK(world.query("SELECT job_name, failure_cause, is_success FROM JOB_EXECUTION_LOG") ==
              rows{"o'neil|" + to_string(*h.failure) + "|0"});
        CHECK(world.query("SELECT message FROM JOB_STATUS_TRACE_LOG WHERE state = 'TASK_ERROR'") ==
              rows{"{1=" + to_string(*h.failure) + "}"});
    }
    SUBCASE("the end before the beginning, and without one, has both times (DB-3, D-33)") {
        REQUIRE(d.write(entries_of(h.failed())));
        auto const ended = world.query(all_executions);
        REQUIRE(ended.size() == 1);
        CHECK(ended[0].ends_with("|0|" + start + "|" + end));
        REQUIRE(d.write(entries_of(h.started())));
        CHECK(world.query(all_executions) == ended);
    }
    SUBCASE("an event that is written twice is stored once") {
        auto const all = entries_of(h.started(), h.succeeded(), h.misfired(), h.skipped(), h.refused(), h.fenced());
        REQUIRE(d.write(all));
        auto const executions = world.query(all_executions), states = world.query(all_states);
        REQUIRE(d.write(all));
        CHECK(world.query(all_executions) == executions);
        CHECK(world.query(all_states) == states);
    }
    SUBCASE("a task that was staged for another keeps its name (DB-5)") {
        auto staged = std::get<trace::status_trace_event>(entries_of(h.started()).at(0));
        staged.original_task_id = "original";
        auto failed = std::get<trace::status_trace_event>(entries_of(h.failed()).at(1));
        REQUIRE(d.write(std::vector<trace::entry>{staged, failed}));
        CHECK(world.query("SELECT original_task_id FROM JOB_STATUS_TRACE_LOG") == rows{"original", "original"});
    }
    SUBCASE("names longer than the original has room for (D-33)") {
        h.task = std::string(3000, 't');
        REQUIRE(d.write(entries_of(h.started())));
        CHECK(world.query("SELECT length(task_id) FROM JOB_EXECUTION_LOG") == rows{"3000"});
    }
    SUBCASE("a batch is written as a whole or not at all") {
        auto all = entries_of(h.started(1), h.started(2), h.started(3));
        world.refuse_state("TASK_ERROR");
        auto const bad = entries_of(h.failed(4));
        all.insert(all.end(), bad.begin(), bad.end());
        auto const written = d.write(all);
        REQUIRE_FALSE(written);
        CHECK(written.error() == errc::invalid_argument);
        CHECK(world.query(all_executions).empty());
        CHECK(d.write(entries_of(h.started(5)))); // the database still works
        CHECK(world.query(all_executions).size() == 1);
    }
    SUBCASE("old rows are removed") {
        REQUIRE(d.write(entries_of(h.started(1))));
        h.begun += std::chrono::hours{24};
        REQUIRE(d.write(entries_of(h.started(2))));
        auto const removed = d.remove_before(h.begun, 100);
        REQUIRE(removed);
        CHECK(*removed == 3); // one run and two states
        CHECK(world.query("SELECT start_time FROM JOB_EXECUTION_LOG") == rows{"2026-01-02 00:00:00.025"});
        CHECK(world.query("SELECT count(*) FROM JOB_STATUS_TRACE_LOG") == rows{"2"});
    }
    SUBCASE("old rows are removed in pieces, the oldest first") {
        auto const begun = h.begun;
        for (std::uint64_t n = 1; n <= 4; ++n) { // each has a run and two states
            REQUIRE(d.write(entries_of(h.started(n))));
            h.begun += std::chrono::hours{1};
        }
        std::vector<std::uint64_t> pieces;
        for (int n = 0; n < 3; ++n) {
            auto const removed = d.remove_before(begun + std::chrono::hours{3}, 4);
            REQUIRE(removed);
            pieces.push_back(*removed);
            if (n == 0) CHECK(world.query("SELECT count(*) FROM JOB_STATUS_TRACE_LOG") == rows{"7"}); // and all three runs
        }
        CHECK(pieces == std::vector<std::uint64_t>{4, 4, 1});
        CHECK(world.query("SELECT start_time FROM JOB_EXECUTION_LOG") == rows{"2026-01-01 03:00:00.025"});
        CHECK(world.query("SELECT count(*) FROM JOB_STATUS_TRACE_LOG") == rows{"2"});
    }
    SUBCASE("as a sink: a table that has grown for years is cleaned up piece by piece") {
        REQUIRE(d.write(entries_of(h.started(1))));
        world.query("INSERT INTO JOB_EXECUTION_LOG WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < "
                    "25000) SELECT i, 'old', 't', 'box', '10.0.0.1', 1, 'MISFIRE', NULL, 1, '2019-05-06 07:08:09', NULL "
                    "FROM n");
        SqlEvents s{world.make(), {.keep_for = std::chrono::hours{24}}};
        while (world.query("SELECT count(*) FROM JOB_EXECUTION_LOG") != rows{"0"}) std::this_thread::yield();
    }
    SUBCASE("as a sink: everything in order; a refused row disturbs no other") {
        world.refuse_state("TASK_ERROR");
        std::shared_ptr<queue_account const> account;
        {
            SqlEvents s{world.make(), {.queue = {.drain_timeout = std::chrono::seconds{60}}}};
            account = s.account();
            s(events::joined{h.from(h.begun), ""});
            for (std::uint64_t n = 1; n <= 100; ++n) {
                s(h.started(n));
                if (n % 10 == 0)
                    s(h.failed(n));
                else
                    s(h.succeeded(n));
            }
        }
        CHECK(account->done.load() == 190);
        CHECK(account->dropped.load() == 10);
        CHECK(world.query("SELECT count(*), sum(is_success) FROM JOB_EXECUTION_LOG") == rows{"100|90"});
    }
}

} // namespace elasticjob::test
#endif // ELASTICJOB_TEST_EVENTS_DATABASE_LAWS_HPP
