// SPDX-License-Identifier: Apache-2.0
// A pause: nothing begins, no item moves, and instants that become due meanwhile never run (PA-1 to PA-4).
#include <elasticjob/execution/job_pauses.hpp>

#include <simulation/seeds.hpp>
#include <simulation/small_cluster.hpp>

#include <doctest/doctest.h>

using namespace elasticjob;
using namespace elasticjob::test;
using namespace elasticjob::testing;

namespace {

/// No mark is made while the pause is in the registry: the registry itself refuses such a start.
struct no_start_in_a_pause {
    static constexpr std::string_view name = "no start in a pause";
    job_layout at;

    std::string changed(tree_event const& e, cluster_view const& v) const {
        if (!e.path.ends_with("/running")) return {};
        auto const* mark = v.find(*node_path::parse(e.path));
        auto const* pauses = v.find(at.pauses());
        if (!mark || !pauses) return {};
        std::string const server{instance_id::parse(mark->data).value().server()};
        bool const is_paused = job_pauses::parse(pauses->data).value().in_force(server);
        if (!is_paused || mark->stat.created < pauses->stat.modified) return {};
        return e.path + " was made during a pause of " + server;
    }
};

struct paused_job : basic_small_cluster<AverageAllocation> {
    using basic_small_cluster::basic_small_cluster;

    wall_time wall() { return s.world().wall_now(); }

    void change(std::string const& server, bool pauses) {
        auto const text = find(at.pauses()) ? data(at.pauses()) : std::string{};
        auto p = job_pauses::parse(text).value();
        REQUIRE((pauses ? p.pause(server, wall()).value() : p.resume(server, wall())));
        if (find(at.pauses()))
            write(at.pauses(), p.to_text());
        else
            create(at.pauses(), p.to_text());
    }
    void pause(std::string const& server = {}) { change(server, true); }
    void resume(std::string const& server = {}) { change(server, false); }

    std::uint64_t skipped(item_index i) const {
        std::uint64_t n = 0;
        for (auto const& e : record(i).ledger)
            if (e.outcome == run_outcome::skipped && e.note == name_of(events::skip_reason::paused)) n += e.count;
        return n;
    }
};

} // namespace

TEST_CASE("pause: nothing begins, no item moves, and the instants are on record as skipped") {
    paused_job c{every_five_seconds(4), 2};
    c.start();
    c.run_for(10s);
    auto const assigned = c.find(c.at.assignment())->stat.modified;
    auto const before = c.count(kind::started);
    REQUIRE(before == 8);
    c.pause();
    c.run_for(60s);
    CHECK(c.count(kind::started) == before);
    CHECK(c.find(c.at.assignment())->stat.modified == assigned);
    c.resume();
    c.run_for(1s);
    CHECK(c.count(kind::started) == before); // no instant is made up for
    for (item_index i = 0; i < 4; ++i) CHECK(c.skipped(i) == 12);
    CHECK(c.count(kind::skipped) == 4);
    c.run_for(5s);
    CHECK(c.count(kind::started) == before + 4);
    CHECK_MESSAGE(c.wrong().empty(), c.wrong());
}

TEST_CASE("pause: a pause of one server lets the others run on; its current runs end, and an order waits") {
    paused_job c{every_five_seconds(4), 2};
    c.lasts = 8s;
    c.start();
    c.run_for(5s);
    REQUIRE(c.running() == 4);
    c.pause("10.0.0.1");
    auto const mine = c.items_of(0);
    c.run_for(9s);
    CHECK(c.count(kind::finished) >= 4);
    c.lasts = 100ms;
    c.trigger(0);
    c.run_for(30s);
    CHECK(c.items_of(0) == mine);
    for (auto const i : mine) CHECK(c.starts(i).size() == 1);
    for (auto const i : c.items_of(1)) CHECK(c.starts(i).size() > 5);
    c.resume("10.0.0.1");
    c.run_for(1s);
    for (auto const i : mine) {
        CHECK(c.starts(i).size() == 2); // by the order
        CHECK(c.starts(i).back().source == run_source::trigger);
    }
    CHECK_MESSAGE(c.wrong().empty(), c.wrong());
}

TEST_CASE("pause: instants that became due during a pause are not run by an owner that joins after it") {
    paused_job c{every_five_seconds(2), 2, {1}};
    c.start();
    c.run_for(5s);
    c.pause();
    c.run_for(30s);
    c.crash(0);
    c.run_for(30s);
    c.resume();
    auto const resumed = c.wall();
    c.run_for(10s);
    REQUIRE(c.items_of(1).empty());
    auto const before = c.count(kind::started);
    c.join(1);
    c.run_for(60s);
    CHECK(c.items_of(1) == items{0, 1});
    CHECK(c.count(kind::started) > before);
    auto const runs = c.all(kind::started);
    for (auto n = before; n < runs.size(); ++n) CHECK(runs[n].due > resumed);
    CHECK_MESSAGE(c.wrong().empty(), c.wrong());
}

TEST_CASE("pause: a run that a dead instance has left is repeated after it") {
    paused_job c{hourly(1), 2};
    c.lasts = 1min;
    c.start_before_the_hour();
    c.run_for(2s);
    REQUIRE(c.running() == 1);
    auto const owner = c.id(0) == c.owner(0) ? 0U : 1U;
    c.pause();
    c.crash(owner);
    c.run_for(2min);
    CHECK(c.count(kind::started) == 1);
    c.resume();
    c.run_for(2s);
    CHECK(c.count(run_source::failover) == 1);
    CHECK_MESSAGE(c.wrong().empty(), c.wrong());
}

TEST_CASE("pause: the registry refuses a start that was decided on before, at every moment around a due instant") {
    for (std::uint64_t seed = 1; seed <= 12; seed += tries_apart)
        for (auto moment = -12ms; moment <= 12ms; moment += 1ms) {
            INFO("seed " << seed << ", a pause " << moment.count() << " ms after the due instant");
            paused_job c{every_five_seconds(4), 2, {}, seed};
            c.s.add_invariant(no_start_in_a_pause{c.at});
            c.start();
            c.pause();
            c.resume();
            auto const into = c.wall().time_since_epoch() % 5s;
            c.run_for(10s - into + moment);
            c.pause();
            c.run_for(20s);
            CHECK_MESSAGE(c.wrong().empty(), c.wrong());
        }
}

TEST_CASE("pause: a node that cannot be read pauses nothing, and is reported once") {
    paused_job c{every_five_seconds(1), 1};
    c.start();
    c.create(c.at.pauses(), "everything");
    c.run_for(30s);
    CHECK(c.count(kind::started) >= 5);
    auto const told = c.all(kind::trouble);
    REQUIRE(told.size() == 1);
    CHECK(told.front().failure->code == errc::malformed_data);
    CHECK(told.front().failure->where == "/settle/ext/orders/pause");
    c.remove(c.at.pauses());
    c.pause();
    auto const before = c.count(kind::started);
    c.run_for(30s);
    CHECK(c.count(kind::started) == before);
    CHECK_MESSAGE(c.wrong().empty(), c.wrong());
}
