// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/cron/next.hpp>

#include <elasticjob/cron/literal.hpp>

#include <cron/support.hpp>

#include <doctest/doctest.h>

#include <limits>
#include <set>
#include <vector>

using namespace elasticjob;
using cron_test::instant;
using cron_test::text_of;

namespace {

constexpr UtcZone utc;

constexpr bool fires(cron_expression const& e, char const* after, char const* expected) {
    return next_fire(e, instant(after), utc) == instant(expected);
}

constexpr bool matches(cron_expression const& e, char const* when) {
    return next_fire(e, instant(when) - std::chrono::seconds{1}, utc) == instant(when);
}

} // namespace

// Strictly later, and each field in turn.
static_assert(fires("* * * * * ?"_cron, "2024-01-01 00:00:00", "2024-01-01 00:00:01"));
static_assert(fires("* * * * * ?"_cron, "2023-12-31 23:59:59", "2024-01-01 00:00:00"));
static_assert(fires("0/5 * * * * ?"_cron, "2024-01-01 00:00:58", "2024-01-01 00:01:00"));
static_assert(fires("15,45 30 * * * ?"_cron, "2024-01-01 00:30:45", "2024-01-01 01:30:15"));
static_assert(fires("0 15 10 * * ?"_cron, "2024-02-28 10:15:00", "2024-02-29 10:15:00"));
static_assert(fires("0 15 10 ? * MON-FRI"_cron, "2024-05-31 10:15:00", "2024-06-03 10:15:00"));
static_assert(fires("0 0 0 1 1 ?"_cron, "2024-01-01 00:00:00", "2025-01-01 00:00:00"));
static_assert(fires("59 59 23 31 12 ?"_cron, "2024-12-31 23:59:59", "2025-12-31 23:59:59"));

// An instant with a fraction of a second counts as its second.
static_assert(next_fire("0 0 0 1 1 ?"_cron, instant("2023-12-31 23:59:59") + std::chrono::milliseconds{999}, utc) ==
              instant("2024-01-01 00:00:00"));
static_assert(next_fire("0 0 0 1 1 ?"_cron, instant("2024-01-01 00:00:00") + std::chrono::nanoseconds{1}, utc) ==
              instant("2025-01-01 00:00:00"));
static_assert(next_fire("0 0 0 1 1 ?"_cron, std::chrono::sys_days{std::chrono::days{1}}, utc) ==
              instant("1971-01-01 00:00:00"));

// Years.
static_assert(matches("0 15 10 * * ? 2005"_cron, "2005-06-01 10:15:00"));
static_assert(!matches("0 15 10 * * ? 2005"_cron, "2005-06-01 10:16:00"));
static_assert(!matches("0 15 10 * * ? 2005"_cron, "2005-06-01 10:14:00"));
static_assert(next_fire("0 15 10 * * ? 2005"_cron, instant("2006-06-01 10:14:59"), utc) == std::nullopt);
static_assert(fires("* * 0/10 * * ? 2050"_cron, "2024-06-01 10:14:59", "2050-01-01 00:00:00"));
static_assert(fires("0 0 0 1 1 ? 2024/67"_cron, "2024-01-01", "2091-01-01"));
static_assert(fires("0 0 0 1 1 ? 1970,2225"_cron, "1970-01-01", "2225-01-01"));
static_assert(fires("0 0 0 1 1 ?"_cron, "1969-12-31 23:59:59", "1970-01-01"));

// The last day, and days before it.
static_assert(matches("0 15 10 L-2 * ? 2010"_cron, "2010-10-29 10:15:00"));
static_assert(!matches("0 15 10 L-2 * ? 2010"_cron, "2010-10-28 10:15:00"));
static_assert(matches("0 15 10 L-5W * ? 2010"_cron, "2010-10-26 10:15:00"));
static_assert(matches("0 15 10 L-1 * ? 2010"_cron, "2010-10-30 10:15:00"));
static_assert(matches("0 15 10 L-1W * ? 2010"_cron, "2010-10-29 10:15:00"));
static_assert(fires("0 0 0 L * ?"_cron, "2024-02-01", "2024-02-29"));
static_assert(fires("0 0 0 L * ?"_cron, "2024-02-29", "2024-03-31"));
static_assert(fires("0 0 0 L-30 * ?"_cron, "2024-01-01", "2024-03-01")); // February has no such day

// Months without the day are skipped.
static_assert(fires("0 0 0 31 * ?"_cron, "2024-04-01", "2024-05-31"));
static_assert(fires("0 0 0 29 2 ?"_cron, "2023-03-01", "2024-02-29"));
static_assert(fires("0 0 0 29 2 ?"_cron, "2096-02-29", "2104-02-29")); // 2100 is no leap year
static_assert(fires("0 0 0 ? 2 2#5"_cron, "2024-01-01", "2044-02-29"));
static_assert(fires("0 0 0 31W * ?"_cron, "2024-03-31", "2024-05-31"));

// Weekdays nearest to a day, never in another month.
static_assert(fires("0 0 0 1W * ?"_cron, "2024-06-01", "2024-06-03"));   // Saturday the 1st
static_assert(fires("0 0 0 1W * ?"_cron, "2024-08-31", "2024-09-02"));   // Sunday the 1st
static_assert(fires("0 0 0 15W * ?"_cron, "2024-06-01", "2024-06-14"));  // Saturday
static_assert(fires("0 0 0 16W * ?"_cron, "2024-06-01", "2024-06-17"));  // Sunday
static_assert(fires("0 0 0 LW * ?"_cron, "2024-06-01", "2024-06-28"));   // Sunday the last
static_assert(fires("0 0 0 LW * ?"_cron, "2024-08-01", "2024-08-30"));   // Saturday the last
static_assert(fires("0 0 0 1W,L * ?"_cron, "2024-06-03", "2024-06-30")); // a list of both

// Occurrences of weekdays.
static_assert(fires("0 0 12 ? * 6#3"_cron, "2024-01-01", "2024-01-19 12:00:00"));
static_assert(fires("0 0 12 ? * 6#5"_cron, "2024-04-01", "2024-05-31 12:00:00"));
static_assert(fires("0 43 9 ? * 5L"_cron, "2024-02-01", "2024-02-29 09:43:00"));
static_assert(fires("0 43 9 ? * FRIL"_cron, "2024-02-01", "2024-02-23 09:43:00"));
static_assert(fires("0 0 0 ? * 2L,6#1"_cron, "2024-02-02", "2024-02-26"));

// A zone whose clocks never change is only another clock.
static_assert(next_fire("0 0 12 * * ?"_cron, instant("2024-06-01"), FixedOffset{std::chrono::hours{8}}) ==
              instant("2024-06-01 04:00:00"));
static_assert(next_fire("0 0 0 1 1 ? 1970"_cron, instant("1969-12-31"), FixedOffset{std::chrono::hours{14}}) ==
              instant("1969-12-31 10:00:00"));
static_assert(next_fire("59 59 23 31 12 ? 2225"_cron, instant("2225-06-01"), FixedOffset{std::chrono::hours{-12}}) ==
              instant("2226-01-01 11:59:59"));

TEST_CASE("cron.next: a range of hours may cross midnight") {
    std::vector<int> hours;
    auto t = instant("2024-01-01 12:00:00");
    for (int i = 0; i < 5; ++i) {
        t = next_fire("0 0 22-2 * * ?"_cron, t, utc).value();
        hours.push_back(static_cast<int>(t.time_since_epoch() / std::chrono::hours{1} % 24));
    }
    CHECK(hours == std::vector{22, 23, 0, 1, 2});
}

TEST_CASE("cron.next: the last days of months follow each other without a repetition") {
    for (auto const& e : {"0 0 0 L-2 * ? *"_cron, "0 0 0 LW * ? *"_cron}) {
        std::set<std::chrono::sys_seconds> seen;
        auto t = instant("2024-01-15");
        for (int i = 0; i < 26; ++i) {
            t = next_fire(e, t, utc).value();
            CHECK(seen.insert(t).second);
        }
        CHECK(text_of(t).substr(0, 7) == "2026-02");
    }
}

TEST_CASE("cron.next: a schedule has a first and a last fire") {
    auto const every_second = "* * * * * ?"_cron;
    CHECK(next_fire(every_second, std::chrono::sys_seconds::min(), utc) == instant("1970-01-01"));
    CHECK(next_fire(every_second, instant("2225-12-31 23:59:58"), utc) == instant("2225-12-31 23:59:59"));
    CHECK(next_fire(every_second, instant("2225-12-31 23:59:59"), utc) == std::nullopt);
    CHECK(next_fire(every_second, std::chrono::sys_seconds::max(), utc) == std::nullopt);
}

TEST_CASE("cron.next: finds an expression that is due on a single day of all years") {
    CHECK(next_fire("0 0 0 29 2 ? 2224"_cron, instant("1970-01-01"), utc) == instant("2224-02-29"));
    CHECK(next_fire("0 0 0 31 12 ? 2225"_cron, instant("1970-01-01"), utc) == instant("2225-12-31"));
    CHECK(next_fire("0 0 0 29 2 ?"_cron, instant("2224-02-29"), utc) == std::nullopt);
}

TEST_CASE("cron.next: accepts the clock's current time as an instant") {
    auto const now = std::chrono::system_clock::now();
    auto const due = next_fire("* * * * * ?"_cron, now, utc);
    REQUIRE(due);
    CHECK(*due > now);
    CHECK(*due <= now + std::chrono::seconds{1});
}
