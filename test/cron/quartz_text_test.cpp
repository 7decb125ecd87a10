// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/cron/quartz_text.hpp>

#include <doctest/doctest.h>

#include <string>

using namespace elasticjob;

namespace {

struct pair {
    char const* written;
    char const* text;
};

constexpr pair pairs[] = {
    {"* * * * * ?", "* * * * * ?"},
    {"0/30 * * * * ?", "0,30 * * * * ?"},
    {"5/15 0-9 22-2 * * ?", "5/15 0-9 0-2,22,23 * * ?"},
    {"0 1-9/2 0 1,2,3,20 * ?", "0 1-9/2 0 1-3,20 * ?"},
    {"0 0 0 ? JAN-MAR MON-FRI", "0 0 0 ? 1-3 MON-FRI"},
    {"0 0 0 ? * 6#1,6#3", "0 0 0 ? * FRI#1,FRI#3"},
    {"0 0 0 ? * MON,6#3", "0 0 0 ? * MON,FRI#3"},
    {"0 0 0 ? * 6L,FRI#1", "0 0 0 ? * FRI#1,6L"},
    {"0 0 0 ? * 2#1,2#2,2#3,2#4,2#5,6L", "0 0 0 ? * MON#1,MON#2,MON#3,MON#4,MON#5,6L"},
    {"0 0 0 L-3W,15W,LW * ?", "0 0 0 15W,L-3W,LW * ?"},
    {"0 0 0 L,L-7 * ?", "0 0 0 L-7,L * ?"},
    {"0 0 0 1 1 ? 2030", "0 0 0 1 1 ? 2030"},
    {"0 0 0 1 1 ? 2030/2", "0 0 0 1 1 ? 2030/2"},
    {"0 0 0 1 1 ? 2030-2033", "0 0 0 1 1 ? 2030-2033"},
    {"*/5 9-17 * * 1-5", "0 0/5 9-17 ? * MON-FRI"},
    {"0 0 * * 5-7", "0 0 0 ? * SUN,FRI,SAT"},
    {"@monthly", "0 0 0 1 * ?"},
};

} // namespace

TEST_CASE("cron.quartz_text: an expression has one text, which reads back as the same expression") {
    for (auto const& [written, text] : pairs) {
        CAPTURE(written);
        auto const expression = parse_cron(written);
        REQUIRE(expression);
        CHECK(quartz_text(*expression) == text);
        auto const again = parse_cron(text);
        REQUIRE(again);
        CHECK(*again == *expression);
    }
}

TEST_CASE("cron.quartz_text: every set of hours reads back from its text") {
    detail::cron_fields fields{.seconds = 1, .minutes = 1, .months = 0x1ffe, .days = detail::all_days};
    fields.years.fill(~std::uint64_t{0});
    for (std::uint32_t hours = 1; hours < 1u << 16; ++hours) {
        fields.hours = hours << hours % 8;
        auto const text = quartz_text(cron_expression{fields});
        auto const again = parse_cron(text);
        CAPTURE(text);
        REQUIRE(again);
        REQUIRE(again->fields() == fields);
    }
}
