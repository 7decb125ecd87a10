// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/cron/expression.hpp>

#include <elasticjob/cron/literal.hpp>

#include <doctest/doctest.h>

#include <string>
#include <type_traits>

using namespace elasticjob;

static_assert(std::is_trivially_copyable_v<cron_expression>);
static_assert(!std::is_default_constructible_v<cron_expression>); // every expression is valid

// Expressions are equal if they are due at the same times.
static_assert("0/30 * * * * ?"_cron == "0,30 * * ? * 1-7"_cron);
static_assert("0 0 0 ? JAN MON"_cron == "0 0 0 ? 1 2 *"_cron);
static_assert("0 0 0 ? jan-mar fri-mon"_cron == "0 0 0 ? 1,2,3 6,7,1,2"_cron);
static_assert("0 0 0 ? * 2#1,2#2,2#3,2#4,2#5"_cron == "0 0 0 ? * MON"_cron);
static_assert("0 0 0 ? * L"_cron == "0 0 0 ? * SAT"_cron);
static_assert("/5 0 0 1 * ?"_cron == "*/5 0 0 1 * ?"_cron);
static_assert("0 0 22-2 * * ?"_cron == "0 0 0,1,2,22,23 * * ?"_cron);
static_assert("50-10/20 0 0 1 * ?"_cron == "50,10 0 0 1 * ?"_cron);
static_assert("0 0 0 28-4/3 * ?"_cron == "0 0 0 28,31,3 * ?"_cron);
static_assert("0 0 0 1 11-2/2 ?"_cron == "0 0 0 1 11,1 ?"_cron);
static_assert("0-10/100 * * * * ?"_cron == "0 * * * * ?"_cron);
static_assert("0 5/60 0/24 * * ?"_cron == "0 5 0 * * ?"_cron);
static_assert("0 0 0 2/32 2/13 ?"_cron == "0 0 0 2 2 ?"_cron);
static_assert("0 0 0 ? * 1/8"_cron == "0 0 0 ? * SUN"_cron);
static_assert("0 0 0 1 1 ? 2020-2030/5"_cron == "0 0 0 1 1 ? 2020,2025,2030"_cron);
static_assert("0 0 0 1 1 ? 1900-1975/25"_cron == "0 0 0 1 1 ? 1975"_cron);
static_assert("0 0 0 1 1 ? 1970/1"_cron == "0 0 0 1 1 ?"_cron);
static_assert(" 0\t0  0 1 1 ?\t"_cron == "0 0 0 1 1 ?"_cron);
static_assert("0 0 0 *,5 1 ?"_cron == "0 0 0 * 1 ?"_cron);
static_assert("0 0 0 L-0 * ?"_cron == "0 0 0 L * ?"_cron);
static_assert("0 0 0 LW * ?"_cron != "0 0 0 L * ?"_cron);
static_assert("0 0 0 1 1 ?"_cron != "1 0 0 1 1 ?"_cron);

// Five fields: seconds are 0, and days of the week count from 0.
static_assert("*/5 * * * *"_cron == "0 0/5 * * * ?"_cron);
static_assert("0 9 * * 1-5"_cron == "0 0 9 ? * MON-FRI"_cron);
static_assert("0 9 * * 0"_cron == "0 0 9 ? * SUN"_cron);
static_assert("0 9 * * 7"_cron == "0 0 9 ? * SUN"_cron);
static_assert("0 9 * * 5-7"_cron == "0 0 9 ? * FRI-SUN"_cron);
static_assert("0 9 * * fri-mon"_cron == "0 0 9 ? * FRI-MON"_cron);
static_assert("0 9 * * 1-FRI"_cron == "0 0 9 ? * MON-FRI"_cron);
static_assert("0 9 * * 0-7"_cron == "0 0 9 * * ?"_cron);
static_assert("0 9 * * */2"_cron == "0 0 9 ? * SUN,TUE,THU,SAT"_cron);
static_assert("0 9 * * MON-FRI/2"_cron == "0 0 9 ? * MON,WED,FRI"_cron);
static_assert("\t30 6  1,15 * * "_cron == "0 30 6 1,15 * ?"_cron);
static_assert("0 0 1-7 jan *"_cron == "0 0 0 1-7 1 ?"_cron);
static_assert("@yearly"_cron == "0 0 0 1 1 ?"_cron && "@annually"_cron == "@yearly"_cron);
static_assert("@monthly"_cron == "0 0 0 1 * ?"_cron && "@weekly"_cron == "0 0 0 ? * 1"_cron);
static_assert("@daily"_cron == "0 0 0 * * ?"_cron && " @MidNight "_cron == "@daily"_cron);
static_assert("@hourly"_cron == "0 0 * * * ?"_cron);

static_assert("* * * ? * *"_cron.fires_in_every_hour());
static_assert("0 0 0-23 ? * *"_cron.fires_in_every_hour());
static_assert(!"0 0 0-22 ? * *"_cron.fires_in_every_hour());

namespace {

struct faulty {
    char const* text;
    unsigned column;
    char const* beginning; ///< of what is wrong
    errc code = errc::invalid_cron;
};

constexpr char const* value_0_59 = "Minute and Second values must be between 0 and 59: '";
constexpr char const* both_days = "Support for specifying both a day-of-week AND a day-of-month parameter";
constexpr char const* l_and_days = "Support for specifying 'L' and 'LW' with other days of the month";
constexpr char const* l_and_weekdays = "Support for specifying 'L' with other days of the week";
constexpr char const* w_too_large = "The 'W' option does not make sense with values larger than 31";
constexpr char const* nth = "A numeric value between 1 and 5 must follow the '#' option";
constexpr char const* never = "No fire: these months and years have no such day";
constexpr char const* too_late = "No fire: schedules run from 1970 to 2225";

constexpr faulty faults[] = {
    // Too little, too much, nothing.
    {"", 1, "Unexpected end of expression."},
    {"  \t ", 5, "Unexpected end of expression."},
    {"0", 2, "Unexpected end of expression."},
    {"0 0 12 1", 9, "Unexpected end of expression."},
    {"0 0 12 1 ", 10, "Unexpected end of expression."},
    // Five fields and names.
    {"0 9 1 * 1", 9, "Five fields with a day-of-month AND a day-of-week mean either of them"},
    {"0 9 */2 * 1", 11, "Five fields with a day-of-month AND a day-of-week mean either of them"},
    {"0 0 ? * 1", 5, "'?', 'L', 'W' and '#' are for expressions of six fields: '?'"},
    {"0 0 * * ?", 9, "'?', 'L', 'W' and '#' are for expressions of six fields: '?'"},
    {"0 0 L * *", 5, "'?', 'L', 'W' and '#' are for expressions of six fields: 'L'"},
    {"0 0 15W * *", 7, "'?', 'L', 'W' and '#' are for expressions of six fields: 'W'"},
    {"0 0 * * FRIL", 12, "'?', 'L', 'W' and '#' are for expressions of six fields: 'L'"},
    {"0 0 * * 5#2", 10, "'?', 'L', 'W' and '#' are for expressions of six fields: '#'"},
    {"0 0 * * 8", 9, "Day-of-Week values of five fields must be between 0 and 7: '8'"},
    {"60 0 * * *", 1, "Minute and Second values must be between 0 and 59: '60'"},
    {"0 0 31 2 *", 5, never, errc::cron_never_fires},
    {" @every 5m", 2, "Unknown name of a schedule: '@every'"},
    {"@\n", 1, "Unknown name of a schedule: '@'"},
    {"@daily x", 8, "Unexpected character: 'x'"},
    {"* * * * * ? * *", 15, "Unexpected text after the seventh field: '*'"},
    {"* * * * * ? 2024 rubbish", 18, "Unexpected text after the seventh field"},
    {", * * * * ?", 1, "An element of the list is empty"},
    {"1,,2 * * * * ?", 3, "An element of the list is empty"},
    {"1, * * * * ?", 3, "An element of the list is empty"},
    {"* * * * * ? 2024,", 18, "An element of the list is empty"},
    // Values.
    {"60 * * * * ?", 1, "Minute and Second values must be between 0 and 59: '60'"},
    {"0 1,60 * * * ?", 5, value_0_59},
    {"0-99999999999999999999 * * * * ?", 3, value_0_59},
    {"0 0 24 * * ?", 5, "Hour values must be between 0 and 23: '24'"},
    {"0 0 0 0 * ?", 7, "Day of month values must be between 1 and 31: '0'"},
    {"0 0 0 1-32 * ?", 9, "Day of month values must be between 1 and 31: '32'"},
    {"0 0 0 1 0 ?", 9, "Month values must be between 1 and 12: '0'"},
    {"0 0 0 1 13 ?", 9, "Month values must be between 1 and 12: '13'"},
    {"0 0 0 ? * 0", 11, "Day-of-Week values must be between 1 and 7: '0'"},
    {"0 0 0 ? * 8", 11, "Day-of-Week values must be between 1 and 7: '8'"},
    {"0 0 0 1 1 ? 24", 13, "Invalid Year value: '24'"},
    {"0 0 0 1 1 ? 20240", 13, "Invalid Year value: '20240'"},
    {"0 0 0 1 1 ? 2025-2024", 18, "A range of years must not run backwards: '2024'"},
    // Names.
    {"* * * * Foo ?", 9, "Invalid Month value: 'Foo'"},
    {"* * * * Foo ? ", 9, "Invalid Month value: 'Foo'"},
    {"* * * * Jan-Foo ? ", 13, "Invalid Month value: 'Foo'"},
    {"* * * * J ?", 9, "Invalid Month value: 'J'"},
    {"* * * * ANF ?", 9, "Invalid Month value: 'ANF'"},
    {"* * * * JANUARY ?", 12, "Unexpected character: 'U'"},
    {"* * * * MON ?", 9, "Invalid Month value: 'MON'"},
    {"* * * ? * JAN", 11, "Invalid Day-of-Week value: 'JAN'"},
    {"* * * ? * LW", 11, "Invalid Day-of-Week value: 'LW'"},
    {"* * * * L ?", 9, "Invalid Month value: 'L'"},
    {"MON * * * * ?", 1, "Unexpected character: 'M'"},
    {"* * * * * ? JAN", 13, "Unexpected character: 'J'"},
    // Steps.
    {"0/0 * * * * ?", 3, "A step must not be zero"},
    {"*/0 * * * * ?", 3, "A step must not be zero"},
    {"/0 * * * * ?", 2, "A step must not be zero"},
    {"1-5/0 * * * * ?", 5, "A step must not be zero"},
    {"0/ * * * * ?", 3, "'/' must be followed by an integer"},
    {"/ * * * * ?", 2, "'/' must be followed by an integer"},
    {"*/-2 * * * * ?", 3, "'/' must be followed by an integer: '-'"},
    {"*/60 * * * * ?", 3, "Increment too large: '60'"},
    {"0/60 * * * *", 3, "Increment too large: '60'"}, // no Java member has five fields
    {"0 0 /24 * * ?", 6, "Increment too large: '24'"},
    {"0 0 0 1 */13 ?", 11, "Increment too large: '13'"},
    {"0 0 0 ? * MON-FRI/2", 18, "A step after a name has no agreed meaning"},
    {"0 0 0 ? * 2-FRI", 13, "A range has a number at one end and a name at the other: 'FRI'"},
    {"0 0 0 ? * MON-5", 15, "A range has a number at one end and a name at the other: '5'"},
    {"0 0 0 1 12-FEB ?", 12, "A range has a number at one end and a name at the other: 'FEB'"},
    {"0 0 0 ? * MON/2", 14, "A step after a name has no agreed meaning"},
    {"0 0 0 1 JAN/2 ?", 12, "A step after a name has no agreed meaning"},
    // Garbage after a valid beginning, which Quartz skips.
    {"5X * * * * ?", 2, "Unexpected character: 'X'"},
    {"2A28 * * * * ?", 2, "Unexpected character: 'A'"},
    {"8* * * * * ?", 2, "Unexpected character: '*'"},
    {"*5 * * * * ?", 2, "Unexpected character: '5'"},
    {"0/5x * * * * ?", 4, "Unexpected character: 'x'"},
    {"0/5/5 * * * * ?", 4, "Unexpected character: '/'"},
    {"1-2-3 * * * * ?", 4, "Unexpected character: '-'"},
    {"1- * * * * ?", 3, "Unexpected character."},
    {"-1 * * * * ?", 1, "Unexpected character: '-'"},
    {"0\n* * * * ?", 2, "Unexpected character."}, // not quoted: a log has one line for it
    {"0 0 0 1,15-20W * ?", 14, "Unexpected character: 'W'"},
    {"0 0 0 LX * ?", 8, "Unexpected character: 'X'"},
    {"0 0 0 5L * ?", 8, "Unexpected character: 'L'"},
    {"0 0 0 LW-3 * ?", 9, "Unexpected character: '-'"},
    {"0 0 0 L/2 * ?", 8, "Unexpected character: '/'"},
    {"0 0 0 W * ?", 7, "Unexpected character: 'W'"},
    {"0 0 0 ? * 5W", 12, "Unexpected character: 'W'"},
    {"0 0 0 ? * 6L-2", 13, "Unexpected character: '-'"},
    {"0 0 0 ? * FRI#3#4", 16, "Unexpected character: '#'"},
    {"5L * * * * ?", 2, "Unexpected character: 'L'"},
    {"5W * * * * ?", 2, "Unexpected character: 'W'"},
    {"5#2 * * * * ?", 2, "Unexpected character: '#'"},
    // Question marks.
    {"? * * * * ?", 1, "'?' can only be specified for Day-of-Month or Day-of-Week"},
    {"* * * * ? ?", 9, "'?' can only be specified for Day-of-Month or Day-of-Week"},
    {"* * * ? * ?", 11, "'?' can only be specified for Day-of-Month -OR- Day-of-Week"},
    {"* * * * * ?x", 12, "Illegal character after '?': 'x'"},
    {"* * * ?,5 * *", 8, "Illegal character after '?': ','"},
    {"* * * 5,? * ?", 9, "Unexpected character: '?'"},
    {"0 0 * * * *", 11, both_days},
    {"0 0 * 4 * *", 11, both_days},
    {"0 0 * * * 4", 11, both_days},
    {"0 0 * L * 6#3", 11, both_days},
    // L, W and #.
    {"0 43 9 1,5,29,L * ?", 15, l_and_days},
    {"0 43 9 L,1 * ?", 8, l_and_days},
    {"0 43 9 1,LW * ?", 10, l_and_days},
    {"0 43 9 *,L-3 * ?", 10, l_and_days},
    {"0 43 9 ? * SAT,SUN,L", 20, l_and_weekdays},
    {"0 43 9 ? * 6,7,L", 16, l_and_weekdays},
    {"0 43 9 ? * 6L,2", 13, l_and_weekdays},
    {"0 43 9 ? * THU,L", 16, l_and_weekdays},
    {"0 0 0 L-31 * ?", 9, "Offset from last day must be <= 30: '31'"},
    {"0 0 0 L- * ?", 9, "Offset from last day must be <= 30"},
    {"0/5 * * 32W 1 ?", 9, w_too_large},
    {"0 0 12 0W * ?", 8, w_too_large}, // Quartz 2.3.2 accepts it, and its search never returns
    {"0 0 0 ? * 2#6", 13, nth},
    {"0 0 0 ? * 2#0", 13, nth},
    {"0 0 0 ? * FRI#", 15, nth},
    {"0 0 0 ? * #3", 11, "Unexpected character: '#'"},
    {"0 0 0 ? * 8#3", 11, "Day-of-Week values must be between 1 and 7: '8'"},
    // Well formed, but never due.
    {"0 0 0 30 2 ?", 7, never, errc::cron_never_fires},
    {"0 0 0 31 2,4,6,9,11 ?", 7, never, errc::cron_never_fires},
    {"0 0 0 29 2 ? 2023", 7, never, errc::cron_never_fires},
    {"0 0 0 29 2 ? 2100", 7, never, errc::cron_never_fires},
    {"0 0 0 31W 4 ?", 7, never, errc::cron_never_fires},
    {"0 0 0 L-29 2 ?", 7, never, errc::cron_never_fires},
    {"0 0 0 ? 2 2#5 2023", 11, never, errc::cron_never_fires},
    {"0 0 0 1 1 ? 2226", 13, too_late, errc::cron_never_fires},
    {"0 0 0 1 1 ? 1969", 13, too_late, errc::cron_never_fires},
    {"0 0 0 1 1 ? 1900,2300-9999", 13, too_late, errc::cron_never_fires},
};

constexpr char const* accepted[] = {
    "0/1 * * * * ?",     "* * 0/10 * * ? 2050", "0 15 10 * * ? 2005", "0 15 10 L-2 * ? 2010", "0 15 10 L-5W * ? 2010",
    "19 15 10 4 Apr ? ", "0 43 9 ? * 5L",       "0 43 9 ? * FRIL",    "0 0 0 LW * ? *",       "0 0 12 ? * 6#3",
    "0 0 12 ? * fri#3",  "0 0 0 1W,15W,LW * ?", "0 0 0 L,L-7 * ?",    "0 0 0 15W,20 * ?",     "0 0 0 L,15W * ?",
    "0 0 0 ? * 6#1,6#3", "0 0 0 ? * MON,6#3",   "0 0 0 ? * 2L,6L",    "0 0 0 ? * L,6L",       "0 0 0 31W * ?",
    "0 0 0 29 2 ? 2096", "0 0 0 ? * 2-6/2",     "0 0 0 L-30W * ?",    "0 0 0 ? 2 2#5",        "0 0 0 1 1 ? 2225",
};

} // namespace

TEST_CASE("cron.expression: an error is named, with its column") {
    for (auto const& fault : faults) {
        CAPTURE(fault.text);
        auto const parsed = parse_cron(fault.text);
        REQUIRE(!parsed);
        CAPTURE(to_string(parsed.error()));
        CHECK(parsed.error() == fault.code);
        CHECK(parsed.error().what.substr(0, std::string_view{fault.beginning}.size()) == fault.beginning);
        CHECK(parsed.error().where == "column " + std::to_string(fault.column));
    }
}

TEST_CASE("cron.expression: a message gives the correct form") {
    CHECK(to_string(parse_cron("* * * * Foo ?").error()) ==
          "invalid_cron: Invalid Month value: 'Foo'. Months are 1 to 12 or JAN to DEC (column 9)");
    CHECK(to_string(parse_cron("0 0 12 * * *").error()) ==
          "invalid_cron: Support for specifying both a day-of-week AND a day-of-month parameter is not implemented. "
          "Write '?' for one of them (column 12)");
}

TEST_CASE("cron.expression: a message shows the beginning of a long text, on one line") {
    auto const parsed = parse_cron("0 0 " + std::string(1'000'000, '1') + " * * ?");
    REQUIRE(!parsed);
    CHECK(parsed.error().what.starts_with("Hour values must be between 0 and 23: '111"));
    CHECK(parsed.error().what.ends_with("111...'"));
    CHECK(parsed.error().what.size() < 300);
}

TEST_CASE("cron.expression: every problem has a text") {
    using detail::cron_problem;
    auto const last = static_cast<int>(cron_problem::no_such_date_in_these_months_and_years);
    for (int i = 1; i <= last; ++i) CHECK(!wording_of(static_cast<cron_problem>(i)).wrong.empty());
}

TEST_CASE("cron.expression: Quartz's dialect is accepted") {
    for (auto const* text : accepted) {
        CAPTURE(text);
        auto const parsed = parse_cron(text);
        CHECK_MESSAGE(parsed.has_value(), (parsed ? "" : to_string(parsed.error())));
    }
}

TEST_CASE("cron.expression: no text makes the parser read past its end or loop") {
    // Every prefix of a text, and every text with one character changed: mostly wrong, but always answered.
    constexpr std::string_view whole = "0-9/2 */3 22-2 L-3W,15W,1 JAN-Mar/2 ?,FRI#3,6L 2024/2";
    constexpr std::string_view characters = " \t\n,-*/?#LW019AJ\0\xff";
    for (std::size_t length = 0; length <= whole.size(); ++length)
        CHECK(!parse_cron(std::string{whole.substr(0, length)}));
    for (std::size_t at = 0; at < whole.size(); ++at)
        for (char const c : characters) {
            std::string text{whole};
            text[at] = c;
            if (auto const parsed = parse_cron(text); !parsed) CHECK(parsed.error().where.starts_with("column "));
        }
}
