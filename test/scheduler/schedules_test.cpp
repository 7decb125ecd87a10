// SPDX-License-Identifier: Apache-2.0
// Jobs that are due by more than a cron expression. The world begins on 2026-01-01 at midnight, UTC.
#include <support/cluster.hpp>

#include <elasticjob/config/json_codec.hpp>
#include <elasticjob/config/schedule_text.hpp>
#include <elasticjob/execution/run_record.hpp>

#include <doctest/doctest.h>

#include <set>
#include <string>
#include <vector>

using namespace elasticjob;
using namespace elasticjob::test;

namespace {

constexpr auto schedule_node = "/settle/ext/schedule";

wall_time at(std::chrono::milliseconds since_midnight) { return wall_time{1'767'225'600s} + since_midnight; }

job_config scheduled(std::vector<job_schedule> schedules, int count = 1) {
    auto c = make_job("settle", "", count);
    c.schedules = std::move(schedules);
    return c;
}

/// When the item was due, in milliseconds since midnight.
std::vector<long> dues(cluster const& c, item_index i) {
    std::vector<long> all;
    for (auto const& h : c.all(heard::kind::started, i)) all.push_back((h.due - at(0ms)) / 1ms);
    return all;
}
/// When its runs began, in milliseconds since the world did.
std::vector<long> begins(cluster const& c, item_index i) {
    std::vector<long> all;
    for (auto const& h : c.all(heard::kind::started, i)) all.push_back(h.at.time_since_epoch() / 1ms);
    return all;
}
using times = std::vector<long>;

} // namespace

TEST_CASE("schedules: a fixed rate without a cron expression, finer than a second") {
    cluster c;
    auto& m = c.add();
    REQUIRE(m.schedule(scheduled({job_schedule::fixed_rate(400ms)}, 2)));
    c.run_for(1'300ms);
    CHECK(dues(c, 0) == times{400, 800, 1200});
    CHECK(dues(c, 1) == times{400, 800, 1200});
    CHECK(c.data(schedule_node) == "elasticjob schedule 1\nfixed-rate 400\n");
    CHECK(c.data("/settle/config").find("\"cron\":\"0 0 0 1 1 ? 2099\"") != std::string::npos);
}

TEST_CASE("schedules: several schedules that meet are due once") {
    cluster c;
    auto& m = c.add();
    auto job = make_job("settle", "0/3 * * * * ?", 1);
    job.schedules = {job_schedule::fixed_rate(2s), job_schedule::once_at(at(2'500ms))};
    REQUIRE(m.schedule(job));
    c.run_for(6'500ms);
    CHECK(dues(c, 0) == times{2000, 2500, 3000, 4000, 6000});
}

TEST_CASE("schedules: a fixed delay counts from the end of the item's last run, whoever owns it then") {
    cluster c;
    auto& m = c.add();
    m.holds = true;
    REQUIRE(m.schedule(scheduled({job_schedule::fixed_delay(1s)}, 2)));
    c.run_for(1'100ms);
    REQUIRE(m.held() == 2);
    auto const first = dues(c, 0);
    REQUIRE(first.size() == 1);
    c.run_for(5s); // nothing is missed meanwhile
    m.release(0);
    c.run_for(500ms);
    m.release(1);
    c.run_for(2s);
    auto const ends = c.all(heard::kind::finished, 0);
    REQUIRE(ends.size() == 1);
    CHECK(dues(c, 0) == times{first[0], ends[0].at.time_since_epoch() / 1ms + 1000});
    CHECK(dues(c, 1)[1] - dues(c, 0)[1] == 500);
    CHECK(c.count(heard::kind::misfired) == 0);
    CHECK(c.count(heard::kind::skipped) == 0);
    // The next one goes by the record of the last.
    m.release_all();
    c.run_for(10ms);
    auto const end = c.all(heard::kind::finished, 0).back().at;
    auto& other = c.add();
    REQUIRE(other.schedule(scheduled({job_schedule::fixed_delay(1s)}, 2)));
    REQUIRE(m.shutdown("settle"));
    c.log.clear();
    c.run_for(1'500ms);
    CHECK(dues(c, 0) == times{end.time_since_epoch() / 1ms + 1000});
}

TEST_CASE("schedules: a fixed delay comes after failures, too, and shows as the next due time") {
    cluster c;
    auto& m = c.add();
    m.body = [](sharding_context const&) { return result<void>{error{errc::job_failed, "no", ""}}; };
    REQUIRE(m.schedule(scheduled({job_schedule::fixed_delay(2s)})));
    c.run_for(9s);
    CHECK(c.count(heard::kind::finished, 0) == 4);
    auto const record = run_record::parse(c.data("/settle/ext/run/0")).value();
    REQUIRE(record.next_due.has_value());
    CHECK(*record.next_due == *record.last_completed + 2s);
}

TEST_CASE("schedules: once now runs each item once, whoever owns it by then, and never again") {
    cluster c;
    auto& m = c.add();
    auto const job = scheduled({job_schedule::once_now()}, 3);
    REQUIRE(m.schedule(job));
    auto& other = c.add();
    REQUIRE(other.schedule(job));
    c.run_for(10s);
    CHECK(c.started() == std::vector<item_index>{0, 1, 2});
    for (item_index i = 0; i < 3; ++i) CHECK(c.all(heard::kind::started, i)[0].source == run_source::schedule);
    // Not for members that join later, not after all members were away, and not for added items.
    REQUIRE(m.shutdown("settle"));
    REQUIRE(other.shutdown("settle"));
    c.run_for(1h);
    auto again = job;
    again.overwrite = true;
    REQUIRE(m.schedule(again));
    c.run_for(10s);
    again.sharding_total_count = 5;
    REQUIRE(other.schedule(again));
    c.run_for(1h);
    CHECK(c.started() == std::vector<item_index>{0, 1, 2});
}

TEST_CASE("schedules: once now waits for an item that is busy, whatever else is written meanwhile") {
    cluster c;
    auto& m = c.add();
    auto job = make_job("settle", "0 0 * * * ?", 1);
    REQUIRE(m.schedule(job));
    m.holds = true;
    c.run_for(1h);
    REQUIRE(m.held() == 1);
    job.schedules = {job_schedule::once_now()};
    job.cron = std::string{no_cron};
    transaction by_operator{c.by_hand.session().generation};
    by_operator.set(c.parsed("/settle/config"), to_json(job));
    if (c.has(schedule_node))
        by_operator.set(c.parsed(schedule_node), to_schedule_text(job));
    else
        by_operator.create(c.parsed(schedule_node), to_schedule_text(job));
    REQUIRE(c.wait_for(c.by_hand.commit(std::move(by_operator))).value());
    c.run_for(1s);
    job.description = "of no importance";
    c.set("/settle/config", to_json(job));
    c.run_for(1s);
    m.holds = false;
    m.release_all();
    c.run_for(1h);
    CHECK(c.started() == std::vector<item_index>{0, 0});
}

TEST_CASE("schedules: instants that became due before any member took the items up are made up for") {
    cluster c;
    auto const job = scheduled({job_schedule::once_now(), job_schedule::once_at(at(3s))}, 2);
    transaction by_operator{c.by_hand.session().generation};
    by_operator.create(c.parsed("/settle"), {});
    by_operator.create(c.parsed("/settle/config"), to_json(job));
    by_operator.create(c.parsed("/settle/ext"), {});
    by_operator.create(c.parsed(schedule_node), to_schedule_text(job));
    c.run_for(1s);
    REQUIRE(c.wait_for(c.by_hand.commit(std::move(by_operator))).value());
    c.run_for(5s);
    REQUIRE(c.add().schedule(job));
    c.run_for(1s);
    CHECK(c.started() == std::vector<item_index>{0, 1});
    // The misfire policy: one run for both.
    CHECK(c.started() == std::vector<item_index>{0, 1});
    CHECK(dues(c, 0) == times{3000});
}

TEST_CASE("schedules: a schedule that is written again takes effect and starts over") {
    cluster c;
    auto& m = c.add();
    REQUIRE(m.schedule(scheduled({job_schedule::fixed_rate(10s)})));
    c.run_for(11s);
    CHECK(dues(c, 0) == times{10'000});
    c.set(schedule_node, "elasticjob schedule 1\nfixed-rate 3000\n");
    c.run_for(5s);
    CHECK(dues(c, 0) == times{10'000, 12'000, 15'000});
    // An unusable schedule changes nothing and is reported.
    c.set(schedule_node, "elasticjob schedule 1\nfixed-rate soon\n");
    c.run_for(3s);
    CHECK(dues(c, 0).back() == 18'000);
    REQUIRE(c.last_trouble());
    CHECK(c.last_trouble()->where == schedule_node);
    c.set(schedule_node, "elasticjob schedule 1\nfixed-rate 3000\ntime-zone Atlantis\n");
    c.run_for(3s);
    CHECK(dues(c, 0).back() == 21'000);
    CHECK(c.last_trouble()->what.find("Atlantis") != std::string::npos);
    // Only the cron expression is left.
    c.set("/settle/config", [&] {
        auto text = c.data("/settle/config");
        auto const where = text.find(no_cron);
        return text.replace(where, no_cron.size(), "0/7 * * * * ?");
    }());
    c.remove(schedule_node);
    c.run_for(8s);
    CHECK(dues(c, 0).back() == 28'000);
}

TEST_CASE("schedules: an instant of a new cron expression that finds the item running for the old one is made up for") {
    cluster c;
    auto& m = c.add();
    m.holds = true;
    auto job = make_job("settle", "0/10 * * * * ?", 1);
    REQUIRE(m.schedule(job));
    c.run_for(13s);
    job.cron = "0/4 * * * * ?";
    c.set("/settle/config", to_json(job));
    c.run_for(5s); // to 18 s: 16 s was due
    SUBCASE("") {}
    SUBCASE("and another change leaves the schedule as it is") {
        job.description = "every four seconds";
        c.set("/settle/config", to_json(job));
    }
    c.run_for(3s);
    m.release(0);
    c.run_for(1s);
    CHECK(dues(c, 0) == times{10'000, 20'000});
    auto const record = run_record::parse(c.data("/settle/ext/run/0")).value();
    REQUIRE_FALSE(record.ledger.empty());
    CHECK(record.ledger.back().outcome == run_outcome::coalesced);
    CHECK(record.ledger.back().run.due == at(16s));
    CHECK(record.ledger.back().count == 1);
}

TEST_CASE("schedules: the time zone of a job, and its change") {
    cluster c;
    auto& m = c.add();
    auto job = make_job("settle", "0 30 0 * * ?", 1);
    job.time_zone = "Asia/Kolkata"; // 5 h 30 min ahead
    REQUIRE(m.schedule(job));
    c.run_for(20h);
    CHECK(dues(c, 0) == times{19 * 3'600'000});
    c.set(schedule_node, "elasticjob schedule 1\ntime-zone America/New_York\n");
    c.run_for(10h);
    CHECK(dues(c, 0) == times{19 * 3'600'000, (24 + 5) * 3'600'000 + 1'800'000});
}

TEST_CASE("schedules: start, end and exclusions") {
    cluster c;
    auto& m = c.add();
    auto job = scheduled({job_schedule::fixed_rate(1h)});
    job.starts = at(90min);
    job.ends = at(26h);
    job.excluded = {"* * 3-22 * * ?"};
    REQUIRE(m.schedule(job));
    c.run_for(48h);
    CHECK(dues(c, 0) ==
          times{90 * 60'000, 150 * 60'000, (23 * 60 + 30) * 60'000, (24 * 60 + 30) * 60'000, (25 * 60 + 30) * 60'000});
}

TEST_CASE("schedules: with jitter items begin at different times for the same due instant") {
    cluster c;
    auto& m = c.add();
    auto job = make_job("settle", "0/10 * * * * ?", 8);
    job.jitter = 4s;
    REQUIRE(m.schedule(job));
    c.run_for(34s);
    std::set<long> apart;
    for (item_index i = 0; i < 8; ++i) {
        CHECK(dues(c, i) == times{10'000, 20'000, 30'000});
        auto const begin = begins(c, i);
        REQUIRE(begin.size() == 3);
        auto const delay = begin[0] - 10'000;
        CHECK((0 <= delay && delay <= 4'000));
        CHECK(begin == times{10'000 + delay, 20'000 + delay, 30'000 + delay});
        apart.insert(delay);
    }
    CHECK(apart.size() > 5);
    CHECK(c.count(heard::kind::misfired) == 0);
}

TEST_CASE("schedules: a run that takes longer than jitter and period is a misfire all the same") {
    cluster c;
    auto& m = c.add();
    m.holds = true;
    auto job = make_job("settle", "0/10 * * * * ?", 1);
    job.jitter = 4s;
    job.on_misfire.rule = misfire_rule::skip;
    REQUIRE(m.schedule(job));
    c.run_for(35s);
    m.release(0);
    c.run_for(1s);
    CHECK(c.count(heard::kind::started, 0) == 1);
    c.run_for(10s);
    CHECK(dues(c, 0) == times{10'000, 40'000});
    auto const record = run_record::parse(c.data("/settle/ext/run/0")).value();
    REQUIRE(record.ledger.size() >= 2);
    CHECK(record.ledger.back().outcome == run_outcome::skipped);
    CHECK(record.ledger.back().count == 2);
    CHECK(record.ledger.back().note == "still_running");
}

TEST_CASE("schedules: without records, each member relies on the runs that it has seen itself") {
    cluster c;
    auto& m = c.add();
    auto job = scheduled({job_schedule::fixed_delay(1s)}, 2);
    job.monitor_execution = false;
    REQUIRE(m.schedule(job));
    c.run_for(3'500ms);
    CHECK(c.count(heard::kind::started, 0) == 3);
    CHECK(!c.has("/settle/ext/run/0"));
}

TEST_CASE("schedules: the stored schedule counts, and the difference is reported") {
    cluster c;
    auto& m = c.add();
    REQUIRE(m.schedule(scheduled({job_schedule::fixed_rate(2s)})));
    auto& other = c.add();
    REQUIRE(other.schedule(scheduled({job_schedule::fixed_rate(5s)})));
    c.run_for(1s);
    CHECK(c.data(schedule_node) == "elasticjob schedule 1\nfixed-rate 2000\n");
    std::string note;
    for (auto const& h : c.log)
        if (h.what == heard::kind::joined && !h.text.empty()) note = h.text;
    CHECK(note.find("fixed-rate 2000") != std::string::npos);
    CHECK(note.find("fixed-rate 5000") != std::string::npos);
    auto plain = make_job("settle", "0/5 * * * * ?", 1);
    plain.overwrite = true;
    REQUIRE(c.add().schedule(plain));
    CHECK(!c.has(schedule_node));
}

TEST_CASE("schedules: a job is due again after an exclusion that the search could not pass at once") {
    cluster c;
    auto job = make_job("settle", "0 * * * * ?", 1);
    job.excluded = {"0 * * 2-20 1 ?"}; // each minute costs steps; a whole hour or day would not
    auto& m = c.add();
    REQUIRE(m.schedule(job));
    c.run_for(24h * 20 + 30min);
    CHECK(c.count(heard::kind::trouble, 0) == 1);
    auto const all = dues(c, 0);
    REQUIRE(all.size() == 24 * 60 - 1 + 31);
    CHECK(all[24 * 60 - 1] == 24h * 20 / 1ms);
}

TEST_CASE("schedules: a member that comes after such an exclusion runs from its end on") {
    cluster c;
    auto job = make_job("settle", "0 * * * * ?", 1);
    job.excluded = {"0 * * 2-20 1 ?"};
    auto& m = c.add();
    REQUIRE(m.schedule(job));
    c.run_for(24h + 30min);
    m.destroy_scheduler();
    c.run_for(24h * 20);
    auto const before = dues(c, 0).size();
    REQUIRE(c.add().schedule(job));
    c.run_for(10min);
    auto const all = dues(c, 0);
    REQUIRE(all.size() >= before + 10);
    CHECK(all.back() == (24h * 21 + 40min) / 1ms);
}

TEST_CASE("schedules: a wrong schedule is refused before anything is written") {
    cluster c;
    auto& m = c.add();
    auto job = scheduled({job_schedule::fixed_rate(2s)});
    job.time_zone = "Atlantis";
    auto const refused = m.schedule(job);
    REQUIRE(!refused);
    CHECK(refused.error() == errc::invalid_config);
    CHECK(!c.has("/settle"));
    job.time_zone.clear();
    job.excluded = {"* * * * * ?"};
    auto const never_due = m.schedule(job);
    REQUIRE(!never_due);
    CHECK(never_due.error() == errc::cron_never_fires);
    CHECK(!c.has("/settle"));
}
