// SPDX-License-Identifier: Apache-2.0
// Scenarios that users of such schedulers have suffered from, under the numbers of the list that promises them. Each is
// short and makes one point; soak_test.cpp covers unforeseen ones. This file covers failures of networks, registries
// and processes. Failures of bodies and people are in acceptance_operation_test.cpp, 9 is in cycles_test.cpp.
#include <simulation/scene.hpp>
#include <simulation/seeds.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

using namespace elasticjob;
using namespace elasticjob::test;
using namespace elasticjob::testing;

namespace {

/// A database that keeps to the rule: it refuses a write whose token is smaller than the stored one.
std::map<std::pair<item_index, wall_time>, int> commits(scene const& c) {
    std::map<std::pair<item_index, wall_time>, int> accepted;
    std::map<item_index, std::int64_t> fence;
    for (auto const& o : c.all(kind::body_ended)) {
        if (o.failure || o.token < fence[o.item]) continue;
        fence[o.item] = o.token;
        ++accepted[{o.item, o.due}];
    }
    return accepted;
}

} // namespace

TEST_CASE("acceptance 1: an owner cut off for three session time-outs during a run commits nothing") {
    for (bool const listens : {true, false}) {
        INFO("the body listens: " << listens);
        auto const body = [listens](sharding_context const& ctx) {
            return simulated_run{.duration = ctx.item == 0 && ctx.attempt == 1 ? 45s : 3s,
                                 .stops_after = listens ? std::chrono::nanoseconds{100ms} : simulated_run::never};
        };
        scene c{make_job("0 * * * * ?", 2), body, 3};
        c.begin(62s);
        auto const due = c.in(1min);
        auto const cut_off = c.owner_of(0);
        c.inject({.what = fault_kind::partition, .node = cut_off, .span = 3 * session_timeout});
        c.s.run_for(5min);

        std::vector<observation> runs, ends;
        for (auto const& o : c.all(kind::started, 0))
            if (o.due == due) runs.push_back(o);
        for (auto const& o : c.all(kind::body_ended, 0))
            if (o.due == due) ends.push_back(o);
        REQUIRE(runs.size() == 2);
        REQUIRE(ends.size() == 2);
        CHECK(runs[0].node == cut_off);
        CHECK(runs[1].node != cut_off);
        CHECK(runs[1].source == run_source::failover);
        CHECK(runs[1].token > runs[0].token);
        if (listens) CHECK(ends[0].at <= runs[1].at); // it had stopped before any other instance could begin
        if (!listens) CHECK(ends[1].node == cut_off); // it ends last, and its writes are refused
        auto const fenced = c.all(kind::fenced);
        REQUIRE(fenced.size() == 1);
        CHECK(fenced[0].node == cut_off);
        CHECK(fenced[0].due == due);

        auto const accepted = commits(c);
        for (item_index i = 0; i < 2; ++i)
            for (auto t = 1min; t <= 5min; t += 1min) {
                INFO("item " << i << ", minute " << t.count());
                CHECK(accepted.contains({i, c.in(t)}));
                CHECK(accepted.at({i, c.in(t)}) == 1);
                CHECK(c.entries(i, c.in(t), run_outcome::completed) == 1);
            }
        CHECK(c.wrong() == "");
    }
}

TEST_CASE(
    "acceptance 2: a registry that restarts every ten seconds for an hour fails nothing over and delays nothing") {
    auto const body = [](sharding_context const& ctx) {
        return simulated_run{.duration = ctx.item == 2 ? 1500ms : 30ms};
    };
    scene c{make_job("0/5 * * * * ?", 3), body, 3};
    c.begin(4980ms);
    std::vector<std::int64_t> sessions;
    for (auto const& n : c.view().nodes) sessions.push_back(n.session);
    auto const led_since = c.view().find(c.at.leader_instance())->stat.created;
    auto const from = c.so_far();
    // It is away for two seconds. Not quite ten from one to the next, so that one after another meets each request by
    // which runs begin and end.
    for (int n = 0; n < 360; ++n) {
        for (std::uint32_t node = 0; node < 3; ++node) {
            c.inject({.what = fault_kind::partition, .node = node, .span = 2s});
            c.inject({.what = fault_kind::reset, .node = node});
        }
        c.s.run_for(10s + 200us);
    }
    for (std::uint32_t node = 0; node < 3; ++node) CHECK(c.view().nodes[node].session == sessions[node]);
    CHECK(c.view().find(c.at.leader_instance())->stat.created == led_since);
    for (auto const k : {kind::joined, kind::left, kind::process_ended, kind::share, kind::resharded, kind::fenced,
                         kind::skipped, kind::misfired, kind::trouble})
        CHECK_MESSAGE(c.count(k, {}, from) == 0, name_of(k));
    for (item_index i = 0; i < 3; ++i) {
        auto const runs = c.all(kind::started, i), ends = c.all(kind::finished, i);
        auto last = c.in(0s);
        std::chrono::nanoseconds latest{};
        std::size_t disturbed = 0, stopped = 0;
        for (std::size_t n = 0; n < ends.size(); ++n) {
            disturbed += runs[n].source != run_source::schedule || runs[n].due - last != 5s; // each instant, in turn
            last = runs[n].due;
            latest = std::max(latest, c.lateness(runs[n]));
            // The lease of a run counts from the request that began it. Where the reply went down with the server,
            // little is left of it, and the run may be asked to stop.
            if (ends[n].failure && c.lateness(runs[n]) < 2s) ++stopped;
        }
        CHECK(disturbed == 0);
        CHECK(stopped == 0);
        CHECK(latest < 5s);
        CHECK(latest > 1s); // or there was no restart
        CHECK(last >= c.in(1h));
    }
    CHECK(c.wrong() == "");
}

TEST_CASE("acceptance 3: whichever reply is lost, nothing runs twice and nothing stands still") {
    simulation_options o;
    o.settle = 3s;
    o.watch = 9s;
    // A member's whole life: joining, sharding, runs, edits, an order, leaving and coming back.
    auto plan = parse_fault_plan("0 lose_reply; 6000 set_items count=3; 8000 trigger; 11000 set_items count=2; "
                                 "12000 leave node=1; 13000 join node=1")
                    .value();
    auto const play = [&](std::uint32_t node, std::uint32_t calls) {
        plan[0].node = node;
        plan[0].count = calls;
        auto c = std::make_unique<scene>(make_job("0/5 * * * * ?", 2), lasting(500ms), 2, o);
        c->s.play(plan, 14s);
        return c;
    };
    auto const story = [](scene const& c) {
        auto const text = c.s.transcript();
        return text.substr(text.find('\n', text.find("lose_reply"))); // behind the line that reports the fault
    };
    for (std::uint32_t node = 0; node < 2; ++node) {
        auto const undisturbed = story(*play(node, 1'000'000));
        std::uint32_t calls = 0;
        // Some lost replies have no effect. After several of them the fault lies after the node's last request.
        for (int unmissed = 0; unmissed < 8; calls += tries_apart) {
            INFO("the reply to request " << calls << " of node " << node);
            auto const played = play(node, calls);
            auto const& c = *played;
            REQUIRE(c.wrong() == "");
            unmissed = story(c) == undisturbed ? unmissed + 1 : 0;
            std::map<std::pair<item_index, wall_time>, int> runs;
            for (auto const& r : c.all(kind::body_began)) ++runs[{r.item, r.due}];
            for (auto const& [run, times] : runs) CHECK(times == 1);
            CHECK(c.count(kind::fenced) == 0);
            for (item_index i = 0; i < 2; ++i)
                for (auto t = 5s; t <= 25s; t += 5s) CHECK(runs.contains({i, c.in(t)}));
        }
        MESSAGE(calls << " requests of node " << node);
        CHECK(calls > 80);
    }
}

TEST_CASE(
    "acceptance 4: a leader that dies between any two steps of a sharding leaves no item without an owner for long") {
    int deaths = 0;
    for (bool const is_cut_in_parts : {false, true})
        for (std::uint32_t const edited : {9U, 4U})
            for (auto const moment : {fault_kind::crash_before, fault_kind::crash_after})
                for (std::uint32_t step = 0;; ++step) {
                    INFO("to " << edited << " items, " << name_of(moment) << " " << step
                               << (is_cut_in_parts ? ", in parts" : ""));
                    simulation_options o;
                    if (is_cut_in_parts) o.server.limits.operations_max = 18;
                    scene c{make_job(never, edited == 9 ? 4 : 9), lasting(0s), 3, o};
                    c.begin(5s);
                    auto const leader = c.leader();
                    REQUIRE(leader < 3);
                    c.inject({.what = moment, .node = leader, .span = 1h, .count = step});
                    c.inject({.what = fault_kind::set_items, .count = edited});
                    for (int n = 0; n < 200 && c.count(kind::process_killed) == 0; ++n) c.s.run_for(100ms);
                    if (c.count(kind::process_killed) == 0) break; // it had done all its work
                    ++deaths;
                    auto const died = c.all(kind::process_killed)[0].at;
                    c.s.run_for(died + takeover_bound - c.s.world().now());
                    CHECK(c.has_live_owners(edited));
                    CHECK(c.view().server.tree().children(c.at.sharding()).size() == edited);
                    auto const now_leads = c.leader();
                    REQUIRE(now_leads < 3);
                    CHECK(now_leads != leader);
                    auto const from = c.so_far();
                    c.inject({.what = fault_kind::trigger, .node = now_leads});
                    c.s.run_for(1min);
                    CHECK(c.has_live_owners(edited));
                    for (item_index i = 0; i < 9; ++i)
                        CHECK(c.count(kind::body_began, i, from) == (i < edited ? 1 : 0));
                    CHECK(c.wrong() == "");
                }
    MESSAGE(deaths << " deaths");
    CHECK(deaths > 20);
}

TEST_CASE("acceptance 5: an instance that takes over an item may die too, again and again, and the run ends once") {
    SUBCASE("all but the last die in the middle of their run") {
        scene c{make_job("0 0 * * * ?", 1), lasting(20s), 5};
        c.begin(1h + 2s);
        for (std::uint32_t deaths = 1; deaths < 5; ++deaths) {
            auto const runs = c.all(kind::body_began);
            REQUIRE(runs.size() == deaths);
            c.inject({.what = fault_kind::crash, .node = runs.back().node, .span = 10h});
            c.s.run_for(takeover_bound);
        }
        c.s.run_for(10min);
        CHECK(c.count(kind::body_began) == 5);
        CHECK(c.count(kind::body_ended) == 1);
        CHECK(c.entries(0, c.in(1h), run_outcome::retried) == 4);
        CHECK(c.entries(0, c.in(1h), run_outcome::completed) == 1);
        CHECK(c.record(0).ledger.back().run.attempt == 5);
        CHECK(c.wrong() == "");
    }
    SUBCASE("the instances that are left may die at any step of taking over") {
        int deaths = 0;
        for (auto const moment : {fault_kind::crash_before, fault_kind::crash_after})
            for (std::uint32_t step = 0;; ++step) {
                INFO(name_of(moment) << " " << step);
                scene c{make_job("0 0 * * * ?", 1), lasting(2s), 4};
                c.begin(1h + 1s);
                auto const first = c.owner_of(0);
                c.inject({.what = fault_kind::crash, .node = first, .span = 10h});
                for (std::uint32_t n = 0; n < 4; ++n)
                    if (n != first) c.inject({.what = moment, .node = n, .span = 10h, .count = step});
                c.s.run_for(takeover_bound);
                auto const killed = c.count(kind::process_killed);
                if (killed == 1) break;
                deaths += static_cast<int>(killed) - 1;
                c.s.end_faults();
                c.s.run_for(3 * takeover_bound);
                if (killed == 4) c.begin(takeover_bound); // none was left: the returning instances see to it
                CHECK(c.entries(0, c.in(1h), run_outcome::completed) == 1);
                CHECK_FALSE(c.record(0).running);
                CHECK(c.wrong() == "");
            }
        MESSAGE(deaths << " deaths");
        CHECK(deaths > 20);
    }
}
