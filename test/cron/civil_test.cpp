// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/cron/civil.hpp>

#include <doctest/doctest.h>

#include <chrono>

using namespace elasticjob::detail;

static_assert(date_of(0) == civil_date{1970, 1, 1});
static_assert(day_of({2000, 3, 1}) == 11'017);
static_assert(is_leap(2000) && is_leap(2024) && !is_leap(2100) && !is_leap(2023));

TEST_CASE("cron.civil: every day of the schedule has the date that std::chrono gives") {
    using namespace std::chrono;
    for (std::int32_t day = -1000; day < 94'000; ++day) {
        year_month_day const expected{sys_days{days{day}}};
        auto const date = date_of(day);
        REQUIRE(year_month_day{year{date.year} / static_cast<int>(date.month) / static_cast<int>(date.day)} ==
                expected);
        REQUIRE(day_of(date) == day);
        REQUIRE(days_in_month(date.year, date.month) ==
                static_cast<unsigned>(year_month_day_last{expected.year() / expected.month() / last}.day()));
        if (day >= 0) REQUIRE(weekday_of(day) == weekday{sys_days{days{day}}}.c_encoding());
    }
}
