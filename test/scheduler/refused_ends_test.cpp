// SPDX-License-Identifier: Apache-2.0
// The registry refuses to write the end of a run, although the connection is up: an access list, a quota.
#include <elasticjob/scheduler/item_ends.hpp>

#include <elasticjob/execution/run_record.hpp>

#include <support/cluster.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

using namespace elasticjob;
using namespace elasticjob::test;

namespace {

constexpr auto hour = 1h;

job_config hourly(int items) {
    auto c = make_job("settle", "0 0 * * * ?", items);
    c.failover = true;
    return c;
}

/// The items run for the first instant, and nothing can be written about it.
void run_into_refusal(cluster& c, member& m, int items) {
    REQUIRE(m.schedule(hourly(items)));
    c.run_for(hour - 1s);
    m.holds = true;
    c.run_for(2s);
    REQUIRE(m.held() == static_cast<std::size_t>(items));
    c.set_read_only("/settle/ext/run");
    m.holds = false;
    m.release_all();
}

} // namespace

TEST_CASE("scheduler.item_ends: an end that the registry refuses is pending, reported once, and recorded when that is "
          "possible") {
    cluster c;
    auto& m = c.add();
    run_into_refusal(c, m, 3);
    auto const before = c.server.counts().all();
    c.run_for(10min);
    CHECK(c.server.counts().all() - before < 3 * 5 * 70); // one attempt in ten seconds, not a storm
    for (item_index i = 0; i < 3; ++i) CHECK(c.is_marked("settle", i));
    auto const troubles = c.troubles();
    REQUIRE(troubles.size() == 1); // for all three
    CHECK(*troubles[0].failure == errc::no_auth);
    CHECK(troubles[0].failure->where == "/settle/ext/run/0");
    CHECK(troubles[0].failure->what.find("the ends of 3 runs") != std::string::npos);
    CHECK(c.count(heard::kind::fenced) == 0);
    c.set_read_only("/settle/ext/run", false);
    c.run_for(11s);
    for (item_index i = 0; i < 3; ++i) {
        CHECK_FALSE(c.is_marked("settle", i));
        CHECK(record_of(c, i).ledger.back().outcome == run_outcome::completed);
    }
    c.run_for(hour);
    CHECK(c.count(heard::kind::started) == 6);
    CHECK(c.violations.empty());
}

TEST_CASE("scheduler.item_ends: an end that is pending can still be recorded under the next session") {
    cluster c;
    auto& m = c.add();
    run_into_refusal(c, m, 1);
    c.run_for(20s);
    on_loop(c, [&] { m.registry.expire(); });
    c.run_for(20s);
    CHECK_FALSE(c.is_marked("settle", 0)); // the mark has gone with its session
    c.set_read_only("/settle/ext/run", false);
    c.run_for(11s);
    CHECK(record_of(c, 0).ledger.back().outcome == run_outcome::completed);
    c.run_for(hour);
    CHECK(c.count(heard::kind::started) == 2);
    CHECK(c.violations.empty());
}

TEST_CASE("scheduler.job: a member that leaves with an end that the registry refuses leaves no mark, and the run is "
          "made up for") {
    cluster c;
    auto& m = c.add();
    run_into_refusal(c, m, 1);
    c.run_for(20s);
    REQUIRE(m.shutdown("settle"));
    c.run_for(1s);
    CHECK_FALSE(c.is_marked("settle", 0));
    c.set_read_only("/settle/ext/run", false);
    auto& next = c.add();
    REQUIRE(next.schedule(hourly(1)));
    c.run_for(5s);
    auto const runs = c.all(heard::kind::started, 0);
    REQUIRE(runs.size() == 2);
    CHECK(runs[1].member == next.number);
    CHECK(runs[1].attempt == 2);
    CHECK(c.violations.empty());
}

TEST_CASE("scheduler.item_runs: a mark of this instance without a run is removed by the start that it hinders") {
    cluster c;
    auto& m = c.add();
    REQUIRE(m.schedule(hourly(1)));
    c.run_for(30min);
    auto const path = cluster::parsed("/settle/sharding/0/running");
    c.wait_for(m.registry.create(path, m.id("settle"), create_mode::ephemeral)).value();
    c.run_for(hour);
    CHECK(c.count(heard::kind::finished) == 1);
    CHECK_FALSE(c.is_marked("settle", 0));
    // A member waits for such a mark of another instance in the same session.
    c.wait_for(m.registry.create(path, "10.0.0.9@-@1-a", create_mode::ephemeral)).value();
    c.run_for(hour);
    CHECK(c.count(heard::kind::finished) == 1);
    CHECK(c.violations.empty());
}
