// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/cron/describe.hpp>

#include <doctest/doctest.h>

#include <string>

using namespace elasticjob;

namespace {

struct described {
    char const* text;
    char const* words;
};

constexpr described all[] = {
    // Times of the day.
    {"* * * * * ?", "every second"},
    {"0/5 * * * * ?", "every 5 seconds"},
    {"0 * * * * ?", "every minute"},
    {"*/5 * * * *", "every 5 minutes"},
    {"@hourly", "every hour"},
    {"0 0 0/2 * * ?", "every 2 hours"},
    {"@daily", "at 00:00 every day"},
    {"15 0 9 * * ?", "at 09:00:15 every day"},
    {"0 0,30 9,17 * * ?", "at 09:00, 09:30, 17:00 and 17:30 every day"},
    {"0 7 * * * ?", "at minute 7 of every hour"},
    {"0 7,9,20 * * * ?", "at minutes 7, 9 and 20 of every hour"},
    {"5,20 * * * * ?", "at seconds 5 and 20 of every minute"},
    {"0 0 9-17 * * ?", "every hour from 09:00 to 17:00"},
    {"0 0 1,2,3,7,8,20,21 * * ?", "at 01:00, 02:00, 03:00, 07:00, 08:00, 20:00 and 21:00 every day"},
    {"0 0/15 9-17 ? * MON-FRI", "every 15 minutes from 09:00 to 17:59, from Monday to Friday"},
    {"0 0/5 8 * * ?", "every 5 minutes from 08:00 to 08:59"},
    {"* * 1,2,9 * * ?", "every second in the hours of 1, 2 and 9"},
    {"30 0/2 0/4 * * ?", "at second 30 in every 2nd minute in every 4th hour"},
    {"0/10 0-4 * * * ?", "every 10 seconds in minutes 0 to 4"},
    // Days.
    {"0 9 * * 1-5", "at 09:00 from Monday to Friday"},
    {"0 9 * * 0,6", "at 09:00 on Saturday and Sunday"},
    {"0 0 9 1,15 * ?", "at 09:00 on days 1 and 15 of the month"},
    {"0 30 6 L * ?", "at 06:30 on the last day of the month"},
    {"0 30 6 L-1 * ?", "at 06:30 1 day before the last day of the month"},
    {"0 30 6 LW * ?", "at 06:30 on the last weekday of the month"},
    {"0 30 6 L-3W * ?", "at 06:30 on the weekday nearest to 3 days before the last day of the month"},
    {"0 30 6 15W * ?", "at 06:30 on the weekday nearest to day 15 of the month"},
    {"0 0 0 ? * 2L,6L", "at 00:00 on the last Monday of the month and on the last Friday of the month"},
    {"0 0 0/2 ? * SUN", "every 2 hours, on Sunday"},
    // Months and years.
    {"0 0 12 ? 1,7 FRI#3", "at 12:00 on the third Friday of the month, in January and July"},
    {"0 0 12 * 6-8 ?", "at 12:00 every day, in June to August"},
    {"@yearly", "at 00:00 on day 1 of the month, in January"},
    {"0 0 12 * * ? 2030", "at 12:00 every day, in the year 2030"},
    {"0 0 12 * * ? 2030-2032", "at 12:00 every day, in the years 2030 to 2032"},
};

} // namespace

TEST_CASE("cron.describe: describes an expression in words") {
    for (auto const& [text, words] : all) {
        CAPTURE(text);
        auto const said = describe_cron(text);
        REQUIRE(said);
        CHECK(*said == words);
    }
}

TEST_CASE("cron.describe: equal expressions have the same description") {
    CHECK(describe_cron("0/30 * * * * ?").value() == describe_cron("0,30 * * ? * 1-7").value());
    for (auto const* days : {"*,15W * ?", "31W,1-31 * ?", "? * SUN-SAT,FRI#3"}) {
        CAPTURE(days);
        auto const expression = parse_cron(std::string{"0 0 9 "} + days);
        REQUIRE(expression);
        CHECK(*expression == parse_cron("0 0 9 * * ?").value());
        CHECK(describe(*expression) == "at 09:00 every day");
    }
}

TEST_CASE("cron.describe: an invalid text gives the parser's error") {
    CHECK(describe_cron("0 0 24 * * ?").error() == parse_cron("0 0 24 * * ?").error());
}
