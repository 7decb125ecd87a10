// SPDX-License-Identifier: Apache-2.0
// The scenarios of acceptance_test.cpp with bodies and people: bodies that throw and hang, and people who start
// duplicates, give orders, edit, and set clocks.
#include <elasticjob/config/fields.hpp>

#include <simulation/console.hpp>
#include <simulation/scene.hpp>
#include <simulation/seeds.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace elasticjob;
using namespace elasticjob::test;
using namespace elasticjob::testing;

TEST_CASE("acceptance 6: an item that throws or hangs delays no other, and goes on as its policy says") {
    for (auto const rule : {misfire_rule::skip, misfire_rule::once, misfire_rule::all}) {
        INFO("misfire rule " << static_cast<int>(rule));
        auto job = make_job("0/10 * * * * ?", 4);
        job.on_misfire.rule = rule;
        job.misfire = rule != misfire_rule::skip;
        scene* here = nullptr;
        auto const body = [&](sharding_context const& ctx) {
            simulated_run r{.duration = 1s};
            if (ctx.item == 1) r.throws = true;
            if (ctx.item == 2 && ctx.due == here->in(20s)) r = {.duration = 25s, .stops_after = simulated_run::never};
            if (ctx.item == 3) r = {.duration = simulated_run::never, .stops_after = simulated_run::never};
            return r;
        };
        scene c{job, body, 2};
        here = &c;
        c.begin(2min + 5s);
        auto const dues = [&](item_index i) {
            std::vector<int> seconds;
            for (auto const& o : c.all(kind::body_began, i))
                seconds.push_back(static_cast<int>((o.due - c.in(0s)) / 1s));
            return seconds;
        };
        auto const each = std::vector{10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 110, 120};
        for (item_index const i : {0U, 1U}) {
            CHECK(dues(i) == each);
            for (auto const& o : c.all(kind::body_began, i)) CHECK(c.lateness(o) < 100ms);
            CHECK(c.count(kind::finished, i) == 12);
        }
        for (auto const& o : c.all(kind::finished, 1)) CHECK(o.failure->code == errc::job_threw);
        auto const of_2 = dues(2);
        if (rule == misfire_rule::skip) CHECK(of_2 == std::vector{10, 20, 50, 60, 70, 80, 90, 100, 110, 120});
        if (rule == misfire_rule::once) CHECK(of_2 == std::vector{10, 20, 40, 50, 60, 70, 80, 90, 100, 110, 120});
        if (rule == misfire_rule::all) CHECK(of_2 == each);
        CHECK(dues(3) == std::vector{10}); // no instance takes over from one that hangs
        CHECK(c.count(rule == misfire_rule::skip ? kind::skipped : kind::misfired, 3) == 11);
        CHECK(c.wrong() == "");
    }
}

TEST_CASE(
    "acceptance 10: two instances of one address and one process id are two members, and neither takes the other's") {
    scene c{make_job("0/5 * * * * ?", 4), lasting(1s), 0};
    c.s.add_node("10.0.0.1");
    c.s.add_node("10.0.0.1");
    c.begin(8s);
    auto const process_of = [](std::string const& id) { return id.substr(0, id.rfind('-')); };
    CHECK(process_of(c.id(0)) == process_of(c.id(1)));
    CHECK(c.id(0) != c.id(1));
    CHECK(c.view().live_instances("settle").size() == 2);
    std::size_t of_the_first = 0;
    for (item_index i = 0; i < 4; ++i) {
        CHECK(c.count(kind::body_ended, i) == 1);
        of_the_first += c.owner_of(i) == 0;
    }
    CHECK(of_the_first == 2);
    // The two members act separately: one dies, and it is not taken for the one that lives.
    c.s.run_for(2s + 500ms);
    REQUIRE(c.view().runs.size() == 4);
    c.inject({.what = fault_kind::crash, .node = 0, .span = 1h});
    c.s.run_for(30s);
    CHECK(c.view().live_instances("settle").size() == 1);
    std::size_t retried = 0;
    for (item_index i = 0; i < 4; ++i) retried += c.entries(i, c.in(10s), run_outcome::retried);
    CHECK(retried == 2);
    CHECK(c.wrong() == "");
}

TEST_CASE("acceptance 13: an order to run now that comes at a bad moment waits, and is carried out") {
    SUBCASE("during a run: once more, when it has ended") {
        scene c{make_job(never, 2), lasting(3s), 2};
        c.begin();
        for (int n = 0; n < 3; ++n) {
            c.inject({.what = fault_kind::trigger});
            c.s.run_for(1s);
        }
        c.s.run_for(10s);
        for (item_index i = 0; i < 2; ++i) {
            auto const began = c.all(kind::body_began, i), ended = c.all(kind::body_ended, i);
            REQUIRE(began.size() == 2);
            REQUIRE(ended.size() == 2);
            CHECK(began[1].at >= ended[0].at);
        }
        CHECK(c.wrong() == "");
    }
    SUBCASE("while the job is sharded again, because a node joins or items are removed") {
        auto const changes = parse_fault_plan("0 join node=2; 0 set_items count=3").value();
        for (auto const& change : changes)
            for (std::uint64_t seed = 1; seed <= 3; ++seed)
                for (auto moment = 0ms; moment < 20ms; moment += 1ms * tries_apart) {
                    INFO(to_string(change) << ", and a trigger " << moment.count() << " ms later, seed " << seed);
                    scene c{make_job(never, 6), lasting(10ms), 3, {}, seed};
                    c.s.set_member(2, 0, change.what != fault_kind::join);
                    c.begin(5s);
                    auto const from = c.so_far();
                    std::vector<std::uint32_t> owners;
                    for (item_index i = 0; i < 6; ++i) owners.push_back(c.owner_of(i));
                    c.s.inject(change);
                    c.s.schedule_faults({{.at = moment, .what = fault_kind::trigger}});
                    c.s.run_for(5s);
                    auto const count = change.what == fault_kind::set_items ? change.count : 6;
                    for (item_index i = 0; i < count; ++i) {
                        INFO("item " << i);
                        // The new owner repeats a run that the old one had to stop.
                        auto const runs_max = c.owner_of(i) == owners[i] ? 1U : 2U;
                        auto const runs = c.count(kind::started, i, from);
                        CHECK(runs >= 1);
                        CHECK(runs <= runs_max);
                    }
                    CHECK(c.wrong() == "");
                }
    }
    SUBCASE("while every server is disabled: it is carried out when they are enabled again") {
        scene c{make_job(never, 2), lasting(10ms), 2};
        c.begin(5s);
        for (std::uint32_t n = 0; n < 2; ++n) c.inject({.what = fault_kind::disable, .node = n});
        c.s.run_for(5s);
        c.inject({.what = fault_kind::trigger});
        c.s.run_for(1h);
        CHECK(c.count(kind::body_began) == 0);
        for (std::uint32_t n = 0; n < 2; ++n) c.inject({.what = fault_kind::enable, .node = n});
        c.s.run_for(10s);
        for (item_index i = 0; i < 2; ++i) CHECK(c.count(kind::body_ended, i) == 1);
        CHECK(c.wrong() == "");
    }
    SUBCASE("before an item has its first owner") {
        std::size_t early = 0;
        for (auto moment = 1ms; moment < 60ms; moment += 1ms) {
            INFO("a trigger after " << moment.count() << " ms");
            scene c{make_job(never, 2), lasting(10ms), 1};
            console{c.s}.create(c.at.root()); // the creator of a job owns its items at once
            c.s.start_all();
            c.s.run_for(moment);
            if (c.count(kind::joined) == 0) continue; // so no member can receive an order yet
            early += c.count(kind::share) == 0;
            c.inject({.what = fault_kind::trigger});
            c.s.run_for(20s);
            auto const orders = c.count(kind::command);
            for (item_index i = 0; i < 2; ++i) CHECK(c.count(kind::body_ended, i) == orders);
            CHECK(c.wrong() == "");
        }
        CHECK(early > 5);
    }
}

TEST_CASE("acceptance 14: an edit of any field takes effect, or is refused, or says itself that it is for others") {
    std::set<std::string, std::less<>> covered;
    struct seen {
        item_index item;
        wall_time due;
        std::string text;
        std::int64_t token;
    };
    std::vector<seen> runs;
    auto lasts = 500ms;
    auto const body = [&](sharding_context const& ctx) {
        auto text = ctx.parameter + "/" + ctx.job_parameter + "/" + std::to_string(ctx.sharding_total_count);
        runs.push_back({ctx.item, ctx.due, std::move(text), ctx.token});
        return simulated_run{.duration = lasts};
    };
    auto const job = make_job("0/10 * * * * ?", 2);
    // Gives the cluster five seconds before the second instant, when the edit has been made. Node 2 is no member yet.
    auto const edit = [&](std::string_view field, auto const& change, auto const& check) {
        INFO("field " << field);
        covered.insert(std::string{field});
        runs.clear();
        scene c{job, body, 3};
        c.s.set_member(2, 0, false);
        c.begin(14s);
        REQUIRE(runs.size() == 2);
        console by_hand{c.s};
        auto edited = job;
        change(edited);
        by_hand.set(c.at.config(), to_json(edited));
        c.s.run_for(800ms);
        runs.clear();
        check(c);
        CHECK(c.wrong() == "");
    };
    auto const go_on_as_before = [&](scene& c) {
        c.s.run_for(20s);
        REQUIRE(runs.size() == 4);
        for (auto const& r : runs) CHECK(r.text == "//2");
        for (auto const& r : runs) CHECK((r.due == c.in(20s) || r.due == c.in(30s)));
    };
    auto const refused = [&](errc why) {
        return [&, why](scene& c) {
            auto const told = c.all(kind::trouble);
            REQUIRE(told.size() == 2); // by each
            for (auto const& o : told) CHECK(o.failure->code == why);
            go_on_as_before(c);
        };
    };
    /// Fields that concern only other members, or that only a new member has to know. New members are let in.
    auto const kept = [&](scene& c) {
        CHECK(c.count(kind::trouble) == 0);
        go_on_as_before(c);
        c.inject({.what = fault_kind::join, .node = 2});
        c.s.run_for(1s);
        CHECK(c.count(kind::joined) == 3);
    };
    /// It has become another job, so later members are refused.
    auto const conflicts = [&](scene& c) {
        go_on_as_before(c);
        c.inject({.what = fault_kind::join, .node = 2});
        c.s.run_for(1s);
        CHECK(c.count(kind::joined) == 2);
        auto const told = c.all(kind::command);
        REQUIRE(told.size() == 1);
        CHECK(told[0].failure->code == errc::job_conflict);
    };
    auto const reads = [&](std::string_view first, std::string_view second) {
        return [&, first, second](scene& c) {
            c.s.run_for(10s);
            REQUIRE(runs.size() == 2);
            for (auto const& r : runs) CHECK(r.text == (r.item == 0 ? first : second));
        };
    };

    edit(
        "jobName", [](auto& j) { j.name = "other"; }, kept);
    edit(
        "jobClass", [](auto& j) { j.job_class = "other"; }, conflicts);
    edit(
        "jobType", [](auto& j) { j.type = job_type::dataflow; }, conflicts);
    edit(
        "cron", [](auto& j) { j.cron = "5/10 * * * * ?"; },
        [&](scene& c) {
            c.s.run_for(20s);
            REQUIRE(runs.size() == 4);
            for (auto const& r : runs) CHECK((r.due == c.in(25s) || r.due == c.in(15s)));
        });
    edit(
        "cron", [](auto& j) { j.cron = "0 0 0 30 2 ?"; }, refused(errc::cron_never_fires));
    edit(
        "shardingTotalCount", [](auto& j) { j.sharding_total_count = 4; },
        [&](scene& c) {
            c.s.run_for(10s);
            CHECK(runs.size() == 4);
        });
    edit(
        "shardingTotalCount", [](auto& j) { j.sharding_total_count = 0; }, refused(errc::invalid_config));
    edit(
        "shardingItemParameters", [](auto& j) { j.sharding_item_parameters = "0=a,1=b"; }, reads("a//2", "b//2"));
    edit(
        "shardingItemParameters", [](auto& j) { j.sharding_item_parameters = "a"; }, refused(errc::invalid_config));
    edit(
        "jobParameter", [](auto& j) { j.job_parameter = "p"; }, reads("/p/2", "/p/2"));
    edit(
        "failover", [](auto& j) { j.failover = false; },
        [&](scene& c) {
            c.s.run_for(5s + 300ms);
            c.inject({.what = fault_kind::crash, .node = c.owner_of(0), .span = 1h});
            c.s.run_for(takeover_bound);
            c.s.run_for(10s);
            CHECK(c.entries(0, c.in(20s), run_outcome::interrupted) == 1);
        });
    edit(
        "misfire", [](auto& j) { j.misfire = false; },
        [&](scene& c) {
            lasts = 15s;
            c.s.run_for(6s);
            lasts = 500ms;
            c.s.run_for(25s);
            REQUIRE(runs.size() == 4);
            for (auto const& r : runs) CHECK((r.due == c.in(20s) || r.due == c.in(40s)));
        });
    edit(
        "description", [](auto& j) { j.description = "other"; }, kept);
    edit(
        "job_exception_handler", [](auto& j) { j.job_exception_handler = "other"; }, kept);
    edit(
        "executor_service_handler", [](auto& j) { j.executor_service_handler = "other"; }, kept);
    edit(
        "streamingProcess", [](auto& j) { j.streaming_process = true; }, kept);
    edit(
        "scriptCommandLine", [](auto& j) { j.script_command_line = "other"; }, kept);
    edit(
        "monitorExecution",
        [](auto& j) {
            j.monitor_execution = false;
            j.failover = false;
        },
        [&](scene& c) {
            c.s.run_for(10s);
            REQUIRE(runs.size() == 2);
            for (auto const& r : runs) CHECK(r.token == 0);
        });
    edit(
        "maxTimeDiffSeconds", [](auto& j) { j.max_time_diff_seconds = 5; },
        [&](scene& c) {
            c.inject({.what = fault_kind::clock_jump, .node = 0, .span = 10s});
            c.s.run_for(15s);
            auto const told = c.all(kind::trouble);
            REQUIRE(told.size() == 1);
            CHECK(told[0].node == 0);
            CHECK(told[0].failure->code == errc::clock_differs);
        });
    edit(
        "maxTimeDiffSeconds", [](auto& j) { j.max_time_diff_seconds = -2; }, refused(errc::invalid_config));
    edit(
        "monitorPort", [](auto& j) { j.monitor_port = 9888; }, kept);
    edit(
        "monitorPort", [](auto& j) { j.monitor_port = 65536; }, refused(errc::invalid_config));
    edit(
        "jobShardingStrategyClass", [](auto& j) { j.job_sharding_strategy_class = AverageAllocation::name; }, kept);
    edit(
        "jobShardingStrategyClass", [](auto& j) { j.job_sharding_strategy_class = "other"; },
        refused(errc::unknown_strategy));
    edit(
        "reconcileIntervalMinutes", [](auto& j) { j.reconcile_interval_minutes = 1; },
        [&](scene& c) {
            auto const before = c.s.server().counts().reads; // the job itself reads nothing while nothing changes
            c.s.run_for(3min);
            CHECK(c.s.server().counts().reads > before);
        });
    edit(
        "reconcileIntervalMinutes", [](auto& j) { j.reconcile_interval_minutes = 0; },
        [&](scene& c) {
            auto const before = c.s.server().counts().reads;
            c.s.run_for(15min);
            CHECK(c.s.server().counts().reads == before);
        });
    edit(
        "disabled", [](auto& j) { j.disabled = true; },
        [&](scene& c) {
            go_on_as_before(c);
            c.inject({.what = fault_kind::join, .node = 2});
            c.s.run_for(1s);
            CHECK(c.view().data(c.at.server("10.0.0.3")) == server_disabled); // for a new member
            CHECK(c.view().data(c.at.server("10.0.0.1")) == "");
        });
    edit(
        "overwrite", [](auto& j) { j.overwrite = true; }, kept);
    for_each_config_field([&](auto const& field) { CHECK_MESSAGE(covered.contains(field.name), field.name); });
}

TEST_CASE("acceptance 15: a clock that jumps fires its own items by its own time, none twice, and disturbs no other") {
    for (auto const jump :
         {std::chrono::milliseconds{1s}, std::chrono::milliseconds{-1s}, std::chrono::milliseconds{1h},
          std::chrono::milliseconds{-1h}, std::chrono::milliseconds{24h}, std::chrono::milliseconds{-24h}}) {
        INFO("by " << jump.count() << " ms");
        scene c{make_job("0/10 * * * * ?", 3), lasting(500ms), 3};
        c.begin(65s);
        auto const node = c.owner_of(0);
        CHECK(c.count(kind::share) == 6); // of the founder alone, of two members, and of all three
        for (auto const by : {jump, -jump}) {
            c.inject({.what = fault_kind::clock_jump, .node = node, .span = by});
            // Put back by an hour at most, it waits until it has caught up; by more, it does not believe its records.
            if (by < 0s && by >= -1h) c.s.run_for(-by);
            c.s.run_for(1min);
            auto const from = c.so_far();
            auto const ahead = c.view().nodes[node].wall_offset;
            c.s.run_for(2min);
            auto const runs = c.all(kind::started, 0, from);
            CHECK(runs.size() == 12);
            for (auto const& o : runs) {
                CHECK(o.node == node);
                CHECK(o.source == run_source::schedule);
                CHECK(c.lateness(o) + ahead < 100ms);
                CHECK(c.lateness(o) + ahead >= 0s);
            }
        }
        for (item_index i = 0; i < 3; ++i) {
            std::set<wall_time> dues;
            for (auto const& o : c.all(kind::started, i)) {
                CHECK(dues.insert(o.due).second);
                if (i != 0) CHECK(c.lateness(o) < 100ms);
            }
            if (i != 0) CHECK(std::ssize(dues) == (c.view().server.world().wall_now() - c.in(0s)) / 10s);
        }
        for (auto const k : {kind::fenced, kind::trouble}) CHECK(c.count(k) == 0);
        CHECK(c.count(kind::share) == 6); // and none since
        CHECK(c.wrong() == "");
    }
}
