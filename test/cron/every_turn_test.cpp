// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/cron/next.hpp>

#include <elasticjob/cron/tzif_zone.hpp>

#include <cron/support.hpp>
#include <cron/zones.hpp>

#include <support/full_run.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

// Each clock change of each zone of the database from 1970 to 2037. The reference shares no code with the library: the
// offsets are the C library's, each expression's meaning stands beside it in terms of std::chrono, and every local time
// of a day is tried. The instants that show a local time are looked up, not searched for.
namespace {

using namespace elasticjob;
using namespace std::chrono;
using cron_test::text_of;
using cron_test::turn;

auto const nth_turn = test::amount_for_this_run({.full = 1, .usual = 12, .sanitized = 300});

using date = year_month_day;

struct meaning {
    char const* text;
    bool every_hour;
    bool (*on)(date);
    bool (*at)(int hour, int minute, int second);
};

bool any_day(date) { return true; }
bool is_day(date d, year_month_weekday named) { return sys_days{d} == sys_days{named}; }
date last_of(date d) { return d.year() / d.month() / last; }
bool is_workday(date d) {
    auto const w = weekday{sys_days{d}};
    return w != Saturday && w != Sunday;
}
/// The day itself or, on a weekend, the nearest workday of its month.
bool is_nearest_workday(date d, date named) {
    for (int const away : {0, -1, 1, -2, 2}) {
        date const candidate{sys_days{named} + days{away}};
        if (candidate.month() == named.month() && is_workday(candidate)) return d == candidate;
    }
    return false;
}

template <int Hour, int Minute>
bool at(int h, int m, int s) {
    return h == Hour && m == Minute && s == 0;
}

constexpr std::array corpus{
    // The expressions of benchmarks/cron.cpp.
    meaning{"* * * * * ?", true, any_day, [](int, int, int) { return true; }},
    meaning{"0/5 * * * * ?", true, any_day, [](int, int, int s) { return s % 5 == 0; }},
    meaning{"0 0/5 * * * ?", true, any_day, [](int, int m, int s) { return m % 5 == 0 && s == 0; }},
    meaning{"0 0 12 * * ?", false, any_day, at<12, 0>},
    meaning{"0 15 10 ? * MON-FRI", false, is_workday, at<10, 15>},
    meaning{"0 0/5 14,18 * * ?", false, any_day,
            [](int h, int m, int s) { return (h == 14 || h == 18) && m % 5 == 0 && s == 0; }},
    meaning{"0 0 0 1 1 ?", false, [](date d) { return d == d.year() / January / 1; }, at<0, 0>},
    meaning{"0 15 10 L * ?", false, [](date d) { return d == last_of(d); }, at<10, 15>},
    meaning{"0 15 10 ? * 6L", false,
            [](date d) { return sys_days{d} == sys_days{d.year() / d.month() / Friday[last]}; }, at<10, 15>},
    meaning{"0 15 10 ? * 6#3", false, [](date d) { return is_day(d, d.year() / d.month() / Friday[3]); }, at<10, 15>},
    meaning{"0 15 10 15W * ?", false, [](date d) { return is_nearest_workday(d, d.year() / d.month() / 15); },
            at<10, 15>},
    meaning{"0 0 0 29 2 ?", false, [](date d) { return d == d.year() / February / 29; }, at<0, 0>},
    // Expressions that meet gaps and overlaps: most clocks change at night.
    meaning{"0 30 2 * * ?", false, any_day, at<2, 30>},
    meaning{"0 15 0 * * ?", false, any_day, at<0, 15>},
    meaning{"0 0 0 * * ?", false, any_day, at<0, 0>},
    meaning{"59 59 23 * * ?", false, any_day, [](int h, int m, int s) { return h == 23 && m == 59 && s == 59; }},
    meaning{"0 0/30 1-3 * * ?", false, any_day,
            [](int h, int m, int s) { return 1 <= h && h <= 3 && m % 30 == 0 && s == 0; }},
    meaning{"20/20 59 22-1 * * ?", false, any_day,
            [](int h, int m, int s) { return (h >= 22 || h <= 1) && m == 59 && (s == 20 || s == 40); }},
    meaning{"0/7 0/7 0/2 * * ?", false, any_day, [](int h, int m, int s) { return h % 2 + m % 7 + s % 7 == 0; }},
    meaning{"* * 0-22 * * ?", false, any_day, [](int h, int, int) { return h <= 22; }},
    meaning{"30 30 * * * ?", true, any_day, [](int, int m, int s) { return m == 30 && s == 30; }},
    meaning{"0 0 0-23 * * ?", true, any_day, [](int, int m, int s) { return m == 0 && s == 0; }},
    meaning{"0 0 * L * ?", true, [](date d) { return d == last_of(d); },
            [](int, int m, int s) { return m == 0 && s == 0; }},
    meaning{"0 30 2 ? * SUN", false, [](date d) { return weekday{sys_days{d}} == Sunday; }, at<2, 30>},
    meaning{"0 30 1 ? 4,10,11 1#1,1L", false,
            [](date d) {
                auto const month = d.year() / d.month();
                return (d.month() == April || d.month() == October || d.month() == November) &&
                       (is_day(d, month / Sunday[1]) || sys_days{d} == sys_days{month / Sunday[last]});
            },
            at<1, 30>},
    meaning{"0 0/20 0,2,23 LW 3,9-12 ?", false,
            [](date d) {
                auto const m = static_cast<unsigned>(d.month());
                return (m == 3 || m >= 9) && is_nearest_workday(d, last_of(d));
            },
            [](int h, int m, int s) { return (h == 0 || h == 2 || h == 23) && m % 20 == 0 && s == 0; }},
    meaning{"0 45 1,2 * * ? 1971-2037/2", false, [](date d) { return static_cast<int>(d.year()) % 2 == 1; },
            [](int h, int m, int s) { return (h == 1 || h == 2) && m == 45 && s == 0; }},
};

std::vector<seconds> times_of(meaning const& m) {
    std::vector<seconds> times;
    for (int s = 0; s < 86'400; ++s)
        if (m.at(s / 3600, s / 60 % 60, s % 60)) times.push_back(seconds{s});
    return times;
}

/// A clock change and others near it, at least two days to both sides.
struct scene {
    std::string zone;
    turn centre;
    std::vector<turn> near;

    seconds offset_at(sys_seconds t) const {
        auto offset = near.front().before;
        for (auto const& n : near)
            if (n.at <= t) offset = n.after;
        return offset;
    }
    seconds size() const { return abs(centre.after - centre.before); }
};

struct window {
    sys_seconds after, until;
};

/// Covers every fire near the clock change, near the first and last repeated local times, and around the days; but does
/// not follow a schedule of every second for days.
std::vector<window> windows_of(scene const& s, std::size_t times_per_day) {
    auto const around = [](sys_seconds t, seconds away) { return window{t - away, t + away}; };
    if (times_per_day <= 100) return {around(s.centre.at, s.size() + hours{50})};
    if (times_per_day <= 1000) return {around(s.centre.at, s.size() + hours{2})};
    return {around(s.centre.at - s.size(), seconds{70}), around(s.centre.at, seconds{70}),
            around(s.centre.at + s.size(), seconds{70})};
}

/// The definition: each local time that matches, and the instants that show it.
std::vector<sys_seconds> fires_by_definition(meaning const& m, std::vector<seconds> const& times, scene const& s,
                                             window const& w, civil_rule rule) {
    std::set<seconds> offsets{s.near.front().before};
    for (auto const& n : s.near) offsets.insert(n.after);
    std::vector<sys_seconds> fires;
    auto const due_at = [&](sys_seconds local) {
        std::vector<sys_seconds> shown;
        for (auto const offset : offsets)
            if (s.offset_at(local - offset) == offset) shown.push_back(local - offset);
        std::sort(shown.begin(), shown.end());
        if (shown.empty()) {
            if (rule.gap == gap_rule::shift)
                for (auto const& n : s.near)
                    if (n.at + n.before <= local && local < n.at + n.after) fires.push_back(n.at);
        } else if (rule.overlap == overlap_rule::both) {
            fires.insert(fires.end(), shown.begin(), shown.end());
        } else {
            fires.push_back(rule.overlap == overlap_rule::first ? shown.front() : shown.back());
        }
    };
    auto const first = w.after + *offsets.begin(), end = w.until + *offsets.rbegin();
    for (auto day = floor<days>(first); day <= end; day += days{1}) {
        if (!m.on(date{day})) continue;
        // Only for speed: the times of a day that some offset puts into the window.
        for (auto t = std::lower_bound(times.begin(), times.end(), first - day); t != times.end() && day + *t <= end;
             ++t)
            due_at(day + *t);
    }
    std::sort(fires.begin(), fires.end());
    fires.erase(std::unique(fires.begin(), fires.end()), fires.end());
    std::erase_if(fires, [&](sys_seconds t) { return t <= w.after || t > w.until; });
    return fires;
}

constexpr civil_policy always(gap_rule gap, overlap_rule overlap) { return {{gap, overlap}, {gap, overlap}}; }

struct named_policy {
    char const* name;
    civil_policy policy;
    civil_rule named_hours, every_hour; ///< what the policy says, once more
};

constexpr auto skip = gap_rule::skip, shift = gap_rule::shift;
constexpr auto first_pass = overlap_rule::first, last_pass = overlap_rule::last, both = overlap_rule::both;
constexpr std::array policies{
    named_policy{"the default", civil_policy{}, {shift, first_pass}, {skip, both}},
    named_policy{"quartz_compatible", quartz_compatible, {skip, last_pass}, {skip, last_pass}},
    named_policy{"skip, first", always(skip, first_pass), {skip, first_pass}, {skip, first_pass}},
    named_policy{"skip, last", always(skip, last_pass), {skip, last_pass}, {skip, last_pass}},
    named_policy{"skip, both", always(skip, both), {skip, both}, {skip, both}},
    named_policy{"shift, first", always(shift, first_pass), {shift, first_pass}, {shift, first_pass}},
    named_policy{"shift, last", always(shift, last_pass), {shift, last_pass}, {shift, last_pass}},
    named_policy{"shift, both", always(shift, both), {shift, both}, {shift, both}},
};

std::string shown(std::optional<sys_seconds> t) { return t ? text_of(*t) : "never"; }

/// Asks from every instant that could matter: each fire, and the seconds around each edge. \return their number.
std::size_t compare(cron_expression const& e, civil_policy policy, TzifZone const& zone, scene const& s,
                    window const& w, std::vector<sys_seconds> const& expected) {
    std::size_t questions = 0;
    auto const ask = [&](sys_seconds after) {
        ++questions;
        auto const found = next_fire(e, after, zone, policy);
        auto const right = std::upper_bound(expected.begin(), expected.end(), after);
        bool const equal = right == expected.end() ? !found || *found > w.until : found == *right;
        if (equal && (!found || *found > after)) return;
        FAIL("after " << text_of(after) << " the next fire is "
                      << (right == expected.end() ? "after " + text_of(w.until) : text_of(*right)) << ", but found is "
                      << shown(found) << " (all UTC; the clock is turned at " << text_of(s.centre.at) << " from "
                      << s.centre.before.count() << " to " << s.centre.after.count() << ")");
    };
    ask(w.after);
    for (auto const t : expected) ask(t);
    for (auto const edge : {s.centre.at - s.size(), s.centre.at, s.centre.at + s.size()})
        for (int const away : {-1800, -2, -1, 0, 1, 1799})
            if (auto const t = edge + seconds{away}; w.after < t && t < w.until) ask(t);
    return questions;
}

} // namespace

TEST_CASE("cron.every_turn: each expression of the corpus reads as the meaning beside it") {
    for (auto const& m : corpus) CHECK(parse_cron(m.text).value().fires_in_every_hour() == m.every_hour);
}

TEST_CASE("cron.every_turn: clocks change when the C library says, and fires follow the definition there") {
    std::size_t zones = 0, turns = 0;
    std::vector<scene> scenes;
    std::set<std::tuple<sys_seconds, std::vector<turn>>> met;
    for (auto const& name : cron_test::all_zones()) {
        CAPTURE(name);
        auto const zone = TzifZone::load(name);
        REQUIRE(zone.has_value());
        auto const expected = cron_test::turns_of_zone(name);
        std::vector<turn> found;
        for (auto segment = zone->at(cron_test::turns_begin); segment.end < cron_test::turns_end;) {
            auto const next = zone->at(segment.end);
            found.push_back({segment.end, segment.offset, next.offset});
            segment = next;
        }
        REQUIRE(found.size() == expected.size());
        REQUIRE(found == expected);
        ++zones;
        turns += found.size();
        // Many zones share their clock changes. Instants far from a change do not depend on it.
        for (auto const& centre : found) {
            scene s{name, centre, {}};
            std::copy_if(found.begin(), found.end(), std::back_inserter(s.near),
                         [&](turn const& other) { return abs(other.at - centre.at) <= days{6}; });
            if (met.emplace(centre.at, s.near).second) scenes.push_back(std::move(s));
        }
    }
    MESSAGE(zones << " zones with " << turns << " turns, of which " << scenes.size() << " are different ones");
    REQUIRE(zones > 300);
    REQUIRE(scenes.size() > 3000);

    std::size_t questions = 0, fires = 0, fires_at_turns = 0;
    for (auto const& m : corpus) {
        auto const e = parse_cron(m.text).value();
        auto const times = times_of(m);
        // The expressions with very many times are due every day: only the time of day and the offsets matter to them.
        bool const knows_dates = times.size() <= 1000;
        std::set<std::tuple<seconds, std::vector<turn>>> met_without_date;
        TzifZone zone;
        std::string loaded;
        for (std::size_t i = 0; i < scenes.size(); i += nth_turn) {
            auto const& s = scenes[i];
            auto const midnight = floor<days>(s.centre.at);
            auto moved = s.near;
            for (auto& n : moved) n.at -= midnight.time_since_epoch();
            if (!knows_dates && !met_without_date.emplace(s.centre.at - midnight, moved).second) continue;
            if (loaded != s.zone) zone = TzifZone::load(loaded = s.zone).value();
            for (auto const& w : windows_of(s, times.size()))
                for (auto const gap : {skip, shift})
                    for (auto const overlap : {first_pass, last_pass, both}) {
                        civil_rule const rule{gap, overlap};
                        auto const expected = fires_by_definition(m, times, s, w, rule);
                        fires += expected.size();
                        fires_at_turns += std::binary_search(expected.begin(), expected.end(), s.centre.at);
                        for (auto const& p : policies) {
                            if ((m.every_hour ? p.every_hour : p.named_hours) != rule) continue;
                            INFO(s.zone, ", ", std::string{m.text}, ", ", std::string{p.name});
                            questions += compare(e, p.policy, zone, s, w, expected);
                        }
                    }
        }
    }
    MESSAGE(questions << " questions about " << fires << " fires, " << fires_at_turns << " of them at a turn");
    CHECK(fires_at_turns > 1000 / nth_turn);
}
