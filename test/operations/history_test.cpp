// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/operations/history.hpp>

#include <support/cluster.hpp>
#include <support/measured.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace elasticjob;
using namespace elasticjob::test;

namespace {

using strings = std::vector<std::string>;

/// Two jobs that have run every minute for five minutes; item 1 of `settle` fails.
struct busy_jobs {
    cluster c;
    member& m = c.add();

    explicit busy_jobs(std::string const& other = "bill") {
        m.body = [](sharding_context const& ctx) -> result<void> {
            if (ctx.item == 1) return error{errc::job_failed, "out of paper"};
            return success();
        };
        REQUIRE(m.schedule(make_job("settle", "0 * * * * ?", 2)));
        REQUIRE(m.schedule(make_job(other, "0 * * * * ?", 1)));
        c.run_for(5min + 1s);
    }
};

} // namespace

TEST_CASE("operations.history: from the run records, if there is no database") {
    busy_jobs w;
    std::size_t requests = 0;
    auto const count = [&](registry_request const&) { ++requests; };
    measured<basic_memory_registry<virtual_loop>> r{w.c.by_hand, count};
    auto const page = list_executions(r, {.rows_max = 100, .is_counted = true}).value();
    CHECK(requests == 1 + 2 + 3);
    CHECK(page.rows.size() == 15);
    CHECK(page.total == 15);
    CHECK(page.next.empty());
    CHECK(page.rows[0].started > page.rows[14].started);
    auto const failed = list_executions(w.c.by_hand, {.job = "settle", .is_success = false, .rows_max = 100}).value();
    REQUIRE(failed.rows.size() == 5);
    auto const& row = failed.rows[0];
    CHECK(row.job == "settle");
    CHECK(row.item == 1);
    CHECK(row.ip == "10.0.0.1");
    CHECK(row.source == "NORMAL_TRIGGER");
    CHECK(row.failure == "job_failed: out of paper");
    CHECK(row.ended.has_value());
    auto const from = w.c.loop.wall_now() - 90s;
    CHECK(list_executions(w.c.by_hand, {.job = "bill", .from = from}).value().rows.size() == 2);
    CHECK(list_executions(w.c.by_hand, {.until = from, .rows_max = 100}).value().rows.size() == 9);
    CHECK(list_executions(w.c.by_hand, {.ip = "10.0.0.2"}).value().rows.empty());
    CHECK(list_executions(w.c.by_hand, {.source = "FAILOVER"}).value().rows.empty());
    CHECK(list_executions(w.c.by_hand, {.job = "nobody"}).error() == errc::no_node);
    CHECK(list_executions(w.c.by_hand, {.job = "a/b"}).error() == errc::invalid_argument);
    CHECK(list_executions(w.c.by_hand, {.state = "TASK_ERROR"}).error() == errc::invalid_argument);
    w.c.set("/bill/ext/run/0", "nonsense");
    CHECK(list_executions(w.c.by_hand, {.rows_max = 100}).value().rows.size() == 10);
}

TEST_CASE("operations.history: a current run has no end, and a skipped instant is not a run") {
    busy_jobs w;
    w.m.holds = true;
    w.c.run_for(1min);
    auto const page = list_executions(w.c.by_hand, {.job = "bill", .rows_max = 1}).value();
    CHECK_FALSE(page.rows.at(0).ended);
    CHECK_FALSE(page.rows[0].is_success);
    auto const last = list_executions(w.c.by_hand, {.sort = history_sort::ended, .rows_max = 3}).value();
    for (auto const& row : last.rows) CHECK_FALSE(row.ended);
    w.m.holds = false;
    w.m.release_all();
    w.c.run_for(1s);
    auto const before = list_executions(w.c.by_hand, {.job = "bill", .rows_max = 100}).value().rows.size();
    w.c.create("/bill/sharding/0/disabled");
    w.c.run_for(3min);
    CHECK(list_executions(w.c.by_hand, {.job = "bill", .rows_max = 100}).value().rows.size() == before);
}

TEST_CASE("operations.history: in every order, page by page, no row is left out and none comes twice") {
    busy_jobs w{"pay|roll"}; // a cursor contains the name
    for (auto const sort : {history_sort::time, history_sort::ended, history_sort::job, history_sort::item,
                            history_sort::ip, history_sort::success, history_sort::source})
        for (bool const is_descending : {false, true}) {
            history_query q{.sort = sort, .is_descending = is_descending, .rows_max = 100};
            strings all, seen;
            auto const whole = list_executions(w.c.by_hand, q).value();
            for (auto const& row : whole.rows) all.push_back(row.id);
            CHECK(all.size() == 15);
            q.rows_max = 4;
            do {
                auto const page = list_executions(w.c.by_hand, q).value();
                for (auto const& row : page.rows) seen.push_back(row.id);
                q.after = page.next;
            } while (!q.after.empty() && seen.size() <= all.size());
            CHECK(seen == all);
        }
    auto const failures = list_executions(w.c.by_hand, {.sort = history_sort::success, .is_descending = false}).value();
    for (std::size_t n = 0; n < 5; ++n) CHECK_FALSE(failures.rows[n].is_success);
    CHECK(failures.rows[5].is_success);
    auto const page = list_executions(w.c.by_hand, {.rows_max = 3}).value();
    CHECK(list_executions(w.c.by_hand, {.is_descending = false, .after = page.next}).error() == errc::invalid_argument);
    CHECK(list_executions(w.c.by_hand, {.skipped = 14}).value().rows.size() == 1);
}
