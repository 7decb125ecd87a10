// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/config/due_times.hpp>

#include <cron/support.hpp>

#include <doctest/doctest.h>

#include <map>
#include <string>
#include <vector>

using namespace elasticjob;
using namespace std::chrono_literals;
using cron_test::instant;

namespace {

static_assert(named_time_zone<TzifZone> && !named_time_zone<UtcZone>);

job_config const daily{.name = "settle", .cron = "0 30 2 * * ?"};

error only_problem(job_config const& c) {
    auto const problems = problems_of(c);
    REQUIRE(problems.size() == 1);
    return problems.front();
}

template <class Zone = UtcZone>
std::string previewed(job_config const& c, std::string_view after, std::size_t count, Zone const& zone = {}) {
    std::string all;
    auto const instants = preview(c, instant(after), count, zone);
    if (!instants) return to_string(instants.error());
    for (auto const t : *instants)
        all += (all.empty() ? "" : ", ") + cron_test::text_of(std::chrono::floor<std::chrono::seconds>(t)).substr(5, 11);
    return all;
}

UtcZone const utc;

due_times due_of(job_config const& c) { return due_times::of(validate(c).value(), utc).value(); }

} // namespace

TEST_CASE("config.due_times: a preview lists the next instants, or fewer if there are no more") {
    CHECK(previewed(daily, "2026-03-27", 3) == "03-27 02:30, 03-28 02:30, 03-29 02:30");
    CHECK(previewed(daily, "2026-03-27", 0) == "");
    auto c = daily;
    c.ends = instant("2026-03-28 12:00:00");
    CHECK(previewed(c, "2026-03-27", 5) == "03-27 02:30, 03-28 02:30");
    c.cron = "every day";
    CHECK(previewed(c, "2026-03-27", 5).starts_with("invalid_cron"));
}

TEST_CASE("config.due_times: limits and single instants count in whole milliseconds, as the registry stores them") {
    wall_time const begin{std::chrono::hours{500'000}};
    job_config c;
    c.name = "settle";
    c.schedules = {job_schedule::fixed_rate(1h), job_schedule::once_at(begin + 90min + 1us)};
    c.starts = begin + 500us;
    c.ends = begin + 2h + 1us;
    std::vector<wall_time> const due{begin, begin + 1h, begin + 90min, begin + 2h};
    CHECK(preview(c, begin - 1s, 9, UtcZone{}).value() == due);
}

TEST_CASE("config.due_times: the job's zone counts, or else the policy's") {
    auto c = daily;
    CHECK(previewed(c, "2026-03-28", 1, FixedOffset{8h}) == "03-28 18:30");
    c.time_zone = "Asia/Tokyo";
    CHECK(previewed(c, "2026-03-28", 1, FixedOffset{8h}) == "03-28 17:30");
    c.time_zone = "Europe/Berlin"; // clocks there skip 02:30 on the 29th of March
    CHECK(previewed(c, "2026-03-28", 3) == "03-28 01:30, 03-29 01:00, 03-30 00:30");
    c.on_clock_change = quartz_compatible;
    CHECK(previewed(c, "2026-03-28", 3) == "03-28 01:30, 03-30 00:30, 03-31 00:30");
    c.time_zone = "Europe/Atlantis";
    auto const text = previewed(c, "2026-03-28", 1);
    CHECK(text.starts_with("invalid_config"));
    CHECK(text.find("Europe/Atlantis") != std::string::npos);
    CHECK(text.find("time_zone") != std::string::npos);
}

TEST_CASE("config.due_times: a schedule that is never due is an error") {
    auto c = daily;
    c.excluded = {"* * 2 * * ?"};
    CHECK(due_times::of(validate(c).value(), utc).error() == errc::cron_never_fires);
    c.schedules = {job_schedule::once_now()};
    CHECK(due_times::of(validate(c).value(), utc));
    c.schedules = {job_schedule::fixed_delay(1s)};
    CHECK(due_times::of(validate(c).value(), utc));
    c.excluded = {"* * * * * ?"};
    CHECK(due_times::of(validate(c).value(), utc).error() == errc::cron_never_fires);
}

TEST_CASE("config.due_times: schedules alone are enough; then the cron expression makes nothing due") {
    job_config c{.name = "settle"};
    CHECK(only_problem(c) == errc::invalid_cron);
    c.schedules = {job_schedule::fixed_rate(6h)};
    CHECK(previewed(c, "2026-01-01", 3) == "01-01 06:00, 01-01 12:00, 01-01 18:00");
    CHECK(canonical(c).cron == no_cron);
    c.cron = no_cron; // as it comes back
    c.starts = instant("2098-12-31 01:00:00");
    CHECK(previewed(c, "2098-12-31", 6) ==
          "12-31 01:00, 12-31 07:00, 12-31 13:00, 12-31 19:00, 01-01 01:00, 01-01 07:00");
    c.schedules.clear();
    CHECK(previewed(c, "2026-01-01", 2) == "01-01 00:00"); // the user set it on purpose
}

TEST_CASE("config.due_times: once now is due at the given instant, whatever is excluded") {
    auto c = daily;
    c.schedules = {job_schedule::once_now()};
    c.excluded = {"2026-03-28"};
    auto due = due_of(c);
    auto const now = wall_time{instant("2026-03-28 12:00:00")};
    CHECK(due.next(now - 1ms) == wall_time{instant("2026-03-29 02:30:00")});
    due.set_now(now);
    CHECK(due.next(now - 1ms) == now);
    CHECK(due.next(now) == wall_time{instant("2026-03-29 02:30:00")});
    auto without = due_of(daily);
    without.set_now(now);
    CHECK(without.next(now - 1ms) != now);
}

TEST_CASE("config.due_times: a job that follows another is due when rounds are reported to it") {
    job_config c{.name = "settle"};
    c.schedules = {job_schedule::after_job("fetch")};
    auto due = due_of(c);
    auto const t = wall_time{instant("2026-03-28 12:00:00")};
    CHECK(due.follows());
    CHECK(due.next(wall_time::min()) == std::nullopt);
    CHECK(due.last_round() == wall_time{});
    due.set_rounds({{t, t - 5s}, {t + 1ms, t - 3s}});
    CHECK(due.next(wall_time::min()) == t);
    CHECK(due.next(t) == t + 1ms);
    CHECK(due.next(t + 1ms) == std::nullopt);
    CHECK(due.last_round() == t + 1ms);
    CHECK(due.round_at(t + 1ms) == t - 3s);
    CHECK(due.round_at(t - 1ms) == std::nullopt);
    CHECK(due.round_at(t + 2ms) == std::nullopt);
    auto without = due_of(daily);
    without.set_rounds({{t, t}});
    CHECK_FALSE(without.follows());
    CHECK(without.round_at(t) == std::nullopt);
}

TEST_CASE("config.due_times: a job that follows another has no other due times") {
    job_config c{.name = "settle"};
    c.schedules = {job_schedule::after_job("fetch")};
    CHECK(validate(c));
    c.cron = no_cron; // as it comes back
    CHECK(validate(c));
    auto const is_refused = [](job_config const& bad) { return only_problem(bad) == errc::invalid_config; };
    auto bad = c;
    bad.cron = "0/5 * * * * ?";
    CHECK(is_refused(bad));
    bad = c;
    bad.schedules.push_back(job_schedule::fixed_rate(5s));
    CHECK(is_refused(bad));
    bad = c;
    bad.monitor_execution = false;
    CHECK(is_refused(bad));
    bad = c;
    bad.excluded = {"SAT"};
    CHECK(is_refused(bad));
    bad = c;
    bad.ends = wall_time{instant("2026-03-28 12:00:00")};
    CHECK(is_refused(bad));
    for (std::string const name : {"settle", "", "a/b"}) {
        bad = c;
        bad.schedules = {job_schedule::after_job(name)};
        CHECK(is_refused(bad));
    }
}

TEST_CASE("config.due_times: jitter spreads items and jobs, and is always the same") {
    auto c = daily;
    CHECK(due_of(c).delay_of(5) == 0ms);
    CHECK_FALSE(due_of(c).is_per_item());
    c.jitter = 9ms;
    std::map<long, int> of_items, of_jobs;
    for (item_index i = 0; i < 1'000; ++i) ++of_items[due_of(c).delay_of(i).count()];
    for (int j = 0; j < 1'000; ++j) {
        c.name = "job" + std::to_string(j);
        ++of_jobs[due_of(c).delay_of(0).count()];
        REQUIRE(due_of(c).delay_of(0) == due_of(c).delay_of(0));
    }
    for (auto const* spread : {&of_items, &of_jobs}) {
        CHECK(spread->size() == 10);
        CHECK(spread->begin()->first == 0);
        for (auto const& [ms, n] : *spread) CHECK((50 < n && n < 200));
    }
    CHECK(due_of(c).is_per_item());
    CHECK(due_of(c).has_rounds());
    // The offset is the same for any owner of the item, in any program.
    c.name = "settle";
    c.jitter = 1h;
    CHECK(due_of(c).delay_of(0) == 1'123'290ms);
    CHECK(due_of(c).delay_of(1) == 699'364ms);
}

TEST_CASE("config.due_times: each mistake is named, with the correct form") {
    auto c = daily;
    c.schedules = {job_schedule::fixed_rate(0s)};
    CHECK(only_problem(c) == error{errc::invalid_config, "must be 1 ms to 366 days, but is 0 ms", "schedules[0]"});
    c.schedules = {job_schedule::fixed_rate(1s), job_schedule::fixed_delay(-1s)};
    CHECK(only_problem(c).where == "schedules[1]");
    c.schedules = {job_schedule::by_cron("0 0 12 * * MON")};
    CHECK(only_problem(c) == errc::invalid_cron);
    CHECK(only_problem(c).what.find("'0 0 12 * * MON'") != std::string::npos);
    c.schedules = {job_schedule::once_now()};
    c.monitor_execution = false;
    CHECK(only_problem(c).what.find("monitor_execution") != std::string::npos);
    c = daily;
    c.schedules.assign(schedules_max + 1, job_schedule::fixed_rate(1s));
    CHECK(only_problem(c).where == "schedules");
    c = daily;
    for (char const* wrong : {"2026-02-30", "2026-13-01", "SATX", "", "* * 0-7 * *", "26-1-1"}) {
        CAPTURE(wrong);
        c.excluded = {"SAT", wrong};
        CHECK(only_problem(c).where == "excluded[1]");
    }
    for (char const* wrong : {"2026-1-5", "", " \t", "20260105"}) { // and the text says what would be right
        CAPTURE(wrong);
        c.excluded = {wrong};
        CHECK(only_problem(c).what.find("a date as 2026-01-05, weekdays as SAT,SUN") != std::string::npos);
    }
    c.excluded = {" 2026-01-05\t", "SAT ", "*\t*\t0-7\t*\t*\t?"};
    CHECK(problems_of(c).empty());
    c = daily;
    for (auto const wrong : {wall_time::min(), wall_time{} - 1ms, wall_time{instant("2225-12-31") + 24h}}) {
        c.schedules = {job_schedule::once_at(wrong)};
        CHECK(only_problem(c) == error{errc::invalid_config, "must be from 1970 to 2225", "schedules[0]"});
    }
    c = daily;
    c.starts = wall_time{} - 1ms;
    CHECK(only_problem(c).where == "starts");
    c = daily;
    c.ends = instant("2225-12-31") + 24h;
    CHECK(only_problem(c).where == "ends");
    c = daily;
    c.starts = instant("2026-01-02");
    c.ends = instant("2026-01-01");
    CHECK(only_problem(c).where == "ends");
    c = daily;
    c.jitter = 25h;
    CHECK(only_problem(c).where == "jitter");
    c.jitter = -1ms;
    CHECK(only_problem(c).where == "jitter");
    c = daily;
    c.time_zone = "Europe/Berlin\nexclude MON";
    CHECK(only_problem(c).where == "time_zone");
    c = daily;
    c.cron = "";
    c.jitter = -1ms;
    CHECK(problems_of(c).size() == 2);
}

TEST_CASE("config.due_times: one long search answers for many items") {
    auto c = daily;
    c.cron = "* * * * * ?";
    c.schedules = {job_schedule::fixed_delay(5s)};
    c.excluded = {"0/2 * 0-1 * * ?", "1/2 * 0-1 * * ?"};
    auto const due = due_of(c);
    std::uint64_t looks = 0;
    auto const midnight = instant("2026-11-20"), two = instant("2026-11-20 02:00:00");
    CHECK(due.next(midnight - 1s, &looks) == two);
    CHECK(looks > 10'000);
    auto const first = looks;
    for (auto const later : {0ms, 1ms, std::chrono::milliseconds{1h}, std::chrono::milliseconds{2h} - 1ms})
        CHECK(due.next(midnight + later, &looks) == two);
    CHECK(looks == first);
    CHECK(due.next(two, &looks) == two + 1s);
    CHECK(due.next(midnight - 2s, &looks) == midnight - 1s);
    CHECK(looks < first + 100);
    CHECK(due.next_after_end(midnight - 3s) == two);
    CHECK(due.next_after_end(two - 5s) == two);
    CHECK(due.next_after_end(two - 4s) == two + 1s);
    CHECK(due.next_after_end(midnight - 9s) == midnight - 4s);
    CHECK(!due.find_problem());
}

TEST_CASE("config.due_times: refuses exclusions that leave nothing due for too long, and says what to do") {
    auto c = daily;
    c.cron = "* * * * * ?";
    c.excluded = {"0/2 * * * * ?", "1/2 * * * * ?"};
    auto const refused = due_times::of(validate(c).value(), utc);
    REQUIRE(!refused);
    CHECK(refused.error() == errc::cron_never_fires);
    CHECK(refused.error().what.find("whole hours or days") != std::string::npos);
    // If this happens only later, it is reported then, and costs one search at a time.
    c.excluded = {"0/2 * * * 1 ? 2027", "1/2 * * * 1 ? 2027"};
    auto const due = due_of(c);
    CHECK(!due.find_problem());
    std::uint64_t looks = 0;
    auto const last = instant("2026-12-31 23:59:59");
    CHECK(!due.next(last, &looks));
    CHECK(due.find_problem());
    auto const first = looks;
    for (int i = 0; i < 1'000; ++i) CHECK(!due.next(last + i * 1s, &looks));
    CHECK(looks == first);
    CHECK(due.next(instant("2027-01-31 23:59:59")) == instant("2027-02-01"));
    CHECK(due.find_problem());
    while (!due.go_on()) CHECK(!due.next(last));
    CHECK(!due.find_problem());
    CHECK_FALSE(due.go_on());
    for (auto const t : {last, last + 1h}) CHECK(due.next(t) == instant("2027-02-01"));
}

TEST_CASE("config.due_times: goes on with several searches, each from its own begin") {
    auto c = daily;
    c.cron = "* * * * * ?";
    c.excluded = {"0/2 * * 2,6 1 ? 2027", "1/2 * * 2,6 1 ? 2027"};
    auto const due = due_of(c);
    auto const second = instant("2027-01-02"), sixth = instant("2027-01-06");
    for (auto const day : {second, sixth}) CHECK(!due.next(day));
    CHECK(!due.next(second - 1s));
    while (due.find_problem()) due.go_on();
    for (auto const day : {second, sixth})
        for (auto const from : {0s, 3'600s}) CHECK(due.next(day + from) == day + 24h);
    CHECK(due.next(second - 1s) == second + 24h);
}

TEST_CASE("config.due_times: what is excluded in the past refuses no configuration") {
    auto c = daily;
    c.cron = "";
    c.schedules = {job_schedule::fixed_rate(1h)};
    c.excluded = {"* 0-30 * * * ?"};
    c.time_zone = "Asia/Kathmandu"; // since 1986 hours of UTC begin there at minute 45, before at minute 30
    auto const due = due_of(c);
    CHECK(due.next(instant("2026-11-20")) == instant("2026-11-20 01:00:00"));
    CHECK(!due.find_problem());
}

TEST_CASE("config.due_times: a preview is complete, or says that it is not") {
    auto c = daily;
    c.cron = "0 * * * * ?";
    c.excluded = {"0 * * 2-20 1 ?"};
    auto const all = preview(c, instant("2026-01-01 23:57:00"), 4, utc);
    REQUIRE(all);
    CHECK(*all == std::vector<wall_time>{instant("2026-01-01 23:58:00"), instant("2026-01-01 23:59:00"), instant("2026-01-21"),
                              instant("2026-01-21 00:01:00")});
    c.excluded = {"0 * * * * ? 2026-2100"};
    auto const some = preview(c, instant("2025-12-31 23:57:00"), 4, utc);
    REQUIRE_FALSE(some);
    CHECK(some.error() == errc::cron_never_fires);
    CHECK(some.error().what.starts_with("no due time has been found up to 2026-"));
}
