// SPDX-License-Identifier: Apache-2.0
// The registry refuses a request other than an end, although the connection is up: an access list, a quota.
// The job cannot go on without it, so somebody has to hear of it, once.
#include <elasticjob/config/json_codec.hpp>
#include <elasticjob/execution/lasting_failure.hpp>

#include <support/cluster.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <string>
#include <utility>

using namespace elasticjob;
using namespace elasticjob::test;

namespace {

constexpr auto hour = 1h;

job_config hourly(int items) { return make_job("settle", "0 0 * * * ?", items); }

/// A new member of that job, a minute after it has joined.
member& join(cluster& c, job_config const& job) {
    auto& m = c.add();
    REQUIRE(m.schedule(job));
    c.run_for(1min);
    return m;
}

/// The only trouble. Its path begins with `where`.
void check_told_once(cluster const& c, std::string const& where) {
    auto const troubles = c.troubles();
    REQUIRE(troubles.size() == 1);
    CHECK(*troubles[0].failure == errc::no_auth);
    CHECK_MESSAGE(troubles[0].failure->where.starts_with(where), to_string(*troubles[0].failure));
}

} // namespace

TEST_CASE("execution.lasting_failure: tells each kind that lasts once in a row") {
    detail::lasting_failure f;
    error const no_auth{errc::no_auth, "", ""}, full{errc::too_large, "", ""};
    CHECK(f.is_news(no_auth));
    CHECK_FALSE(f.is_news(no_auth));
    CHECK(f.is_news(full));
    CHECK(f.is_news(no_auth));
    f.end();
    CHECK(f.is_news(no_auth));
    for (auto const passing : {errc::not_sent, errc::unknown_outcome, errc::session_lost, errc::closed,
                               errc::version_conflict, errc::no_node, errc::node_exists})
        CHECK_FALSE(f.is_news({passing, "", ""}));
}

TEST_CASE(
    "scheduler.item_starts: a first record that the registry refuses is reported, and written when that is possible") {
    cluster c;
    join(c, hourly(1));
    c.set_read_only("/settle/ext/run");
    c.set("/settle/config", to_json(hourly(3)));
    c.run_for(1min);
    check_told_once(c, "/settle/ext/run/");
    auto const before = c.server.counts().all();
    c.run_for(10min);
    CHECK(c.server.counts().all() - before < 3 * 2 * 130); // an attempt in five seconds
    CHECK(c.troubles().size() == 1);
    c.set_read_only("/settle/ext/run", false);
    c.run_for(hour);
    CHECK(c.count(heard::kind::started) == 3);
    CHECK(c.violations.empty());
}

TEST_CASE("scheduler.item_runs: a note that the registry refuses is reported, and written when that is possible") {
    cluster c;
    auto& m = c.add();
    auto job = hourly(1);
    job.failover = false;
    REQUIRE(m.schedule(job));
    c.run_for(hour - 1s);
    m.holds = true;
    c.run_for(2s);
    REQUIRE(m.held() == 1);
    auto& next = c.add();
    REQUIRE(next.schedule(job));
    c.run_for(1s);
    c.set_read_only("/settle/ext/run");
    c.log.clear();
    disconnect(c, m);
    c.run_for(10min);
    REQUIRE(c.find("/settle/ext/run/0"));
    std::size_t told = 0;
    for (auto const& t : c.troubles()) told += t.member == next.number && *t.failure == errc::no_auth;
    CHECK(told == 1);
    c.set_read_only("/settle/ext/run", false);
    c.run_for(1min);
    CHECK(record_of(c, 0).ledger.back().outcome == run_outcome::interrupted);
}

TEST_CASE("scheduler.item_starts: a start that the registry refuses is reported once, and comes when possible") {
    cluster c;
    auto& m = c.add();
    REQUIRE(m.schedule(hourly(2)));
    c.run_for(hour - 1min);
    c.set_read_only("/settle/ext/run");
    c.run_for(2min);
    check_told_once(c, "/settle/ext/run/");
    CHECK(c.count(heard::kind::started) == 0);
    c.set_read_only("/settle/ext/run", false);
    c.run_for(1min);
    CHECK(c.count(heard::kind::started) == 2);
    c.set_read_only("/settle/ext/run");
    c.run_for(hour);
    CHECK(c.troubles().size() == 2);
    CHECK(c.violations.empty());
}

TEST_CASE("scheduler.item_starts: an item whose start is always refused is reported once, although others start") {
    cluster c;
    join(c, make_job("settle", "0/10 * * * * ?", 4));
    c.set_read_only("/settle/sharding/0");
    c.log.clear();
    c.run_for(10min);
    check_told_once(c, "/settle/sharding/0/");
    CHECK(c.count(heard::kind::started, 0) == 0);
    for (item_index i = 1; i < 4; ++i) CHECK(c.count(heard::kind::started, i) == 60);
}

TEST_CASE("scheduler.job: a registration that the registry refuses is reported once, and repeated") {
    cluster c;
    auto& m = join(c, hourly(2));
    c.set_read_only("/settle/instances");
    expire(c, m);
    c.run_for(10min);
    check_told_once(c, "/settle/instances/");
    c.set_read_only("/settle/instances", false);
    c.run_for(hour);
    CHECK(c.count(heard::kind::started) == 2);
}

TEST_CASE("scheduler.job: a job that was removed for good during an outage is reported once") {
    cluster c;
    auto& m = join(c, hourly(2));
    disconnect(c, m);
    c.run_for(1min);
    c.create("/settle/ext/removed");
    reconnect(c, m);
    c.run_for(1min);
    auto const troubles = c.troubles();
    REQUIRE(troubles.size() == 1);
    CHECK(*troubles[0].failure == errc::removed);
}

TEST_CASE("scheduler.job_orders: a trigger of Java's that cannot be removed is obeyed once, and reported once") {
    cluster c;
    auto& m = join(c, hourly(1));
    auto const node = "/settle/instances/" + m.id("settle");
    c.set(node, "TRIGGER");
    c.set_read_only("/settle/instances");
    auto const before = c.server.counts().all();
    c.run_for(10min);
    check_told_once(c, node);
    CHECK(c.count(heard::kind::started) == 1);
    CHECK(c.server.counts().all() - before < 200); // an attempt in five seconds, and the run
    c.set_read_only("/settle/instances", false);
    c.run_for(1min);
    CHECK(c.data(node).empty());
    CHECK(c.count(heard::kind::started) == 1);
}

TEST_CASE("scheduler.job_orders: an order for an item that cannot be removed is reported once") {
    cluster c;
    join(c, hourly(1));
    c.create("/settle/ext/orders/look-0");
    c.set_read_only("/settle/ext/orders");
    c.run_for(10min);
    check_told_once(c, "/settle/ext/orders/look-0");
    c.set_read_only("/settle/ext/orders", false);
    c.run_for(1min);
    CHECK_FALSE(c.has("/settle/ext/orders/look-0"));
}

TEST_CASE("scheduler.job_leader: a sharding that the registry refuses is reported once, and repeated") {
    cluster c;
    join(c, hourly(1));
    c.set_read_only("/settle/sharding");
    c.set("/settle/config", to_json(hourly(3)));
    c.run_for(10min);
    check_told_once(c, "/settle/sharding/");
    c.set_read_only("/settle/sharding", false);
    c.run_for(hour);
    CHECK(c.count(heard::kind::started) == 3);
}

TEST_CASE("scheduler.item_runs: a left-over mark that the registry keeps is reported, and removed when possible") {
    cluster c;
    auto& m = join(c, hourly(1));
    std::string const mark = "/settle/sharding/0/running";
    c.create(mark, {}, create_mode::ephemeral); // a Java member runs the item
    c.run_for(hour);
    REQUIRE(c.count(heard::kind::started) == 0);
    transaction replacement{m.registry.session().generation};
    replacement.remove(c.parsed(mark));
    replacement.create(c.parsed(mark), m.id("settle"), create_mode::ephemeral);
    c.wait_for(m.registry.commit(std::move(replacement))).value();
    c.set_read_only("/settle/sharding/0");
    c.run_for(1min);
    check_told_once(c, mark);
    auto const before = c.server.counts().all();
    c.run_for(10min);
    CHECK(c.server.counts().all() - before < 3 * 2 * 130); // an attempt in five seconds
    CHECK(c.troubles().size() == 1);
    c.set_read_only("/settle/sharding/0", false);
    c.run_for(1min);
    CHECK(c.count(heard::kind::started) == 1);
    CHECK(c.violations.empty());
}

TEST_CASE("scheduler.item_starts: a clock that cannot be compared is reported, and runs begin when it can") {
    cluster c;
    auto& m = c.add();
    auto job = hourly(2);
    job.max_time_diff_seconds = 5;
    c.set_read_only("/settle/systemTime");
    REQUIRE(m.schedule(job));
    c.run_for(hour + 10min);
    check_told_once(c, "/settle/systemTime/current");
    CHECK(c.count(heard::kind::started) == 0);
    c.set_read_only("/settle/systemTime", false);
    c.run_for(1min);
    CHECK(c.count(heard::kind::started) == 2);
}

TEST_CASE("scheduler.job_leader: nodes of cut items that the registry keeps are reported, and sharding goes on") {
    cluster c;
    join(c, hourly(3));
    c.set_read_only("/settle/sharding/2");
    c.set("/settle/config", to_json(hourly(2)));
    c.run_for(1min);
    check_told_once(c, "/settle/sharding/2");
    c.add().schedule(hourly(2)).value();
    c.run_for(1min);
    CHECK(c.owner("settle", 0) != c.owner("settle", 1));
    c.set_read_only("/settle/sharding/2", false);
    c.run_for(1min);
    CHECK_FALSE(c.has("/settle/sharding/2"));
}

TEST_CASE(
    "scheduler.job_leader: a leadership that the registry keeps is reported, and given up when that is possible") {
    cluster c;
    join(c, hourly(1));
    c.set_read_only("/settle/leader/election");
    c.set("/settle/servers/10.0.0.1", "DISABLED");
    c.run_for(10min);
    check_told_once(c, "/settle/leader/election/instance");
    c.set_read_only("/settle/leader/election", false);
    c.run_for(1min);
    CHECK_FALSE(c.has("/settle/leader/election/instance"));
}
