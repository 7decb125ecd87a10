// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/cron/posix_zone.hpp>

#include <doctest/doctest.h>

using namespace elasticjob::detail;

namespace {

constexpr std::optional<posix_zone> parse(std::string_view text) { return posix_zone_parser{text}.parse(); }

/// On the wall clock, as `in_year` answers.
constexpr std::int64_t wall(std::int32_t year, std::uint32_t month, std::uint32_t day, std::int32_t second) {
    return day_of({year, month, day}) * seconds_per_day + second;
}

} // namespace

static_assert(parse("UTC0")->offset == 0 && !parse("UTC0")->saving);
static_assert(parse("<-03>3")->offset == -3 * 3600);
static_assert(parse("<+0545>-5:45")->offset == 5 * 3600 + 45 * 60);
static_assert(parse("LMT-0:53:28")->offset == 53 * 60 + 28);

constexpr auto new_york = *parse("EST5EDT,M3.2.0,M11.1.0");
static_assert(new_york.offset == -5 * 3600 && new_york.saving->offset == -4 * 3600);
static_assert(new_york.saving->begin.in_year(2024) == wall(2024, 3, 10, 7200));
static_assert(new_york.saving->end.in_year(2024) == wall(2024, 11, 3, 7200));

constexpr auto dublin = *parse("IST-1GMT0,M10.5.0,M3.5.0/1"); // its winter time is the exception
static_assert(dublin.offset == 3600 && dublin.saving->offset == 0);
static_assert(dublin.saving->begin.in_year(2024) == wall(2024, 10, 27, 7200));
static_assert(dublin.saving->end.in_year(2025) == wall(2025, 3, 30, 3600));

static_assert(parse("AAA3BBB,J60/0,J365/25:30")->saving->begin.in_year(2024) == wall(2024, 3, 1, 0));
static_assert(parse("AAA3BBB,J59/0,J365/25:30")->saving->begin.in_year(2024) == wall(2024, 2, 28, 0));
static_assert(parse("AAA3BBB,J60/0,J365/25:30")->saving->begin.in_year(2023) == wall(2023, 3, 1, 0));
static_assert(parse("AAA3BBB,J60/0,J365/25:30")->saving->end.in_year(2023) == wall(2024, 1, 1, 5400));
static_assert(parse("AAA3BBB,59/-1,0")->saving->begin.in_year(2024) == wall(2024, 2, 29, -3600));
static_assert(parse("AAA3BBB,59/-1,0")->saving->begin.in_year(2023) == wall(2023, 3, 1, -3600));
static_assert(parse("AAA3BBB,M2.5.4,0")->saving->begin.in_year(2024) == wall(2024, 2, 29, 7200));
static_assert(parse("AAA3BBB,M2.5.4,0")->saving->begin.in_year(2023) == wall(2023, 2, 23, 7200));

TEST_CASE("cron.posix_zone: a text that is no rule is refused") {
    for (char const* text :
         {"", "E", "ES5", "EST", "EST5EDT", "EST5EDT,M3.2.0", "EST5EDT,M3.2.0,M11.1.0x", "EST5EDT,M13.2.0,M11.1.0",
          "EST5EDT,M3.0.0,M11.1.0", "EST5EDT,M3.2.7,M11.1.0", "EST5EDT,J0,J5", "EST5EDT,366,5", "EST25", "EST5:60",
          "<EST5", "<E>5", "EST5EDT,M3.2.0/168,M11.1.0", "EST99999999999999999999"}) {
        CAPTURE(text);
        CHECK(!parse(text));
    }
}
