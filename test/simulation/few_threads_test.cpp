// SPDX-License-Identifier: Apache-2.0
// Pools with fewer threads than runs: a run may wait long for its body, and lose its item meanwhile.
#include <simulation/scene.hpp>
#include <simulation/seeds.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>

using namespace elasticjob;
using namespace elasticjob::test;
using namespace elasticjob::testing;

namespace {

simulation_options one_thread() {
    simulation_options o;
    o.threads = 1;
    return o;
}

} // namespace

TEST_CASE("few_threads: a run whose item moves while it waits for a thread is called only by the new owner") {
    scene c{make_job("0/20 * * * * ?", 4), lasting(8s), 2, one_thread()};
    c.s.set_member(1, 0, false);
    c.begin(21s); // all four items have begun on the only member, and one body at a time is called
    CHECK(c.all(kind::body_began).size() == 1);
    CHECK(c.all(kind::started).size() == 4);
    c.inject({.what = fault_kind::join, .node = 1});
    c.s.run_for(1min);
    auto const calls = c.all(kind::body_began);
    auto const is_elsewhere = [](observation const& o) { return o.node == 1; };
    CHECK(std::count_if(calls.begin(), calls.end(), is_elsewhere) > 0);
    for (auto const& o : calls) CHECK(o.text == "");
    CHECK(c.wrong() == "");
}

TEST_CASE("few_threads: nothing goes wrong with one or two threads in each process") {
    explored(seeds(40), [](std::uint64_t seed) {
        random_source random{seed * 86'028'157};
        simulation_options o;
        o.threads = 1 + random.next() % 2;
        o.scheduler.drain_timeout = 2s;
        auto s = std::make_unique<simulation<>>(seed, o);
        auto job = make_job("0/10 * * * * ?", static_cast<int>(2 + random.next() % 4));
        job.failover = random.next() % 2 == 0;
        if (random.next() % 3 == 0) job.run_time_limit = 5s;
        s->add_job(job, [random](sharding_context const&) mutable {
            simulated_run r;
            r.duration = std::chrono::milliseconds{random.next() % 6'000};
            r.stops_after = random.next() % 2 == 0 ? simulated_run::never : std::chrono::nanoseconds{1s};
            return r;
        });
        s->add_nodes(3);
        return s;
    });
}
