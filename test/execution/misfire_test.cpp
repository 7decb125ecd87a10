// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/execution/misfire.hpp>

#include <elasticjob/cron/timetable.hpp>

#include <doctest/doctest.h>

using namespace elasticjob;
using namespace std::chrono_literals;

namespace {

cron_expression const every_5s = parse_cron("0/5 * * * * ?").value();

wall_time at(std::chrono::seconds s) { return wall_time{1'767'225'600s + s}; } // 2026-01-01 00:00:00 UTC

due_instants due(cron_expression const& e, std::chrono::seconds after, std::chrono::seconds until, std::size_t keep) {
    timetable const table{{e}};
    return due_between([&](wall_time t) { return table.next(t, UtcZone{}); }, at(after), at(until), keep);
}
due_instants due(std::chrono::seconds after, std::chrono::seconds until, std::size_t keep) {
    return due(every_5s, after, until, keep);
}

constexpr misfire_policy skip{misfire_rule::skip};
constexpr misfire_policy once{};
constexpr misfire_policy all{misfire_rule::all, 3};

catch_up decide_at(std::chrono::seconds after, std::chrono::seconds now, misfire_policy const& p,
                   std::optional<std::chrono::seconds> idle_since = {}) {
    return decide(due(after, now, instants_to_keep(p)), at(now),
                  idle_since ? std::optional{at(*idle_since)} : std::nullopt, p);
}

} // namespace

TEST_CASE("execution.misfire: due instants are counted, and the newest kept") {
    CHECK(due(0s, 4s, 2).count == 0);
    CHECK(due(0s, 5s, 2).newest == std::vector{at(5s)});
    CHECK(due(5s, 5s, 2).count == 0);
    auto const many = due(0s, 60s, 2);
    CHECK(many.count == 12);
    CHECK(many.newest == std::vector{at(55s), at(60s)});
    CHECK(due(60s, 0s, 2).count == 0);
}

TEST_CASE("execution.misfire: a long time away is passed over in big steps, and the newest instant is right") {
    for (auto const span : {24h, 24h * 365, 24h * 365 * 100}) {
        auto const found = due(0s, span, 3);
        CHECK(found.count >= due_instants::count_max - 1);
        CHECK(found.newest.back() == at(span));
        CHECK(found.newest.size() == 3);
    }
    // The schedule ended long before now.
    auto const ended = parse_cron("* * * * 1 ? 2026").value();
    auto const found = due(ended, 0s, 24h * 365 * 50, 1);
    CHECK(found.newest.front() == at(24h * 31 - 1s));
}

TEST_CASE("execution.misfire: the newest instants are right although there are few of them at the end") {
    timetable const office{{parse_cron("* * 8-17 ? * MON-FRI").value(), parse_cron("0 0 * ? * SAT,SUN").value()}};
    auto const next = [&](wall_time t) { return office.next(t, UtcZone{}); };
    auto const monday = at(24h * 4); // 2026-01-05
    for (auto const from : {monday - 24h * 4, monday + 24h * 4 + 12h}) {
        auto const sunday = monday + 24h * 6 + 6h;
        auto const found = due_between(next, from, sunday, 41);
        std::vector<wall_time> newest;
        for (auto t = monday + 24h * 4 + 17h; t <= sunday; t = *next(t)) newest.push_back(t);
        CHECK(found.newest == std::vector<wall_time>(newest.end() - 41, newest.end()));
        CHECK(found.count > 41);
    }
    CHECK(due(0s, 24h * 365, 100'000).newest.size() == due_instants::count_max);
}

TEST_CASE("execution.misfire: an instant that is due now simply runs, whatever the rule") {
    for (auto const& p : {skip, once, all}) {
        auto const c = decide_at(0s, 5s, p);
        CHECK(c.run == at(5s));
        CHECK(c.source == run_source::schedule);
        CHECK(c.coalesced.count + c.skipped.count == 0);
        CHECK(c.through == at(5s));
        CHECK(decide_at(0s, 9s, p).run == at(5s)); // some seconds late, by a change of hands
    }
}

TEST_CASE("execution.misfire: instants that were due while the item was running are made up for as the rule says") {
    auto const s = decide_at(0s, 17s, skip, 16s);
    CHECK_FALSE(s.run);
    CHECK(s.skipped.count == 3);
    CHECK(s.through == at(15s));

    auto const o = decide_at(0s, 17s, once, 16s);
    CHECK(o.run == at(15s));
    CHECK(o.source == run_source::misfire);
    CHECK(o.coalesced.count == 2);
    CHECK(o.coalesced.last == at(10s));
    CHECK(o.through == at(15s));

    auto const a = decide_at(0s, 22s, all, 21s);
    CHECK(a.run == at(10s));
    CHECK(a.source == run_source::misfire);
    CHECK(a.skipped.count == 1);
    CHECK(a.skipped.last == at(5s));
    CHECK(a.through == at(10s));
    CHECK(decide_at(10s, 22s, all, 21s).run == at(15s));
    CHECK(decide_at(15s, 22s, all, 21s).run == at(20s));

    // The run ended before the next instant came.
    auto const between = decide_at(0s, 20s, skip, 17s);
    CHECK(between.run == at(20s));
    CHECK(between.source == run_source::schedule);
    CHECK(between.skipped.count == 3);
}

TEST_CASE(
    "execution.misfire: an instant that could not start for a minute is late, and beyond the limit it is dropped") {
    CHECK_FALSE(decide_at(0s, 64s, {misfire_rule::skip}).skipped.count == 0);
    auto const daily = parse_cron("0 0 0 * * ?").value();
    auto const decide_daily = [&](std::chrono::seconds now, misfire_policy const& p) {
        return decide(due(daily, 0s, now, instants_to_keep(p)), at(now), {}, p);
    };
    CHECK(decide_daily(24h + 59s, skip).run == at(24h));
    CHECK_FALSE(decide_daily(24h + 61s, skip).run);
    CHECK(decide_daily(24h + 61s, once).run == at(24h));
    CHECK(decide_daily(24h + 61s, once).source == run_source::misfire);
    misfire_policy limited;
    limited.max_lateness = 1h;
    CHECK(decide_daily(25h, limited).run == at(24h));
    CHECK_FALSE(decide_daily(25h + 1s, limited).run);
    CHECK(decide_daily(25h + 1s, limited).skipped.count == 1);
    limited.rule = misfire_rule::all;
    auto const c = decide_daily(24h * 5 + 1h, limited);
    CHECK(c.run == at(24h * 5));
    CHECK(c.skipped.count == 4);
}

TEST_CASE("execution.misfire: a long time away costs a bounded number of looks, however much is excluded") {
    timetable table{{parse_cron("* * 0-3 * * ?").value()}};
    for (auto const* text : {"0/2 * 3 * * ?", "1/2 * 3 * * ?"}) table.excluded.push_back(parse_cron(text).value());
    std::uint64_t looks = 0;
    auto const next = [&](wall_time t) {
        auto const f = table.find_next(t, UtcZone{});
        looks += f.looks;
        return f.due;
    };
    auto const found = due_between(next, wall_time{}, at(0s) - 1ms, 2, &looks);
    CHECK(found.newest.back() == at(0s) - 24h + 2h + 59min + 59s);
    CHECK(found.count > 1'000);
    CHECK(looks < 5'000'000);
}
