// SPDX-License-Identifier: Apache-2.0
// Hooks around rounds: called once in the cluster, before the first item and after the last, or reported as missed
// (GU-1, GU-3, D-24).
#include <elasticjob/testing/simulation.hpp>

#include <simulation/console.hpp>
#include <simulation/seeds.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

using namespace elasticjob;
using namespace elasticjob::testing;
using namespace std::chrono_literals;

namespace {

using kind = observation::kind;

/// When each hook was called, by due instant.
struct calls {
    virtual_loop* world = nullptr;
    std::map<wall_time, std::vector<mono_time>> before, behind;
};

struct recorder {
    std::shared_ptr<calls> seen;
    bool starts_together = false;
    void before_round(job_round const& r) const { seen->before[r.due].push_back(seen->world->now()); }
    void after_round(job_round const& r) const { seen->behind[r.due].push_back(seen->world->now()); }
};

using cluster = simulation<AverageAllocation, SimpleExecutor, UtcZone, Listeners<recorder>>;

struct world {
    explicit world(std::uint64_t seed = 1, int items = 5, std::chrono::milliseconds span = 1s,
                   std::chrono::milliseconds patience = 5s, std::vector<job_schedule> schedules = {},
                   bool starts_together = false)
        : s{seed, options(patience), Listeners<recorder>{recorder{seen, starts_together}}} {
        seen->world = &s.world();
        job_config c;
        c.name = "a";
        c.cron = "0/10 * * * * ?";
        c.sharding_total_count = items;
        c.failover = true;
        c.schedules = std::move(schedules);
        s.add_job(std::move(c), [this, span](sharding_context const& x) {
            auto const special = lasts.find(x.item);
            return simulated_run{.duration = special == lasts.end() ? span : special->second};
        });
        s.add_nodes(3);
    }
    static simulation_options options(std::chrono::milliseconds patience) {
        simulation_options o;
        o.scheduler.round_start_timeout = patience;
        o.scheduler.round_end_timeout = 25s;
        return o;
    }

    std::size_t missed() const {
        std::size_t n = 0;
        for (auto const& o : s.view().log)
            n += o.what == kind::trouble && o.failure && *o.failure == errc::round_missed;
        return n;
    }
    std::size_t open_rounds() {
        auto const* all = s.server().tree().find(s.layout(0).rounds());
        return all ? static_cast<std::size_t>(all->stat.children) : 0;
    }

    std::shared_ptr<calls> seen = std::make_shared<calls>();
    std::map<item_index, std::chrono::milliseconds> lasts{}; ///< other than the others
    cluster s;
};

/// The number of requests that so many instances make in one round of so many items with different durations.
template <class Cluster>
struct cost {
    cost(std::uint32_t instances, int items, Cluster& s) {
        job_config c;
        c.name = "a";
        c.cron = "0 * * * * ?";
        c.sharding_total_count = items;
        s.add_job(std::move(c),
                  [](sharding_context const& x) { return simulated_run{.duration = 100ms + 20ms * x.item}; });
        s.add_nodes(instances);
        s.start_all();
        s.run_for(128s); // all is quiet then, and 180 s later
        auto const before = s.server().counts();
        s.run_for(180s);
        reads = (s.server().counts().reads - before.reads) / 3;
        writes = (s.server().counts().writes - before.writes) / 3;
    }
    std::uint64_t reads = 0, writes = 0;
};

/// Those of them that the hooks cause.
std::pair<std::uint64_t, std::uint64_t> cost_of_hooks(std::uint32_t instances, int items) {
    auto const seen = std::make_shared<calls>();
    cluster with{1, {}, Listeners<recorder>{recorder{seen}}};
    seen->world = &with.world();
    simulation<> without{1, {}};
    cost const more{instances, items, with};
    cost const fewer{instances, items, without};
    CHECK(seen->behind.size() == 5);
    return {more.reads - fewer.reads, more.writes - std::min(more.writes, fewer.writes)};
}

/// All runs of that instant, on any instance.
struct span_of_runs {
    mono_time first = mono_time::max(), last{};
    std::size_t count = 0;
};
std::map<wall_time, span_of_runs> runs_of(cluster_view const& v) {
    std::map<wall_time, span_of_runs> all;
    for (auto const& o : v.log) {
        if (o.what != kind::body_began && o.what != kind::body_ended) continue;
        auto& r = all[o.due];
        r.first = std::min(r.first, o.at);
        r.last = std::max(r.last, o.at);
        r.count += o.what == kind::body_began;
    }
    return all;
}

} // namespace

TEST_CASE("rounds: each hook is called once in the cluster, before the first item and after the last") {
    world w;
    w.s.start_all();
    w.s.run_for(125s);
    auto const runs = runs_of(w.s.view());
    REQUIRE(runs.size() == 12);
    for (auto const& [due, r] : runs) {
        CAPTURE(due.time_since_epoch().count());
        CHECK(r.count == 5);
        REQUIRE(w.seen->before[due].size() == 1);
        REQUIRE(w.seen->behind[due].size() == 1);
        CHECK(w.seen->before[due].front() <= r.first);
        CHECK(w.seen->behind[due].front() >= r.last);
    }
    CHECK(w.missed() == 0);
    CHECK(w.open_rounds() == 0); // nothing piles up
    CHECK_MESSAGE(w.s.violations().empty(), w.s.transcript());
}

TEST_CASE("rounds: an item that an operator has taken out does not hold the round up") {
    world w;
    w.s.start_all();
    w.s.run_for(5s);
    w.s.inject({.what = fault_kind::disable_item, .count = 2});
    w.s.run_for(30s);
    CHECK(w.seen->behind.size() == 3);
    CHECK(w.missed() == 0);
}

TEST_CASE("rounds: items that are busy for longer than a round have their part in the next ones too") {
    world w{1, 3, 14s};
    w.s.start_all();
    w.s.run_for(122s);
    CHECK(w.missed() == 0);
    CHECK(w.open_rounds() <= 2);
    for (auto const& [due, at] : w.seen->before) CHECK(at.size() == 1);
    for (auto const& [due, at] : w.seen->behind) CHECK(at.size() == 1);
    CHECK(w.seen->behind.size() + 2 >= w.seen->before.size());
}

TEST_CASE("rounds: an instance that dies before it has called the hook delays no other, and that is reported once") {
    for (auto const kill : {fault_kind::crash_before, fault_kind::crash_after})
        for (std::uint32_t step = 0; step < 12; ++step) {
            CAPTURE(name_of(kill));
            CAPTURE(step);
            world w{1 + step, 5, 1s, 1h}; // so that the time-out is not what helps
            w.s.start_all();
            w.s.run_for(9s);
            w.s.inject({.what = kill, .node = step % 3, .span = 3s, .count = step});
            w.s.run_for(91s);
            auto const runs = runs_of(w.s.view());
            CHECK(runs.size() == 9); // of 10, 20, ... 90 s
            std::size_t uncalled = 0;
            for (auto const& [due, r] : runs) {
                CHECK(w.seen->before[due].size() <= 1);
                CHECK(w.seen->behind[due].size() <= 1);
                uncalled += w.seen->before[due].empty();
                uncalled += w.seen->behind[due].empty();
            }
            CHECK(uncalled <= w.missed());
            CHECK_MESSAGE(w.s.violations().empty(), w.s.transcript());
        }
}

TEST_CASE(
    "rounds: whatever a seed does to the cluster, no hook is called twice for a round, and none is missed in silence") {
    for (std::uint64_t seed = 1; seed <= 25; seed += test::tries_apart) {
        CAPTURE(seed);
        world w{seed};
        w.s.play(make_fault_plan(seed, 2min, w.s.targets()));
        CHECK_MESSAGE(w.s.violations().empty(), w.s.transcript());
        std::size_t uncalled = 0;
        for (auto const& [due, at] : w.seen->before) CHECK(at.size() == 1);
        for (auto const& [due, at] : w.seen->behind) CHECK(at.size() == 1);
        std::map<wall_time, bool> rounds;
        for (auto const& o : w.s.view().log)
            if (o.what == kind::started && o.source == run_source::schedule) rounds[o.due] = true;
        for (auto const& [due, unused] : rounds) {
            uncalled += !w.seen->before.contains(due);
            uncalled += !w.seen->behind.contains(due);
        }
        // When all leave, a round may still be open: the next instance that joins will end it.
        INFO(uncalled << " uncalled, " << w.missed() << " told, " << w.open_rounds() << " open");
        CHECK(uncalled <= w.missed() + 2 * w.open_rounds());
    }
}

TEST_CASE("rounds: the requests for the hooks of a round depend on the instances, not on the items") {
    for (int const items : {10, 40, 300}) {
        CAPTURE(items);
        auto const [reads, writes] = cost_of_hooks(10, items);
        MESSAGE(items << " items: " << reads << " reads, " << writes << " writes");
        CHECK(reads <= 8 * 10 + 3);
        CHECK(writes <= 2 * 10 + 3);
    }
}

TEST_CASE("rounds: an instance that dies, leaves or loses its session during a round is replaced by another") {
    for (auto const what : {fault_kind::crash, fault_kind::leave, fault_kind::expire})
        for (std::uint32_t node = 0; node < 3; ++node) {
            CAPTURE(name_of(what));
            CAPTURE(node);
            world w{1, 5, 3s};
            w.s.start_all();
            w.s.run_for(11s);
            w.s.inject({.what = what, .node = node, .span = 5s});
            w.s.run_for(58s);
            auto const runs = runs_of(w.s.view());
            CHECK(runs.size() == 6);
            for (auto const& [due, r] : runs) {
                CHECK(w.seen->before[due].size() == 1);
                REQUIRE(w.seen->behind[due].size() == 1);
                CHECK(w.seen->behind[due].front() >= r.last);
            }
            CHECK(w.missed() == 0);
            CHECK(w.open_rounds() == 0);
            CHECK_MESSAGE(w.s.violations().empty(), w.s.transcript());
        }
}

TEST_CASE("rounds: a round that is over stays over, even if it is the next one") {
    world w;
    w.s.start_all();
    w.s.run_for(45s);
    REQUIRE(w.seen->before.size() == 4);
    auto const next = w.seen->before.rbegin()->first + 10s;
    auto const over = std::chrono::floor<std::chrono::milliseconds>(next.time_since_epoch()).count();
    test::console by_hand{w.s};
    by_hand.set(w.s.layout(0).rounds(), std::to_string(over));
    w.s.run_for(20s);
    CHECK(runs_of(w.s.view())[next].count == 5);
    CHECK(w.seen->before.count(next) == 0);
    CHECK(w.seen->before.count(next + 10s) == 1);
    CHECK(w.missed() == 6); // both hooks, by each instance
}

TEST_CASE("rounds: a node whose name is not an instant is not a round") {
    world w;
    w.s.start_all();
    w.s.run_for(15s); // the first round has made the parent
    test::console by_hand{w.s};
    for (auto const* name : {"9223372036854775807", "-9223372036854775808", "nonsense"})
        by_hand.create(w.s.layout(0).round(name));
    w.s.inject({.what = fault_kind::disable_item, .count = 2}); // so that instances look for rounds of others
    w.s.run_for(30s);
    CHECK(w.seen->behind.size() == 4);
    CHECK(w.missed() == 0);
}

TEST_CASE("rounds: when all leave, the last round is brought to its end") {
    for (bool const is_at_once : {false, true})
        for (auto const at : {10'500ms, 10'999ms, 11'001ms, 11'500ms}) {
            CAPTURE(is_at_once);
            CAPTURE(at.count());
            world w;
            w.s.start_all();
            w.s.run_for(at);
            for (std::uint32_t n = 0; is_at_once && n < 3; ++n) w.s.inject({.what = fault_kind::leave, .node = n});
            w.s.run_for(10s);
            w.s.stop_all();
            CHECK(w.open_rounds() == 0);
            CHECK(w.seen->before.size() == w.seen->behind.size());
            CHECK(w.missed() == 0);
        }
}

TEST_CASE("rounds: items that begin before the hook because the registry is slow are reported") {
    world w{1, 5, 1s, 1s};
    w.s.start_all();
    w.s.run_for(15s);
    for (std::uint32_t n = 0; n < 3; ++n) w.s.inject({.what = fault_kind::slow_network, .node = n, .span = 40s});
    w.s.run_for(60s);
    std::set<std::string> told;
    for (auto const& o : w.s.view().log)
        if (o.what == kind::trouble && *o.failure == errc::round_missed) told.insert(o.failure->where);
    std::size_t early = 0;
    for (auto const& [due, r] : runs_of(w.s.view())) {
        auto const called = w.seen->before.find(due);
        if (called != w.seen->before.end() && called->second.front() <= r.first) continue;
        ++early;
        auto const ms = std::chrono::floor<std::chrono::milliseconds>(due.time_since_epoch()).count();
        CHECK(told.count("/a/ext/rounds/" + std::to_string(ms)) == 1);
    }
    CHECK(early > 0);
}

TEST_CASE("rounds: a registry that lets no round begin is reported once, and the requests stay few") {
    world w{1, 5, 1s, 2s};
    w.s.start_all();
    w.s.run_for(60s);
    auto const begun = w.seen->before.size();
    w.s.server().set_read_only(w.s.layout(0).rounds(), true);
    w.s.run_for(15min); // more rounds than one instance attends to
    auto const before = w.s.server().counts().all();
    w.s.run_for(5min);
    auto const requests = w.s.server().counts().all() - before;
    CHECK(requests < 3 * 300 * 35); // in 6.4 s, at most three for each of 64 rounds, and those of the runs
    std::size_t refusals = 0;
    for (auto const& o : w.s.view().log)
        refusals += o.what == kind::trouble && o.failure && *o.failure == errc::no_auth;
    CHECK(refusals == 3); // one for each instance
    CHECK(w.seen->before.size() == begun);
    CHECK(w.missed() > 90 * 2); // both hooks of each round
    w.s.server().set_read_only(w.s.layout(0).rounds(), false);
    w.s.run_for(5min);
    auto const again = w.seen->behind.size();
    w.s.run_for(60s);
    CHECK(w.seen->behind.size() == again + 6);
    CHECK(w.open_rounds() <= 1);
}

TEST_CASE("rounds: a run that is tried again after 64 later rounds have not begun is not held up, and reported") {
    auto const seen = std::make_shared<calls>();
    simulation_options o;
    o.scheduler.round_start_timeout = 10ms;
    cluster s{1, o, Listeners<recorder>{recorder{seen}}};
    seen->world = &s.world();
    bool fails = false;
    std::size_t retried = 0;
    job_config c;
    c.name = "a";
    c.cron = "* * * * * ?";
    c.sharding_total_count = 2;
    c.retry = {.attempts_max = 2, .pause = 100s, .pause_max = 100s, .spread_percent = 0};
    s.add_job(std::move(c), [&](sharding_context const& x) {
        retried += x.attempt > 1;
        bool const is_bad = x.item == 0 && fails && x.attempt == 1;
        return simulated_run{.duration = 1ms,
                             .outcome = is_bad ? result<void>{error{errc::job_failed, "x"}} : success()};
    });
    s.add_nodes(1);
    s.start_all();
    s.run_for(20s);
    s.server().set_read_only(s.layout(0).rounds(), true);
    fails = true;
    s.run_for(160s);
    CHECK(retried > 0);
    std::size_t missed = 0;
    for (auto const& t : s.view().log)
        missed += t.what == kind::trouble && t.failure && *t.failure == errc::round_missed;
    CHECK(missed > 2 * 60);
}

TEST_CASE("rounds: a job whose items are each due at times of their own has no rounds, and is refused") {
    world w{1, 5, 1s, 5s, {job_schedule::fixed_delay(2s)}};
    w.s.start_all();
    w.s.run_for(30s);
    std::size_t refused = 0;
    for (auto const& o : w.s.view().log) {
        CHECK(o.what != kind::started);
        if (o.failure && *o.failure == errc::invalid_config) {
            ++refused;
            CHECK(o.failure->what.find("rounds") != std::string::npos);
        }
    }
    CHECK(refused == 3);
    CHECK(!w.s.server().tree().find(w.s.layout(0).root()));
}

// ---- Items that start together (GU-9).

namespace {

/// Six items on three nodes, due every ten seconds. The last one is busy for longer than that.
struct together : world {
    explicit together(std::uint64_t seed = 1, bool starts_together = true, std::chrono::milliseconds longest = 13s)
        : world{seed, 6, 1s, 8s, {}, starts_together} {
        lasts[5] = longest;
    }

    /// When the first and the last body of each round began.
    std::map<wall_time, std::pair<mono_time, mono_time>> begun() const {
        std::map<wall_time, std::pair<mono_time, mono_time>> all;
        for (auto const& o : s.view().log) {
            if (o.what != kind::body_began) continue;
            auto const [at, is_new] = all.try_emplace(o.due, o.at, o.at);
            at->second.second = o.at;
        }
        return all;
    }
};

} // namespace

TEST_CASE("rounds: items that start together wait for the busy one, and the hook is called when all are ready") {
    for (bool const starts_together : {true, false}) {
        CAPTURE(starts_together);
        together w{1, starts_together};
        w.s.start_all();
        w.s.run_for(25s);
        auto const begun = w.begun();
        REQUIRE(begun.size() == 2);
        auto const [first, last] =
            begun.rbegin()->second; // of the second round: the last item ends its first run 3 s late
        if (starts_together) {
            CHECK(last - first < 200ms);
            CHECK(first - w.seen->before.begin()->second.front() > 12s);
        } else {
            CHECK(last - first > 2s);
        }
        for (auto const& [due, at] : w.seen->before) {
            CHECK(at.size() == 1);
            CHECK(at.front() <= begun.at(due).first);
        }
        CHECK(w.missed() == 0);
        CHECK_MESSAGE(w.s.violations().empty(), w.s.transcript());
    }
}

TEST_CASE("rounds: an item that is not ready in time does not delay the others any longer, and that is reported") {
    together w{1, true, 35s};
    w.s.start_all();
    w.s.run_for(39s);
    auto const begun = w.begun();
    REQUIRE(begun.size() == 3);
    auto const waited = begun.rbegin()->second.first - begun.begin()->second.first;
    CHECK(waited > 20s + 7s);
    CHECK(waited < 20s + 9s);
    CHECK(w.seen->before.size() == 1); // in the other rounds it was not called
    CHECK(w.missed() >= 2);
    CHECK_MESSAGE(w.s.violations().empty(), w.s.transcript());
}

TEST_CASE("rounds: items that change hands while they wait for the others do not delay them (GU-9)") {
    together w;
    w.s.add_nodes(1);
    w.s.set_member(3, 0, false);
    w.s.start_all();
    w.s.run_for(21s);
    REQUIRE(w.begun().size() == 1); // the second round waits for the last item
    w.lasts[5] = 2s;
    w.s.inject({.what = fault_kind::join, .node = 3}); // the last item begins again, elsewhere
    w.s.run_for(5s);                                   // the time-out of the round comes later
    CHECK(w.begun().size() == 2);
    CHECK(w.seen->before.size() == 2);
    CHECK(w.missed() == 0);
    CHECK_MESSAGE(w.s.violations().empty(), w.s.transcript());
}

TEST_CASE("rounds: an instance that dies while the others wait for it, or that holds the round, is replaced") {
    for (auto const what : {fault_kind::crash, fault_kind::leave, fault_kind::expire})
        for (std::uint32_t node = 0; node < 3; ++node) {
            CAPTURE(name_of(what));
            CAPTURE(node);
            together w;
            w.s.start_all();
            w.s.run_for(21s); // the second round waits for the last item
            w.s.inject({.what = what, .node = node, .span = 5s});
            w.s.run_for(40s);
            for (auto const& [due, when] : w.begun()) {
                auto const called = w.seen->before.find(due);
                if (called == w.seen->before.end()) continue;
                CHECK(called->second.size() == 1);
            }
            CHECK(w.begun().size() >= 5);
            CHECK(w.begun().size() - w.seen->before.size() <= w.missed());
            CHECK_MESSAGE(w.s.violations().empty(), w.s.transcript());
        }
}

TEST_CASE("rounds: whatever a seed does, items that start together do start, and no hook is called twice") {
    for (std::uint64_t seed = 1; seed <= 12; seed += test::tries_apart) {
        CAPTURE(seed);
        together w{seed};
        w.s.play(make_fault_plan(seed, 2min, w.s.targets()));
        CHECK_MESSAGE(w.s.violations().empty(), w.s.transcript());
        for (auto const& [due, at] : w.seen->before) CHECK(at.size() == 1);
    }
}

TEST_CASE("simulation.rounds: a process that stood still does not call before_round after the round's runs (GU-3)") {
    auto patience = 5s;
    SUBCASE("when its time for the call is over") {}
    SUBCASE("when there is time left, but its session has ended") { patience = 60s; }
    std::size_t stood_still = 0;
    for (std::uint32_t node = 0; node < 3; ++node)
        for (std::chrono::milliseconds at{0}; at < 25ms; ++at) {
            world w{static_cast<std::uint64_t>(at.count() + 1), 3, 100ms, patience};
            auto const due = simulation_options{}.start + 10s;
            w.s.start_all();
            w.s.run_for(10s + at);
            w.s.inject({.what = fault_kind::pause, .node = node, .span = 25s});
            w.s.run_for(40s);
            auto const& before = w.seen->before[due];
            auto const& behind = w.seen->behind[due];
            stood_still += before.empty();
            CAPTURE(node);
            CAPTURE(at.count());
            CHECK(before.size() + behind.size() <= 2);
            if (!before.empty() && !behind.empty()) CHECK(before.back() <= behind.front());
        }
    CHECK(stood_still > 0); // a process stood still before it had called the hook
}
