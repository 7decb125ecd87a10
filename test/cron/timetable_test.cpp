// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/cron/timetable.hpp>

#include <elasticjob/cron/literal.hpp>
#include <elasticjob/cron/tzif_zone.hpp>

#include <cron/support.hpp>

#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <vector>

using namespace elasticjob;
using namespace elasticjob::literals;
using namespace std::chrono_literals;
using cron_test::instant;

namespace {

wall_time at(std::string_view text) { return instant(text); }

/// `05:00 05:10`: the due times of that UTC day, as many as there are up to eight.
template <class Zone>
std::string due_on(timetable const& table, std::string_view day, Zone const& zone) {
    std::string all;
    int left = 8;
    auto const begin = at(day) - 1ms, end = at(day) + 24h;
    for (auto t = table.next(begin, zone); t && *t < end && left > 0; t = table.next(*t, zone), --left)
        all += (all.empty() ? "" : " ") +
               cron_test::text_of(std::chrono::floor<std::chrono::seconds>(*t)).substr(11, 5);
    return all;
}
std::string due_on(timetable const& table, std::string_view day) { return due_on(table, day, UtcZone{}); }

} // namespace

TEST_CASE("cron.timetable: several schedules form one, and a shared instant is due once") {
    timetable table;
    CHECK(!table.next(at("2026-01-01"), UtcZone{}));
    table.crons = {"0 0 6,12 * * ?"_cron, "0 0 12,18 * * ?"_cron};
    CHECK(due_on(table, "2026-01-01") == "06:00 12:00 18:00");
    table.rates = {8h};
    CHECK(due_on(table, "2026-01-01") == "00:00 06:00 08:00 12:00 16:00 18:00");
    table.once = {at("2026-01-01 07:00:00"), at("2026-01-01 18:00:00")};
    CHECK(due_on(table, "2026-01-01") == "00:00 06:00 07:00 08:00 12:00 16:00 18:00");
}

TEST_CASE("cron.timetable: a fixed rate counts from its start, or from 1970") {
    timetable table;
    table.rates = {7h};
    CHECK(table.next(wall_time{} - 1ms, UtcZone{}) == wall_time{});
    CHECK(table.next(wall_time{}, UtcZone{}) == wall_time{7h});
    CHECK(table.next(wall_time{7h - 1ms}, UtcZone{}) == wall_time{7h});
    CHECK(table.next(wall_time::min(), UtcZone{}).has_value());
    table.starts = at("2026-01-01 01:00:00");
    CHECK(due_on(table, "2026-01-01") == "01:00 08:00 15:00 22:00");
    CHECK(table.next(at("2020-01-01"), UtcZone{}) == table.starts);
    table.rates = {250ms};
    CHECK(table.next(table.starts + 10s, UtcZone{}) == table.starts + 10s + 250ms);
    CHECK(table.next(table.starts + 10s + 249ms, UtcZone{}) == table.starts + 10s + 250ms);
}

TEST_CASE("cron.timetable: nothing is due before the start or after the end; both ends are included") {
    timetable table{{"0 0 * * * ?"_cron}};
    table.starts = at("2026-01-01 03:00:00");
    table.ends = at("2026-01-01 05:00:00");
    CHECK(due_on(table, "2026-01-01") == "03:00 04:00 05:00");
    CHECK(!table.next(table.ends, UtcZone{}));
    table.starts += 1ms;
    table.ends -= 1ms;
    CHECK(due_on(table, "2026-01-01") == "04:00");
}

TEST_CASE("cron.timetable: excluded instants are not due, and later ones are") {
    timetable table{{"0 0 0/6 * * ?"_cron}};
    table.excluded = {"* * * 25 12 ? 2026"_cron};
    CHECK(due_on(table, "2026-12-24") == "00:00 06:00 12:00 18:00");
    CHECK(due_on(table, "2026-12-25") == "");
    CHECK(table.next(at("2026-12-24 18:00:00"), UtcZone{}) == at("2026-12-26"));
    table.excluded = {"* * 0-7,18-23 * * ?"_cron};
    CHECK(due_on(table, "2026-12-24") == "12:00");
    table.rates = {20min};
    table.excluded = {"* * 0-21 * * ?"_cron, "* 0-19 * * * ?"_cron};
    CHECK(due_on(table, "2026-12-24") == "22:20 22:40 23:20 23:40");
    table.excluded = {"* * * ? * SAT,SUN"_cron};
    CHECK(due_on(table, "2026-11-21") == "");
    CHECK(table.next(at("2026-11-20 23:59:59"), UtcZone{}) == at("2026-11-23"));
    // It excludes only the seconds that it names.
    table.rates = {500ms};
    table.excluded = {"0/2 * * * * ?"_cron};
    CHECK(table.next(at("2026-11-20"), UtcZone{}) == at("2026-11-20") + 1s);
    CHECK(table.next(at("2026-11-20") + 1500ms, UtcZone{}) == at("2026-11-20") + 3s);
}

TEST_CASE("cron.timetable: a schedule that excludes everything is detected in bounded time") {
    timetable table{{"0-58 * * * * ?"_cron}};
    table.excluded = {"0-58 * * * * ?"_cron};
    CHECK(!table.next(at("2026-01-01"), UtcZone{}));
    table.excluded = {"* * * * * ?"_cron};
    CHECK(!table.next(at("2026-01-01"), UtcZone{}));
    table.delays = {1s};
    CHECK(!table.next_after_end(at("2026-01-01"), UtcZone{}));
}

TEST_CASE("cron.timetable: excluded days are the zone's days, also when its clocks change") {
    auto const zone = TzifZone::load("America/New_York").value();
    timetable table;
    table.rates = {30min};
    table.excluded = {"* * * 1 11 ? 2026"_cron}; // 25 hours long
    CHECK(table.next(at("2026-11-01 03:30:00"), zone) == at("2026-11-02 05:00:00"));
    CHECK(table.next(at("2026-11-01 03:00:00"), zone) == at("2026-11-01 03:30:00"));
    table.excluded = {"* * * 8 3 ? 2026"_cron}; // 23 hours long
    CHECK(table.next(at("2026-03-08 04:30:00"), zone) == at("2026-03-09 04:00:00"));
    // An hour that is shown twice is excluded twice.
    table.excluded = {"* * 1 * * ?"_cron};
    CHECK(table.next(at("2026-11-01 04:30:00"), zone) == at("2026-11-01 07:00:00"));
}

TEST_CASE("cron.timetable: a fixed delay begins when a run has ended") {
    timetable table;
    auto const ended = at("2026-01-01 10:00:00") + 7ms;
    CHECK(!table.next_after_end(ended, UtcZone{}));
    table.delays = {5min, 90s};
    CHECK(table.next_after_end(ended, UtcZone{}) == ended + 90s);
    CHECK(!table.next(ended, UtcZone{}));
    table.excluded = {"* * 10 * * ?"_cron};
    CHECK(table.next_after_end(ended, UtcZone{}) == at("2026-01-01 11:00:00"));
    table.starts = at("2026-01-02");
    CHECK(table.next_after_end(ended, UtcZone{}) == table.starts);
    table.ends = at("2026-01-02") - 1ms;
    CHECK(!table.next_after_end(ended, UtcZone{}));
}

TEST_CASE("cron.timetable: random tables against a check of every second") {
    cron_test::dice d{cron_test::seed()};
    MESSAGE("ELASTICJOB_TEST_SEED=" << cron_test::seed() << " repeats this run");
    auto const number = [&](unsigned low, unsigned high) { return std::to_string(d.from_to(low, high)); };
    auto const zone = TzifZone::load("Europe/Berlin").value();
    int due_times = 0;
    for (int round = 0; round < 300; ++round) {
        timetable table;
        std::vector<std::string> texts;
        auto const draw = [&] {
            std::string text = d.one_in(2) ? number(0, 59) : "*";
            text += d.one_in(2) ? " 0/" + number(1, 30) : " *";
            text += " " + number(0, 23) + "-" + number(0, 23) + " * * ?";
            texts.push_back(text);
            return parse_cron(text).value();
        };
        for (auto n = d.from_to(0, 2); n > 0; --n) table.crons.push_back(draw());
        for (auto n = d.from_to(0, 2); n > 0; --n) table.excluded.push_back(draw());
        if (d.one_in(2)) table.rates.push_back(std::chrono::seconds{d.from_to(1, 5'000)});
        // Around the turns of 2026, at 01:00 UTC, and somewhere else.
        auto const begin = at(d.one_in(3) ? "2026-03-29" : d.one_in(2) ? "2026-10-25" : "2026-06-01");
        if (d.one_in(3)) table.starts = begin + std::chrono::seconds{d.from_to(0, 7'000)};
        CAPTURE(texts);
        table.policy = d.one_in(2) ? civil_policy{} : quartz_compatible;
        auto const shows = [&](cron_expression const& e, wall_time t) {
            auto const local = t.time_since_epoch() + zone.at(std::chrono::floor<std::chrono::seconds>(t)).offset;
            auto const as_utc = std::chrono::sys_seconds{std::chrono::floor<std::chrono::seconds>(local)};
            return next_fire(e, as_utc - 1s, UtcZone{}) == as_utc;
        };
        auto next = table.next(begin - 1ms, zone);
        for (auto t = begin; t < begin + 4h; t += 1s) {
            bool is_due = std::any_of(table.crons.begin(), table.crons.end(), [&](auto const& e) {
                return next_fire(e, std::chrono::floor<std::chrono::seconds>(t) - 1s, zone, table.policy) == t;
            });
            auto const rate_from = table.starts == wall_time::min() ? wall_time{} : table.starts;
            for (auto const& span : table.rates) is_due |= t >= rate_from && (t - rate_from) % span == 0ms;
            is_due &= t >= table.starts;
            for (auto const& e : table.excluded) is_due &= !shows(e, t);
            REQUIRE((next && *next == t) == is_due);
            if (!is_due) continue;
            ++due_times;
            next = table.next(t, zone);
            REQUIRE((!next || *next > t));
        }
    }
    CHECK(due_times > 50'000);
}

TEST_CASE("cron.timetable: times at the ends of the clock's range do not overflow") {
    timetable table;
    table.rates = {7ms, 1h};
    auto const some = at("2026-01-01");
    for (auto const starts : {wall_time::min() + 1ms, wall_time{std::chrono::milliseconds{-9'223'372'036'854}}}) {
        table.starts = starts;
        auto const next = table.next(some, UtcZone{});
        REQUIRE(next);
        CHECK(*next > some);
        CHECK(*next <= some + 7ms);
    }
    table.starts = wall_time::max();
    CHECK(!table.next(some, UtcZone{}));
    table.starts = wall_time::min();
    table.delays = {1s};
    CHECK(!table.next_after_end(wall_time::max(), UtcZone{}));
    CHECK(table.next_after_end(wall_time::min(), UtcZone{}).has_value());
    table.ends = wall_time::min();
    CHECK(!table.next(some, UtcZone{}));
    CHECK(!table.next_after_end(wall_time::min(), UtcZone{}));
}

TEST_CASE("cron.timetable: the work of a search is bounded for any schedules and exclusions") {
    timetable table;
    auto const some = at("2026-01-01");
    auto const expect_bounded = [&](timetable::finding const& f) {
        CHECK(f.is_given_up);
        CHECK(!f.due);
        CHECK(f.reached > some);
        CHECK(f.looks > timetable::looks_max);
        CHECK(f.looks < timetable::looks_max + 10'000); // one more step
    };
    // A thousand exclusions that leave no second of a day.
    table.crons = {"* * * * * ?"_cron};
    for (int i = 0; i < 500; ++i) {
        table.excluded.push_back("0/2 * * * * ?"_cron);
        table.excluded.push_back("1/2 * * * * ?"_cron);
    }
    expect_bounded(table.find_next(some, UtcZone{}));
    table.delays = {1s};
    expect_bounded(table.find_next_after_end(some, UtcZone{}));
    // Slow expressions, which fire once in two hundred years: their fires are searched for once.
    table.delays.clear();
    table.excluded = {"0/2 * * * * ?"_cron, "1/2 * * * * ?"_cron};
    auto const leap = "0 0 0 29 2 ? 2027-2103/2,2224"_cron;
    for (int i = 0; i < 50; ++i) {
        table.crons.insert(table.crons.begin(), leap);
        table.crons.push_back("0 0 0 29 2 ? 2024"_cron);
    }
    expect_bounded(table.find_next(some, UtcZone{}));
    // More of them than the search remembers cost the full price each time.
    while (table.crons.size() < 300) table.crons.push_back(leap);
    auto const f = table.find_next(some, UtcZone{});
    CHECK(f.is_given_up);
    CHECK(f.looks < timetable::looks_max + 50'000);
}

TEST_CASE("cron.timetable: an ordinary search takes few steps") {
    timetable table{{"0 0 0/6 * * ?"_cron}};
    CHECK(table.find_next(at("2026-12-24"), UtcZone{}).looks < 20);
    table.excluded = {"* * * ? * SAT,SUN"_cron};
    CHECK(table.find_next(at("2026-11-20 23:59:59"), UtcZone{}).looks < 40);
    table.crons = {"* * * * * ?"_cron};
    CHECK(table.find_next(at("2026-11-20 23:59:59"), UtcZone{}).looks < 40);
    table.excluded = {"0-58 * * * * ?"_cron};
    CHECK(table.find_next(at("2026-11-20 23:59:59"), UtcZone{}).due == at("2026-11-21 00:00:59"));
}

TEST_CASE("cron.timetable: an exclusion covers the instants at which its expression fires") {
    cron_test::dice d{cron_test::seed()};
    MESSAGE("ELASTICJOB_TEST_SEED=" << cron_test::seed() << " repeats this run");
    for (auto const& e : {"* * * ? * SAT,SUN"_cron, "0/7 5-20 0,12 L-2 * ?"_cron, "* * * 15W 1-12/2 ?"_cron,
                          "* * * ? * 6L 2000-2100"_cron, "30 * * ? * 2#1 2026"_cron, "* * * 29 2 ?"_cron}) {
        for (int i = 0; i < 3'000; ++i) {
            auto t = static_cast<detail::local_seconds>(d.from_to(0, 4'000'000'000U));
            if (d.one_in(2)) t = detail::first_match(e.fields(), t);
            if (t == detail::no_match) continue;
            REQUIRE(detail::local_moment{t}.is_named_by(e.fields()) == (detail::first_match(e.fields(), t) == t));
        }
    }
}
