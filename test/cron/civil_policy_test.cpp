// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/cron/civil_policy.hpp>

#include <elasticjob/cron/literal.hpp>
#include <elasticjob/cron/next.hpp>
#include <elasticjob/cron/tzif_zone.hpp>

#include <cron/support.hpp>

#include <doctest/doctest.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

using namespace elasticjob;
using namespace std::chrono;
using cron_test::instant;
using cron_test::text_of;

namespace {

TzifZone zone_of(char const* name) {
    auto zone = TzifZone::load(name);
    REQUIRE_MESSAGE(zone.has_value(), name);
    return *zone;
}

std::vector<sys_seconds> fires(cron_expression const& e, sys_seconds after, sys_seconds until, TzifZone const& zone,
                               civil_policy policy = {}) {
    std::vector<sys_seconds> all;
    for (auto t = next_fire(e, after, zone, policy); t && *t <= until; t = next_fire(e, *t, zone, policy))
        all.push_back(*t);
    return all;
}

/// The zone's local time at each fire, with the offset: `01:30 -4`.
std::string shown(cron_expression const& e, char const* after, char const* until, TzifZone const& zone,
                  civil_policy policy = {}) {
    std::string all;
    for (auto const t : fires(e, instant(after), instant(until), zone, policy)) {
        auto const offset = zone.at(t).offset;
        all += (all.empty() ? "" : ", ") + text_of(t + offset).substr(8, 8) + " " +
               std::to_string(duration_cast<hours>(offset).count());
    }
    return all;
}

constexpr civil_policy always(gap_rule gap, overlap_rule overlap) { return {{gap, overlap}, {gap, overlap}}; }
constexpr civil_policy skip_first = always(gap_rule::skip, overlap_rule::first);
constexpr civil_policy shift_both = always(gap_rule::shift, overlap_rule::both);
constexpr civil_policy shift_last = always(gap_rule::shift, overlap_rule::last);

/// A zone whose clocks change by an hour at two instants, for checks at compile time.
struct OneSummer {
    constexpr zone_segment at(sys_seconds t) const noexcept {
        constexpr auto spring = instant("2024-03-10 07:00:00"), autumn = instant("2024-11-03 06:00:00");
        if (t < spring) return {sys_seconds::min(), spring, hours{-5}};
        if (t < autumn) return {spring, autumn, hours{-4}};
        return {autumn, sys_seconds::max(), hours{-5}};
    }
};

static_assert(next_fire("0 30 2 * * ?"_cron, instant("2024-03-10"), OneSummer{}) == instant("2024-03-10 07:00:00"));
static_assert(next_fire("0 30 1 * * ?"_cron, instant("2024-11-03"), OneSummer{}) == instant("2024-11-03 05:30:00"));
static_assert(next_fire("0 30 1 * * ?"_cron, instant("2024-11-03"), OneSummer{}, quartz_compatible) ==
              instant("2024-11-03 06:30:00"));
// A year's last fire may occur once more although no later local time matches.
static_assert(next_fire("0 30 1 3 11 ? 2024"_cron, instant("2024-11-03 05:30:00"), OneSummer{}, shift_both) ==
              instant("2024-11-03 06:30:00"));
static_assert(next_fire("0 30 1 3 11 ? 2024"_cron, instant("2024-11-03 05:30:00"), OneSummer{}) == std::nullopt);

} // namespace

TEST_CASE("cron.civil_policy: New York in spring, when the hour after two o'clock is skipped") {
    auto const zone = zone_of("America/New_York");
    auto const on_the_day = [&](cron_expression const& e, civil_policy p = {}) {
        return shown(e, "2024-03-10 05:30:00", "2024-03-11 06:45:00", zone, p);
    };
    CHECK(on_the_day("0 30 2 * * ?"_cron) == "10 03:00 -4, 11 02:30 -4");
    CHECK(on_the_day("0 0/20 2 * * ?"_cron) == "10 03:00 -4, 11 02:00 -4, 11 02:20 -4, 11 02:40 -4");
    CHECK(on_the_day("0 0 2,3 * * ?"_cron) == "10 03:00 -4, 11 02:00 -4"); // due twice at that instant, fired once
    CHECK(on_the_day("0 30 2 * * ?"_cron, quartz_compatible) == "11 02:30 -4");
    CHECK(on_the_day("0 30 1 * * ?"_cron) == "10 01:30 -5, 11 01:30 -4");
    CHECK(shown("0 30 * * * ?"_cron, "2024-03-10 05:30:00", "2024-03-10 08:00:00", zone) == "10 01:30 -5, 10 03:30 -4");
}

TEST_CASE("cron.civil_policy: New York in autumn, when one o'clock comes twice") {
    auto const zone = zone_of("America/New_York");
    auto const on_the_day = [&](cron_expression const& e, civil_policy p = {}) {
        return shown(e, "2024-11-03 04:15:00", "2024-11-03 07:15:00", zone, p);
    };
    CHECK(on_the_day("0 30 1 * * ?"_cron) == "03 01:30 -4");
    CHECK(on_the_day("0 30 1 * * ?"_cron, quartz_compatible) == "03 01:30 -5");
    CHECK(on_the_day("0 30 1 * * ?"_cron, shift_both) == "03 01:30 -4, 03 01:30 -5");
    CHECK(on_the_day("0 30 * * * ?"_cron) == "03 00:30 -4, 03 01:30 -4, 03 01:30 -5");
    CHECK(on_the_day("0 30 * * * ?"_cron, quartz_compatible) == "03 00:30 -4, 03 01:30 -5");
    CHECK(on_the_day("0 0 0-22 * * ?"_cron) == "03 01:00 -4, 03 02:00 -5");
    // A schedule for every second keeps firing; under Quartz's rule it would stop for an hour.
    CHECK(next_fire("* * * * * ?"_cron, instant("2024-11-03 04:59:59"), zone) == instant("2024-11-03 05:00:00"));
    CHECK(next_fire("* * * * * ?"_cron, instant("2024-11-03 04:59:59"), zone, quartz_compatible) ==
          instant("2024-11-03 06:00:00"));
}

TEST_CASE("cron.civil_policy: clock changes of half an hour, at midnight, or of a day") {
    auto const lord_howe = zone_of("Australia/Lord_Howe"); // 02:00 is 02:30 on 2024-10-06
    CHECK(text_of(*next_fire("0 15 2 * * ?"_cron, instant("2024-10-05 15:00:00"), lord_howe)) == "2024-10-05 15:30:00");
    CHECK(shown("0 45 1 * * ?"_cron, "2024-04-06 14:00:00", "2024-04-06 16:00:00", lord_howe) == "07 01:45 11");
    CHECK(shown("0 45 * * * ?"_cron, "2024-04-06 14:00:00", "2024-04-06 16:00:00", lord_howe) ==
          "07 01:45 11, 07 01:45 10");

    auto const sao_paulo = zone_of("America/Sao_Paulo"); // had no midnight on 2018-11-04
    CHECK(shown("0 0 0 * * ?"_cron, "2018-11-03 04:00:00", "2018-11-05 03:00:00", sao_paulo) ==
          "04 01:00 -2, 05 00:00 -2");
    CHECK(shown("0 30 23 17 2 ?"_cron, "2018-01-01", "2019-01-01", sao_paulo) == "17 23:30 -2");
    CHECK(shown("0 30 23 17 2 ?"_cron, "2018-01-01", "2019-01-01", sao_paulo, quartz_compatible) == "17 23:30 -3");

    auto const apia = zone_of("Pacific/Apia"); // had no 30th of December in 2011
    CHECK(shown("0 0 12 30 12 ?"_cron, "2011-12-01", "2012-01-02", apia) == "31 00:00 14");
    CHECK(shown("0 0 12 30 12 ?"_cron, "2011-12-01", "2012-01-02", apia, skip_first) == "");
}

namespace {

/// The definition, minute by minute: UTC, which has no clock changes, shows which minutes of the wall clock match.
std::vector<sys_seconds> fires_by_definition(cron_expression const& e, sys_seconds begin, sys_seconds end,
                                             TzifZone const& zone, civil_rule rule) {
    auto const matches = [&](sys_seconds local) { return next_fire(e, local - seconds{1}, UtcZone{}) == local; };
    // All instants that show a local time, searched from a day before to a day after.
    std::map<sys_seconds, std::vector<sys_seconds>> instants;
    for (auto t = begin - days{2}; t < end + days{2}; t += minutes{1}) instants[t + zone.at(t).offset].push_back(t);
    std::vector<sys_seconds> all;
    for (auto t = begin; t < end; t += minutes{1}) {
        auto const local = t + zone.at(t).offset;
        auto const& shows = instants[local];
        bool const chosen = rule.overlap == overlap_rule::both ||
                            t == (rule.overlap == overlap_rule::first ? shows.front() : shows.back());
        bool made_good = false;
        if (rule.gap == gap_rule::shift)
            for (auto lost = t + zone.at(t - minutes{1}).offset; lost < local; lost += minutes{1})
                made_good = made_good || matches(lost);
        if ((chosen && matches(local)) || made_good) all.push_back(t);
    }
    return all;
}

} // namespace

TEST_CASE("cron.civil_policy: around each clock change, fires follow the definition") {
    char const* const names[] = {"America/New_York",  "Europe/Berlin", "Australia/Lord_Howe", "America/Sao_Paulo",
                                 "Africa/Casablanca", "Asia/Tehran",   "America/Nuuk",        "Europe/Dublin"};
    cron_test::dice d{cron_test::seed()};
    INFO("ELASTICJOB_TEST_SEED=" << cron_test::seed());
    for (char const* name : names) {
        auto const zone = zone_of(name);
        std::vector<sys_seconds> turns;
        for (auto t = zone.at(instant("1995-01-01")).end; t < instant("2045-01-01"); t = zone.at(t).end)
            turns.push_back(t);
        REQUIRE(turns.size() > 20);
        for (int i = 0; i < 12; ++i) {
            auto const turn = turns[d.from_to(0, static_cast<unsigned>(turns.size()) - 1)];
            auto const begin = turn - hours{d.from_to(0, 20)}, end = turn + hours{20};
            auto const hour =
                d.one_in(3)
                    ? "*"
                    : std::to_string(d.from_to(0, 23)) + "," +
                          std::to_string(
                              duration_cast<hours>((turn + zone.at(turn).offset).time_since_epoch()).count() % 24) +
                          "-" + std::to_string(d.from_to(0, 3));
            auto const text = "0 " + std::to_string(d.from_to(0, 59)) + "/" + std::to_string(d.from_to(10, 59)) + " " +
                              hour + " * * ?";
            auto const e = parse_cron(text).value();
            for (auto const& policy : {civil_policy{}, quartz_compatible, skip_first, shift_both, shift_last}) {
                CAPTURE(name);
                CAPTURE(text);
                CAPTURE(text_of(begin));
                auto const rule = e.fires_in_every_hour() ? policy.every_hour : policy.named_hours;
                auto const expected = fires_by_definition(e, begin, end, zone, rule);
                auto const found = fires(e, begin - seconds{1}, end - seconds{1}, zone, policy);
                REQUIRE(found.size() == expected.size());
                REQUIRE(found == expected);
            }
        }
    }
}

TEST_CASE("cron.civil_policy: the next fire is always later, for any zone and instant") {
    cron_expression const expressions[] = {"* * * * * ?"_cron,    "0 30 2 * * ?"_cron, "0 0 0 * * ?"_cron,
                                           "59 59 23 L * ?"_cron, "0 0 0 29 2 ?"_cron, "0 30 1 ? * 1#1"_cron};
    for (char const* name : {"America/New_York", "Australia/Lord_Howe", "Pacific/Apia", "Africa/Cairo", "Asia/Gaza"}) {
        auto const zone = zone_of(name);
        for (auto turn = zone.at(instant("1970-01-01")).end; turn < instant("2038-01-01"); turn = zone.at(turn).end)
            for (auto const& e : expressions)
                for (auto const& policy : {civil_policy{}, quartz_compatible, shift_both})
                    for (int const away : {-7200, -1801, -1, 0, 1, 1799, 3600}) {
                        auto const after = turn + seconds{away};
                        auto const fire = next_fire(e, after, zone, policy);
                        REQUIRE(fire.has_value());
                        REQUIRE(*fire > after);
                    }
    }
}
