// SPDX-License-Identifier: Apache-2.0
// The name that all events of a run share. It tells a sink that they belong together.
#include <support/cluster.hpp>

#include <doctest/doctest.h>

#include <set>

using namespace elasticjob;
using namespace elasticjob::test;

TEST_CASE("scheduler.item_runs: all events of a run carry the same name, and no other run has it") {
    cluster c;
    auto& m = c.add();
    REQUIRE(m.schedule(make_job("settle", "0/5 * * * * ?", 3)));
    c.run_for(21s);
    std::set<std::uint64_t> numbers;
    std::size_t started = 0;
    for (item_index i = 0; i < 3; ++i) {
        auto const begun = c.all(heard::kind::started, i);
        auto const ended = c.all(heard::kind::finished, i);
        REQUIRE(begun.size() == ended.size());
        REQUIRE(begun.size() >= 4);
        for (std::size_t n = 0; n < begun.size(); ++n, ++started) {
            CHECK(begun[n].run == ended[n].run);
            CHECK(begun[n].task_id == "settle@-@0,1,2@-@READY@-@" + m.id("settle"));
            CHECK(ended[n].task_id == begun[n].task_id);
            CHECK(begun[n].begun == begun[n].told_at);
            CHECK(ended[n].begun == begun[n].begun);
            CHECK(ended[n].told_at >= ended[n].begun);
            CHECK(begun[n].told_at >= begun[n].due);
            CHECK(begun[n].told_at < begun[n].due + 100ms);
            numbers.insert(begun[n].run);
        }
    }
    CHECK(numbers.size() == started);
    CHECK(*numbers.begin() == 1);
}

TEST_CASE("scheduler.item_runs: a run that the pool refuses is reported as skipped under the name of its start") {
    cluster c;
    auto& m = c.add();
    REQUIRE(m.schedule(make_job("settle", "0/5 * * * * ?", 1)));
    c.run_for(1s);
    m.refuses = true;
    c.run_for(5s);
    auto const begun = c.all(heard::kind::started, 0);
    auto const skipped = c.all(heard::kind::skipped, 0);
    REQUIRE(begun.size() == 1);
    REQUIRE(skipped.size() == 1);
    CHECK(skipped[0].run == begun[0].run);
    CHECK(skipped[0].run == 1);
    CHECK(skipped[0].task_id == begun[0].task_id);
    CHECK(skipped[0].begun == begun[0].begun);
}

TEST_CASE("scheduler.item_runs: a skip that concerns no run names none") {
    cluster c;
    REQUIRE(c.add().schedule(make_job("settle", "0/5 * * * * ?", 1)));
    c.run_for(1s);
    c.create("/settle/sharding/0/disabled");
    c.run_for(5s);
    auto const skipped = c.all(heard::kind::skipped, 0);
    REQUIRE(skipped.size() == 1);
    CHECK(skipped[0].run == 0);
    CHECK(skipped[0].task_id.empty());
}

TEST_CASE("scheduler.job: each state that the session enters is reported once") {
    cluster c;
    auto& m = c.add();
    REQUIRE(m.schedule(make_job("settle", never, 1)));
    c.run_for(1s);
    CHECK(c.count(heard::kind::session) == 0); // it was connected when it joined
    m.registry.disconnect();
    c.run_for(1s);
    m.registry.reconnect();
    c.run_for(5s);
    std::vector<std::string> states;
    for (auto const& h : c.log)
        if (h.what == heard::kind::session) states.push_back(h.text);
    CHECK(states == std::vector<std::string>{"suspended", "connected"});
    CHECK(c.count(heard::kind::joined) == 1);
}
