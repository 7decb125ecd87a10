// SPDX-License-Identifier: Apache-2.0
/// \file \brief The laws of every readable_event_database, as its table states them, and the contents of its pages.
#ifndef ELASTICJOB_TEST_EVENTS_HISTORY_LAWS_HPP
#define ELASTICJOB_TEST_EVENTS_HISTORY_LAWS_HPP

#include <elasticjob/events/event_history.hpp>

#include <events/database_laws.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <vector>

namespace elasticjob::test {

void check_history_laws(auto const& world) {
    using strings = std::vector<std::string>;
    using std::chrono::minutes;
    auto d = world.make();
    happenings h;
    auto const begun = h.begun;
    // A run of item 1 each minute, 1 to 12: every third fails, and the last has not ended.
    for (std::uint64_t n = 1; n <= 12; ++n) {
        h.job = n % 2 == 0 ? "settle" : "bill";
        h.begun = begun + minutes{n};
        h.ended = begun + minutes{n} + std::chrono::seconds{30};
        REQUIRE(d.write(entries_of(h.started(n))));
        if (n == 12) continue;
        REQUIRE(d.write(n % 3 == 0 ? entries_of(h.failed(n)) : entries_of(h.succeeded(n))));
    }
    auto const minute = [&](wall_time t) {
        return std::to_string(std::chrono::duration_cast<minutes>(t - begun).count());
    };
    auto const started = [&](history_query q) {
        strings all;
        q.rows_max = 100;
        auto const page = list_executions(d, q);
        REQUIRE_MESSAGE(page.has_value(), (page ? std::string{} : to_string(page.error())));
        for (auto const& row : page->rows) all.push_back(minute(row.started));
        CHECK(page->next.empty());
        return all;
    };
    SUBCASE("a row has the written values") {
        auto const page = list_executions(d, {.job = "bill", .is_descending = false, .rows_max = 2}).value();
        REQUIRE(page.rows.size() == 2);
        auto const& good = page.rows[0];
        CHECK(good.job == "bill");
        CHECK(good.task_id == h.task);
        CHECK(good.hostname == "box");
        CHECK(good.ip == "10.0.0.1");
        CHECK(good.item == 1);
        CHECK(good.source == "NORMAL_TRIGGER");
        CHECK(good.failure.empty());
        CHECK(good.is_success);
        CHECK(good.started == begun + minutes{1});
        CHECK(good.ended == begun + minutes{1} + std::chrono::seconds{30});
        CHECK_FALSE(page.rows[1].is_success);
        CHECK(page.rows[1].failure == to_string(*h.failure));
        auto const last = list_executions(d, {.rows_max = 1}).value();
        CHECK_FALSE(last.rows.at(0).ended);
        auto const states = list_states(d, {.state = "TASK_ERROR", .is_descending = false}).value();
        REQUIRE(states.rows.size() == 3);
        CHECK(states.rows[0].job == "bill");
        CHECK(states.rows[0].ip == "10.0.0.1");
        CHECK(states.rows[0].source == "LITE_EXECUTOR");
        CHECK(states.rows[0].execution_type == "READY");
        CHECK(states.rows[0].items == "[1]");
        CHECK(states.rows[0].message == "{1=" + to_string(*h.failure) + "}");
        CHECK(states.rows[0].at == begun + minutes{3} + std::chrono::seconds{30});
    }
    SUBCASE("filters") {
        CHECK(started({.job = "bill"}) == strings{"11", "9", "7", "5", "3", "1"});
        CHECK(started({.ip = "10.0.0.2"}).empty());
        CHECK(started({.source = "MISFIRE"}).empty());
        CHECK(started({.is_success = true, .from = begun + minutes{9}}) == strings{"11", "10"});
        CHECK(started({.is_success = false}) == strings{"12", "9", "6", "3"});
        CHECK(started({.from = begun + minutes{3}, .until = begun + minutes{5}}) == strings{"5", "4", "3"});
        CHECK(started({.job = "' OR 1=1 --"}).empty());
        CHECK(list_states(d, {.job = "bill",
                              .ip = "10.0.0.1",
                              .source = "LITE_EXECUTOR",
                              .execution_type = "READY",
                              .state = "TASK_FINISHED",
                              .is_counted = true})
                  .value()
                  .total == 4);
        CHECK(list_states(d, {.is_success = true}).error() == errc::invalid_argument);
        CHECK(list_states(d, {.sort = history_sort::ended}).error() == errc::invalid_argument);
        CHECK(list_executions(d, {.state = "TASK_ERROR"}).error() == errc::invalid_argument);
        CHECK(list_executions(d, {.sort = history_sort::execution_type}).error() == errc::invalid_argument);
        CHECK(list_executions(d, {.rows_max = 0}).error() == errc::invalid_argument);
        CHECK(list_executions(d, {.rows_max = 1'001}).error() == errc::invalid_argument);
    }
    SUBCASE("in every order, the pages contain each row exactly once") {
        for (auto const sort : {history_sort::time, history_sort::ended, history_sort::job, history_sort::item,
                                history_sort::ip, history_sort::success, history_sort::source})
            for (bool const is_descending : {false, true}) {
                INFO("order " << static_cast<int>(sort) << (is_descending ? ", descending" : ""));
                history_query q{.sort = sort, .is_descending = is_descending, .rows_max = 100};
                q.is_counted = true;
                auto const whole = list_executions(d, q).value();
                CHECK(whole.rows.size() == 12);
                CHECK(whole.total == 12);
                strings all, seen;
                for (auto const& row : whole.rows) all.push_back(row.id);
                q.rows_max = 5;
                do {
                    auto const page = list_executions(d, q);
                    REQUIRE_MESSAGE(page.has_value(), (page ? std::string{} : to_string(page.error())));
                    for (auto const& row : page->rows) seen.push_back(row.id);
                    CHECK(page->total == 12);
                    q.after = page->next;
                } while (!q.after.empty() && seen.size() <= all.size());
                CHECK(seen == all);
            }
        for (auto const sort : {history_sort::time, history_sort::job, history_sort::item, history_sort::ip,
                                history_sort::source, history_sort::execution_type, history_sort::state}) {
            history_query q{.sort = sort, .rows_max = 10};
            strings seen;
            do {
                auto const page = list_states(d, q);
                REQUIRE_MESSAGE(page.has_value(), (page ? std::string{} : to_string(page.error())));
                for (auto const& row : page->rows) seen.push_back(row.id);
                q.after = page->next;
            } while (!q.after.empty() && seen.size() <= 100);
            std::sort(seen.begin(), seen.end());
            CHECK(std::unique(seen.begin(), seen.end()) == seen.end());
            CHECK(seen.size() == 12 * 2 + 11);
        }
        CHECK(started({.sort = history_sort::ended})[0] == "12"); // it has not ended
        CHECK(started({.skipped = 10}) == strings{"2", "1"});
        auto const page = list_executions(d, {.rows_max = 3}).value();
        CHECK(list_executions(d, {.is_descending = false, .after = page.next}).error() == errc::invalid_argument);
        CHECK(list_executions(d, {.after = "nonsense"}).error() == errc::invalid_argument);
    }
}

} // namespace elasticjob::test
#endif // ELASTICJOB_TEST_EVENTS_HISTORY_LAWS_HPP
