// SPDX-License-Identifier: Apache-2.0
// Defects of ElasticJob-Lite 2.1.5 that more than one check prevents here. Each scenario fails once all of its checks
// are removed. A comment beside it names them.
#include <simulation/seeds.hpp>
#include <simulation/small_cluster.hpp>

#include <doctest/doctest.h>

using namespace elasticjob;
using namespace elasticjob::test;
using namespace elasticjob::testing;

namespace {

/// A user's strategy that throws for as long as it is told to.
struct MoodyStrategy {
    static constexpr std::string_view name = "com.example.Moody";
    static inline bool throws = false;

    closed_form operator()(sharding_request const& request) const {
        if (throws) throw std::runtime_error{"not in the mood"};
        return AverageAllocation{}(request);
    }
};
static_assert(sharding_strategy<MoodyStrategy>);

/// If no leader steps down, a leader leads until its session ends. A new leader is registered as an
/// instance under the session of its leader's node.
struct office_is_taken_in_order {
    static constexpr std::string_view name = "nobody is deposed, and no stranger leads";
    node_stat last{};

    std::string changed(tree_event const& e, cluster_view const& v) {
        auto const at = cluster_view::layout("settle");
        if (e.path != at.leader_instance().str()) return {};
        auto const* there = v.find(at.leader_instance());
        auto const before = std::exchange(last, there ? there->stat : node_stat{});
        if (there && there->stat.created == before.created) return {};
        if (before.owner != 0 && v.server.is_alive(before.owner)) return "the leader has been deposed";
        if (!there) return {};
        auto const* instance = v.find(at.instances() / there->data);
        bool const is_member = instance && instance->stat.owner == there->stat.owner;
        return is_member ? "" : there->data + " leads under a session that it is not registered with";
    }
};

} // namespace

// Against it stand: a strategy that throws is caught, and it is called before anything is written.
TEST_CASE("D-11: a strategy that throws changes nothing, all members go on, and later all is put right") {
    auto config = every_five_seconds(6);
    config.job_sharding_strategy_class = MoodyStrategy::name;
    basic_small_cluster<MoodyStrategy> c{config, 3, {2}};
    MoodyStrategy::throws = false;
    c.start();
    REQUIRE(c.items_of(0).size() == 3);
    auto const before = c.data(c.at.assignment());
    auto const leader = c.leader();

    MoodyStrategy::throws = true;
    c.join(2);
    c.run_for(20s);
    CHECK(c.data(c.at.assignment()) == before);
    CHECK(c.items_of(0).size() == 3);
    CHECK(c.items_of(1).size() == 3);
    CHECK_FALSE(c.find(c.at.sharding_processing()));
    auto const told = c.all(kind::trouble);
    CHECK(told.size() >= 1);
    CHECK(told.size() <= 8); // from time to time and when there is news; not all the time
    for (auto const& o : told) {
        CHECK(o.node == leader);
        CHECK(*o.failure == errc::job_threw);
        CHECK(o.failure->what.find("not in the mood") != std::string::npos);
    }
    for (item_index i = 0; i < 6; ++i) CHECK(c.starts(i).size() == 4); // all went on
    CHECK(c.count(kind::left) == 0);
    CHECK(c.leader() == leader);

    MoodyStrategy::throws = false;
    c.run_for(6s);
    for (std::uint32_t n = 0; n < 3; ++n) CHECK(c.items_of(n).size() == 2);
    CHECK_FALSE(c.find(c.at.sharding_necessary()));
    c.run_for(5s);
    for (item_index i = 0; i < 6; ++i) CHECK(c.starts(i).size() == 6);
    CHECK(c.wrong() == "");
}

// Checks against it: a failed read is repeated, and an existing record is never created again.
TEST_CASE("D-19: an instance whose first read of a record fails does not take it for absent, and loses nothing of it") {
    for (auto const what : {fault_kind::lose_request, fault_kind::lose_reply})
        for (std::uint32_t skipped = 0; skipped < 16; ++skipped) {
            CAPTURE(name_of(what));
            CAPTURE(skipped);
            small_cluster c{hourly(4), 2};
            c.start();
            c.trigger(0); // so that there is something in the ledgers
            c.run_until_before_the_hour();
            auto const orphans = c.items_of(0);
            REQUIRE(orphans.size() == 2);
            for (auto const i : orphans) c.lasts_for[i] = 10min;
            c.run_for(3s);
            REQUIRE(c.running() == 2);
            auto const due = c.starts(orphans[0]).back().due;
            c.crash(0);
            c.lasts_for.clear();
            while (c.owner(orphans[0]) != c.id(1) && !c.s.is_over()) c.run_for(1ms);
            // The next requests of node 1: its share, and the records of its new items.
            c.inject({.what = what, .node = 1, .count = skipped});
            c.inject({.what = what, .node = 1, .count = skipped + 1});
            c.run_for(5s);
            CHECK(c.wrong() == "");
            for (auto const i : orphans) {
                auto const runs = c.starts(i);
                REQUIRE(runs.size() == 3);
                CHECK(runs[2].source == run_source::failover);
                CHECK(runs[2].due == due);
                auto const ledger = c.record(i).ledger;
                REQUIRE(ledger.size() == 3);
                CHECK(ledger[0].outcome == run_outcome::completed); // the outcome of the order
                CHECK(ledger[1].outcome == run_outcome::retried);
                CHECK(ledger[2].outcome == run_outcome::completed);
            }
        }
}

// Checks against it: a candidate takes office under the session that it stands with, in one transaction that finds its
// candidacy and no leader in office; and a lost request is not repeated.
TEST_CASE(
    "D-44: a candidate whose session ends on the way neither takes office with its next one nor deposes anybody") {
    for (auto const what : {fault_kind::expire, fault_kind::partition})
        for (std::uint64_t seed = 1; seed <= 3; ++seed)
            for (auto later = 0ms; later < 25ms; later += 1ms * tries_apart) {
                CAPTURE(name_of(what));
                CAPTURE(seed);
                CAPTURE(later.count());
                small_cluster c{hourly(4), 3, {}, seed};
                c.s.add_invariant(office_is_taken_in_order{});
                c.start();
                auto const first = c.leader();
                c.expire(first); // all stand for election
                // One hears at once that its session is over; or it is cut off until another has been elected.
                c.s.schedule_faults({{.at = later, .what = what, .node = (first + 1) % 3, .span = 15s},
                                     {.at = later + 1ms, .what = what, .node = (first + 2) % 3, .span = 10ms}});
                c.run_for(what == fault_kind::expire ? 3s : 18s);
                CHECK(c.wrong() == "");
                REQUIRE(c.leader() < 3);
                CHECK(c.find(c.at.leader_instance())->stat.owner == c.s.view().nodes[c.leader()].session);
                CHECK(c.count(kind::leads) == c.count(kind::leads_no_more) + 1);
            }
}
