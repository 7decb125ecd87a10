// SPDX-License-Identifier: Apache-2.0
// A machine that is suspended and wakes up: its monotonic clock has stood still, and the registry's has not.
#include <simulation/scene.hpp>
#include <simulation/seeds.hpp>

#include <doctest/doctest.h>

#include <memory>

using namespace elasticjob;
using namespace elasticjob::test;
using namespace elasticjob::testing;

namespace {

std::size_t stopped(scene const& w, std::uint32_t node, std::size_t from) {
    std::size_t n = 0;
    for (auto const& o : w.all(kind::body_ended, {}, from)) n += o.node == node;
    return n;
}

} // namespace

TEST_CASE("suspended machine: its runs are asked to stop within a tenth of the session time-out after it wakes up") {
    scene w{make_job(never, 4), lasting(2h), 2};
    w.begin();
    w.inject({.what = fault_kind::trigger});
    w.s.run_for(10s);
    REQUIRE(w.count(kind::body_began) == 4);
    auto const asleep = w.so_far();
    w.inject({.what = fault_kind::partition, .span = 1h}); // so that nothing tells it that its session is over
    w.inject({.what = fault_kind::suspend, .span = 60s});
    w.s.run_for(60s);
    CHECK(stopped(w, 0, asleep) == 0);
    w.s.run_for(session_timeout / 10 + 10ms);
    CHECK(stopped(w, 0, asleep) == 2);
    CHECK(w.count(kind::body_began, {}, asleep) == 2); // the other machine has begun them meanwhile
    CHECK_MESSAGE(w.wrong().empty(), w.wrong());
}

TEST_CASE("suspended machine: one that wakes up in time goes on, and its timers come later by as much") {
    scene w{make_job("0/10 * * * * ?", 2), lasting(1s), 1};
    w.begin();
    w.s.run_for(30s);
    auto const before = w.so_far();
    w.inject({.what = fault_kind::suspend, .span = 5s});
    w.s.run_for(62s);
    CHECK(w.count(kind::started, {}, before) >= 12);
    CHECK(w.count(kind::fenced, {}, before) == 0);
    CHECK_MESSAGE(w.wrong().empty(), w.wrong());
}

TEST_CASE("suspended machine: whatever else happens, all invariants hold") {
    auto o = seeds(60);
    o.rates[fault_kind::suspend] = 20;
    auto const found = explored(o, [](std::uint64_t seed) {
        auto s = std::make_unique<simulation<>>(seed);
        s->add_job(make_job("0/5 * * * * ?", 4), body_type{lasting(seed % 2 == 0 ? 100ms : 3s)});
        s->add_nodes(3);
        return s;
    });
    CHECK(found.seeds > 0);
}
