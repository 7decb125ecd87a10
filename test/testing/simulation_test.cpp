// SPDX-License-Identifier: Apache-2.0
// The simulation itself: it is repeatable, bodies take time, faults have their effects, violations are found, and
// shrinking finds the faults that matter.
#include <elasticjob/testing/explore.hpp>
#include <elasticjob/testing/simulation.hpp>

#include <elasticjob/testing/simulation.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

using namespace elasticjob;
using namespace elasticjob::testing;
using namespace std::chrono_literals;

namespace {

using kind = observation::kind;

job_config make_job(std::string name, std::string cron, int items) {
    job_config c;
    c.name = std::move(name);
    c.cron = std::move(cron);
    c.sharding_total_count = items;
    return c;
}

simulated_run take_a_second(sharding_context const&) { return {.duration = 1s}; }

std::size_t count(cluster_view const& v, kind k, std::string_view text = {}) {
    std::size_t n = 0;
    for (auto const& o : v.log) n += o.what == k && o.text.find(text) != o.text.npos;
    return n;
}

observation const* last(cluster_view const& v, kind k) {
    for (auto at = v.log.rbegin(); at != v.log.rend(); ++at)
        if (at->what == k) return &*at;
    return nullptr;
}

/// Fails once both have happened, like a bug that needs two faults.
struct pause_and_reset_never_meet {
    static constexpr std::string_view name = "planted";
    bool has_paused = false, has_reset = false;

    std::string on(observation const& o, cluster_view const&) {
        if (o.what != kind::fault) return {};
        has_paused |= o.text.find(" pause ") != o.text.npos;
        has_reset |= o.text.find(" reset") != o.text.npos;
        return has_paused && has_reset ? "they have met" : "";
    }
};

/// Nodes of one job that takes a second.
struct trio {
    explicit trio(std::uint64_t seed = 1, std::string cron = "0/5 * * * * ?", simulation_options o = {}) : s{seed, o} {
        s.add_job(make_job("a", std::move(cron), 3), &take_a_second);
        s.add_nodes(3);
    }
    void begin() {
        s.start_all();
        s.run_for(1s);
    }
    void inject(fault f) {
        s.inject(f);
        s.run_for(0s);
    }
    simulation<> s;
};

} // namespace

TEST_CASE("testing.simulation: the same seed, the same transcript; another seed, another one") {
    auto const transcript = [](std::uint64_t seed) {
        trio t{seed};
        t.s.play(make_fault_plan(seed, 3min, t.s.targets()));
        CHECK(t.s.violations().empty());
        return t.s.transcript();
    };
    auto const first = transcript(7);
    CHECK(first.size() > 10'000);
    CHECK(transcript(7) == first);
    CHECK(transcript(8) != first);
}

TEST_CASE("testing.simulation: a quiet day takes little real time") {
    trio t{1, "0 0 * * * ?"};
    t.s.start_all();
    auto const begin = std::chrono::steady_clock::now();
    t.s.run_for(24h + 5s);
    auto const took = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    MESSAGE("a day: " << took << " s, " << t.s.steps() << " steps");
    CHECK(count(t.s.view(), kind::finished) == 24 * 3);
    CHECK(t.s.steps() < 100'000);
    CHECK(t.s.violations().empty());
}

TEST_CASE("testing.simulation: a run takes its body's time, and is asked to stop") {
    simulation<> s{1};
    s.add_job(make_job("a", "0/5 * * * * ?", 1), [](sharding_context const& c) {
        CHECK(!c.stop.stop_requested());
        return simulated_run{.duration = 3s, .outcome = error{errc::job_failed, "as it wants"}};
    });
    s.add_nodes(1);
    s.start_all();
    s.run_for(9s);
    auto const* ended = last(s.view(), kind::finished);
    REQUIRE(ended);
    CHECK(ended->failure->what == "as it wants");
    auto const* began = last(s.view(), kind::body_began);
    CHECK(ended->at - began->at == 3s);

    // The session ends while the next run is on its way.
    s.run_for(2s);
    CHECK(s.view().runs.size() == 1);
    s.inject({.what = fault_kind::expire});
    s.run_for(500ms);
    CHECK(s.view().runs.empty());
    CHECK(last(s.view(), kind::finished)->failure->what == "stopped");
    CHECK(s.violations().empty());
}

TEST_CASE("testing.simulation: an ordinary body is called at the end of its run") {
    std::vector<mono_time> called;
    simulation_options o;
    o.bodies = {2s, 2s};
    simulation<> s{1, o};
    auto& world = s.world();
    s.add_job(make_job("a", "0/5 * * * * ?", 1), [&](sharding_context const& c) {
        called.push_back(world.now());
        CHECK(c.item == 0);
        if (called.size() == 2) throw std::runtime_error{"the second"};
    });
    s.add_nodes(1);
    s.start_all();
    s.run_for(13s);
    REQUIRE(called.size() == 2);
    CHECK(last(s.view(), kind::finished)->failure->code == errc::job_threw);
    CHECK(last(s.view(), kind::finished)->failure->what == "the second");
    CHECK(called[0] - mono_time{} > 7s);
    CHECK(called[0] - mono_time{} < 7100ms);
}

TEST_CASE("testing.simulation: faults of bodies and pools") {
    trio t;
    t.begin();
    for (std::uint32_t n = 0; n < 3; ++n) t.inject({.what = fault_kind::throwing_bodies, .node = n, .span = 5s});
    t.s.run_for(6s);
    CHECK(last(t.s.view(), kind::finished)->failure->code == errc::job_threw);
    for (std::uint32_t n = 0; n < 3; ++n) t.inject({.what = fault_kind::full_pool, .node = n, .span = 5s});
    t.s.run_for(5s);
    CHECK(last(t.s.view(), kind::skipped)->why == events::skip_reason::overloaded);
    for (std::uint32_t n = 0; n < 3; ++n)
        t.inject({.what = fault_kind::slow_bodies, .node = n, .span = 5s, .count = 3});
    t.s.run_for(7s);
    CHECK(last(t.s.view(), kind::finished)->at - last(t.s.view(), kind::body_began)->at > 2900ms);
    CHECK(t.s.violations().empty());
}

TEST_CASE("testing.simulation: a partition ends the session, and the node comes back with another one") {
    trio t;
    t.begin();
    auto const before = t.s.view().nodes[1].session;
    REQUIRE(before != 0);
    t.inject({.what = fault_kind::partition, .node = 1, .span = 5s});
    t.s.run_for(10s);
    CHECK(t.s.view().nodes[1].session == before); // too short
    t.inject({.what = fault_kind::partition, .node = 1, .span = 30s});
    t.s.run_for(12s);
    CHECK(!t.s.server().is_alive(before));
    CHECK(t.s.view().live_instances("a").size() == 2);
    t.s.run_for(30s);
    CHECK(t.s.view().nodes[1].session != before);
    CHECK(t.s.view().live_instances("a").size() == 3);
    CHECK(t.s.violations().empty());
}

TEST_CASE("testing.simulation: a long pause costs a node its session, a short one does not") {
    trio t;
    t.begin();
    auto const before = t.s.view().nodes[1].session;
    t.inject({.what = fault_kind::pause, .node = 1, .span = 3s});
    t.s.run_for(6s);
    CHECK(t.s.view().nodes[1].session == before);
    t.inject({.what = fault_kind::pause, .node = 1, .span = 20s});
    t.s.run_for(15s);
    CHECK(!t.s.server().is_alive(before));
    CHECK(t.s.view().nodes[1].session == before); // it does not know yet
    t.s.run_for(20s);
    CHECK(t.s.view().nodes[1].session != before);
    CHECK(t.s.view().live_instances("a").size() == 3);
    CHECK(t.s.violations().empty());
}

TEST_CASE("testing.simulation: the session of a dead process lasts until its time-out") {
    trio t;
    t.begin();
    auto const before = t.s.view().nodes[1].session;
    t.inject({.what = fault_kind::crash, .node = 1, .span = 1h});
    CHECK(t.s.view().nodes[1].process == 0);
    t.s.run_for(6s);
    CHECK(t.s.server().is_alive(before));
    t.s.run_for(6s);
    CHECK(!t.s.server().is_alive(before));
    t.s.run_for(1h);
    CHECK(t.s.view().live_instances("a").size() == 3);
    CHECK(count(t.s.view(), kind::process_began) == 4);
    CHECK(t.s.violations().empty());
}

TEST_CASE("testing.simulation: a process can die before or after any of its requests takes effect") {
    for (bool const after : {false, true}) {
        trio t;
        t.begin();
        auto const lead = t.s.view().data(simulation<>{1}.view().layout("a").leader_instance());
        std::uint32_t node = 0;
        while (t.s.view().nodes[node].instances.at("a") != lead) ++node;
        t.inject({.what = fault_kind::set_items, .count = 5});
        // The leader's next request is the reading of the configuration; that does nothing either way.
        t.s.inject({.what = after ? fault_kind::crash_after : fault_kind::crash_before, .node = node, .span = 1h});
        t.s.run_for(1s);
        CHECK(t.s.view().nodes[node].process == 0);
        CHECK(count(t.s.view(), kind::process_killed) == 1);
        t.s.run_for(30s);
        CHECK(t.s.view().live_instances("a").size() == 2);
        CHECK(t.s.view().find(cluster_view::layout("a").item_instance(4)) != nullptr);
        CHECK(t.s.violations().empty());
    }
}

TEST_CASE("testing.simulation: a node's clock may be wrong") {
    trio t{1, "0 0 * * * ?"};
    t.begin();
    t.inject({.what = fault_kind::clock_jump, .node = 0, .span = 1h});
    CHECK(t.s.view().wall_of(t.s.view().nodes[0]) - t.s.world().wall_now() == 1h);
    t.s.run_for(2min); // it looks at its clock once a minute
    CHECK(count(t.s.view(), kind::started) == 1);
    CHECK(last(t.s.view(), kind::started)->node == 0);
}

TEST_CASE("testing.simulation: operators' commands") {
    trio t;
    t.begin();
    t.inject({.what = fault_kind::disable, .node = 2});
    t.inject({.what = fault_kind::disable_item, .count = 1});
    t.s.run_for(20s);
    CHECK(last(t.s.view(), kind::skipped)->item == 1);
    CHECK(last(t.s.view(), kind::skipped)->why == events::skip_reason::disabled);
    for (item_index i = 0; i < 3; ++i)
        CHECK(t.s.view().data(cluster_view::layout("a").item_instance(i)) != t.s.view().nodes[2].instances.at("a"));
    t.inject({.what = fault_kind::leave, .node = 0});
    t.s.run_for(1s);
    CHECK(t.s.view().live_instances("a").size() == 2);
    t.inject({.what = fault_kind::join, .node = 0});
    t.inject({.what = fault_kind::remove_instance, .node = 1});
    t.s.run_for(5s);
    CHECK(t.s.view().live_instances("a").size() == 2);
    CHECK(!t.s.view().nodes[1].instances.contains("a"));
    CHECK(t.s.violations().empty());
}

TEST_CASE("testing.simulation: a job without records can be played") {
    simulation<> s{1};
    auto job = make_job("settle", "0/5 * * * * ?", 3);
    job.monitor_execution = false;
    s.add_job(job, take_a_second);
    s.add_nodes(2);
    s.play({}, 20s);
    CHECK(s.violations().empty());
    CHECK(count(s.view(), kind::body_began) > 0);
}

TEST_CASE("testing.simulation: a job that nobody can join is a violation") {
    simulation<> s{1};
    s.add_job(make_job("settle", "0/5 * * * *x ?", 3), take_a_second);
    s.add_nodes(2);
    s.play({}, 20s);
    REQUIRE(!s.violations().empty());
    CHECK(s.violations()[0].what.find("no instance could join: invalid_cron") != std::string::npos);
}

TEST_CASE("testing.simulation: the ids of instances do not depend on the process that simulates") {
    simulation<> s{1};
    s.add_job(make_job("settle", "0/5 * * * * ?", 3), take_a_second);
    s.add_nodes(2);
    s.play({}, 20s);
    auto const* joined = last(s.view(), kind::joined);
    REQUIRE(joined);
    CHECK(joined->instance.find("@-@1-") != std::string::npos);
}

TEST_CASE("testing.simulation: every disabled item is enabled again after the faults") {
    simulation<> s{3};
    s.add_job(make_job("settle", "0/5 * * * * ?", 30), take_a_second);
    s.add_nodes(1);
    s.play(parse_fault_plan("5000 disable_item count=25; 5000 disable_item count=5").value(), 20s);
    std::size_t runs[30]{};
    for (auto const& o : s.view().log) runs[o.item] += o.what == kind::body_began;
    CHECK(runs[0] > runs[25]); // the two were disabled for a while
    CHECK(runs[25] == runs[5]);
}

TEST_CASE("testing.explore: a shell understands the command of a process") {
    using namespace std::string_view_literals;
    CHECK(testing::detail::shell_command("build/dev/test/jobs_test\0--source-file=/a b/simulation/*\0-tc=it's\0\0"sv) ==
          R"(build/dev/test/jobs_test '--source-file=/a b/simulation/*' '-tc=it'\''s' '')");
    CHECK(testing::detail::this_command().find("_test") != std::string::npos);
}

TEST_CASE("testing.explore: reports a violation with a command that replays it, and with the faults that suffice") {
    explore_options o;
    o.seeds = 5;
    o.fresh = 0;
    o.command = "test/planted";
    auto const build = [](std::uint64_t seed) {
        auto s = std::make_unique<simulation<>>(seed);
        s->add_job(make_job("a", "0/5 * * * * ?", 2), &take_a_second);
        s->add_nodes(2);
        s->add_invariant(pause_and_reset_never_meet{});
        return s;
    };
    auto const found = explore(o, build);
    REQUIRE(found.failed);
    CHECK(found.wrong->invariant == "planted");
    REQUIRE(found.faults.size() == 2);
    auto const is_there = [&](fault_kind k) { return found.faults[0].what == k || found.faults[1].what == k; };
    CHECK(is_there(fault_kind::pause));
    CHECK(is_there(fault_kind::reset));
    auto const seed = std::to_string(*found.failed);
    CHECK(found.report.find("  ELASTICJOB_SEED=" + seed + " test/planted\n") != std::string::npos);
    CHECK(found.report.find("ELASTICJOB_FAULTS='" + to_string(found.faults[0]) + "; " + to_string(found.faults[1]) +
                            "' test/planted\n") != std::string::npos);

    // The command does replay it.
    setenv("ELASTICJOB_SEED", seed.c_str(), 1);
    setenv("ELASTICJOB_FAULTS", to_string(found.faults).c_str(), 1);
    auto const again = explore(o, build);
    unsetenv("ELASTICJOB_SEED");
    unsetenv("ELASTICJOB_FAULTS");
    CHECK(again.seeds == 1);
    CHECK(again.failed == found.failed);
    CHECK(again.wrong->invariant == "planted");
    CHECK(again.faults == found.faults);
    CHECK(again.report.find("VIOLATION planted: they have met") != std::string::npos);
}
