// SPDX-License-Identifier: Apache-2.0
// An instance that leaves one job while its process lives on with another leaves nothing behind, whatever is lost then.
#include <elasticjob/testing/simulation.hpp>

#include <simulation/seeds.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>

using namespace elasticjob;
using namespace elasticjob::testing;
using namespace std::chrono_literals;

namespace {

job_config make_job(std::string name, std::string cron) {
    job_config c;
    c.name = std::move(name);
    c.cron = std::move(cron);
    c.sharding_total_count = 3;
    return c;
}

simulated_run short_run(sharding_context const&) { return {.duration = 20ms}; }

/// Three nodes of two jobs.
struct two_jobs {
    explicit two_jobs(std::uint64_t seed) : s{seed} {
        s.add_job(make_job("a", "0/5 * * * * ?"), &short_run);
        s.add_job(make_job("b", "0 0 0 1 1 ? 2099"), &short_run);
        s.add_nodes(3);
        s.start_all();
        s.run_for(1s);
    }
    /// Which node leads job a; 3 if none does.
    std::uint32_t leader() const {
        auto const who = s.view().data(s.layout(0).leader_instance());
        for (std::uint32_t n = 0; n < 3; ++n) {
            auto const& ids = s.view().nodes[n].instances;
            if (auto const id = ids.find("a"); id != ids.end() && id->second == who) return n;
        }
        return 3;
    }
    simulation<> s;
};

} // namespace

TEST_CASE("leaving: a candidate for the leadership is withdrawn, even when the connection breaks just then") {
    for (std::uint32_t lost = 0; lost < 8; ++lost)
        for (auto later = 1ms; later < 24ms; later += 3ms) {
            CAPTURE(lost);
            CAPTURE(later.count());
            two_jobs t{1 + lost};
            auto const first = t.leader(), second = (first + 1) % 3;
            REQUIRE(first < 3);
            // The leader goes, the others stand for election, and one of them loses a request and goes too.
            t.s.schedule_faults({{.at = 0ms, .what = fault_kind::lose_request, .node = second, .count = lost},
                                 {.at = 0ms, .what = fault_kind::leave, .node = first},
                                 {.at = later, .what = fault_kind::leave, .node = second}});
            t.s.run_for(20s);
            CHECK(t.s.server().tree().find(t.s.layout(0).election_latch())->stat.children == 0);
            CHECK(t.leader() == (first + 2) % 3);
            CHECK_MESSAGE(t.s.violations().empty(), t.s.transcript());
        }
}

TEST_CASE("leaving: a run that is just beginning ends before the instance leaves, or never began") {
    for (std::uint32_t lost = 0; lost < 6; lost += test::tries_apart)
        for (auto const away : {0ms, 3'000ms, 9'000ms})
            for (auto later = 0ms; later < 16ms; later += 3ms) {
                CAPTURE(lost);
                CAPTURE(away.count());
                CAPTURE(later.count());
                two_jobs t{1 + lost};
                t.s.run_for(4s - 2ms); // in 2 ms the items are due
                auto const leaver = (t.leader() + 1) % 3;
                fault_plan plan{{.at = 0ms, .what = fault_kind::lose_reply, .node = leaver, .count = lost},
                                {.at = 2ms + later, .what = fault_kind::leave, .node = leaver}};
                if (away > 0ms)
                    plan.push_back({.at = 2ms + later, .what = fault_kind::partition, .node = leaver, .span = away});
                t.s.schedule_faults(plan);
                t.s.run_for(40s);
                for (item_index i = 0; i < 3; ++i) {
                    CHECK(!t.s.view().find(t.s.layout(0).item_running(i)));
                    std::size_t ended = 0;
                    for (auto const& o : t.s.view().log)
                        ended += o.what == observation::kind::body_ended && o.item == i && o.at > mono_time{20s};
                    CHECK(ended >= 4); // it goes on with its next owner
                }
                CHECK_MESSAGE(t.s.violations().empty(), t.s.transcript());
            }
}

TEST_CASE("leaving: a scheduler that ends in an outage leaves nothing behind, and the next one of its session joins") {
    for (auto const away : {7'000ms, 9'000ms, 20'000ms})
        for (auto later = 0ms; later < 6'000ms; later += 1'500ms) {
            CAPTURE(away.count());
            CAPTURE(later.count());
            two_jobs t{3};
            auto const leaver = later > 3'000ms ? t.leader() : (t.leader() + 1) % 3;
            t.s.schedule_faults({{.at = 0ms, .what = fault_kind::partition, .node = leaver, .span = away},
                                 {.at = later, .what = fault_kind::end_scheduler, .node = leaver, .span = 90s}});
            t.s.run_for(80s);
            CHECK(t.s.server().tree().find(t.s.layout(0).instances())->stat.children == 2);
            CHECK(t.s.server().tree().find(t.s.layout(1).instances())->stat.children == 2);
            t.s.run_for(60s);
            CHECK(t.s.server().tree().find(t.s.layout(0).instances())->stat.children == 3);
            CHECK_MESSAGE(t.s.violations().empty(), t.s.transcript());
        }
}

TEST_CASE("leaving: the last scheduler of a session that ends in an outage leaves no leader and no mark") {
    simulation<> s{5};
    s.add_job(make_job("a", "0/5 * * * * ?"), &short_run);
    s.add_nodes(1);
    s.start_all();
    s.run_for(5s + 10ms); // the items run
    s.schedule_faults({{.at = 0ms, .what = fault_kind::partition, .node = 0, .span = 9'000ms},
                       {.at = 5ms, .what = fault_kind::end_scheduler, .node = 0, .span = 90s}});
    s.run_for(60s);
    auto const& tree = s.server().tree();
    CHECK(tree.find(s.layout(0).instances())->stat.children == 0);
    CHECK_FALSE(tree.find(s.layout(0).leader_instance()));
    for (item_index i = 0; i < 3; ++i) CHECK_FALSE(tree.find(s.layout(0).item_running(i)));
    CHECK_MESSAGE(s.violations().empty(), s.transcript());
}

TEST_CASE("leaving: run records that cannot be written for a while hold their items up, and no longer") {
    for (bool const leaves : {false, true}) {
        CAPTURE(leaves);
        two_jobs t{7};
        t.s.run_for(4s - 2ms); // in 2 ms the items are due
        fault_plan plan{{.at = 10ms, .what = fault_kind::read_only_records, .job = 0, .span = 100s}};
        for (std::uint32_t n = 0; n < 3 && leaves; ++n)
            plan.push_back({.at = 20s, .what = fault_kind::end_scheduler, .node = n, .span = 1s});
        t.s.schedule_faults(plan);
        t.s.run_for(99s);
        std::size_t marks = 0, ended = 0;
        for (item_index i = 0; i < 3; ++i) marks += t.s.server().tree().find(t.s.layout(0).item_running(i)) != nullptr;
        CHECK(marks == (leaves ? 0 : 3)); // an instance that leaves gives the ends up
        auto const so_far = t.s.view().log.size();
        t.s.run_for(90s);
        for (auto n = so_far; n < t.s.view().log.size(); ++n)
            ended += t.s.view().log[n].what == observation::kind::body_ended;
        CHECK(ended >= 3 * 14); // each in five seconds
        CHECK_MESSAGE(t.s.violations().empty(), t.s.transcript());
    }
}
