// SPDX-License-Identifier: Apache-2.0
// Jobs that come and go many times: ELASTICJOB_CYCLES sets the number.
#include <simulation/seeds.hpp>

#include <support/cluster.hpp>
#include <support/sanitized.hpp>

#include <doctest/doctest.h>

#include <malloc.h>

#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <string>
#include <vector>

using namespace elasticjob;
using namespace elasticjob::test;
using namespace elasticjob::testing;

TEST_CASE("acceptance 9: a job that is created and stopped again and again leaves nothing that grows") {
    auto const* asked = std::getenv("ELASTICJOB_CYCLES");
    int const cycles = asked ? std::atoi(asked) : static_cast<int>(2'000 / tries_apart);
    constexpr int warm_up = 200; // containers reach their size, and the counters of nodes get some digits
    cluster c;
    c.log.reserve(1'000);
    // One member stays and sees the others come and go. One keeps its scheduler. The others keep nothing.
    auto& witness = c.add();
    auto& lasting = c.add();
    auto const job = make_job("settle", never, 3);
    REQUIRE(witness.schedule(job));
    c.run_for(1s);
    auto const come_and_go = [&](member& m) {
        REQUIRE(m.schedule(job));
        c.run_for(100ms); // long enough to be given items
        REQUIRE(c.owner("settle", 0) != c.owner("settle", 1));
        REQUIRE(m.shutdown("settle"));
        c.run_for(100ms);
        REQUIRE(c.owners("settle", 3) == std::vector<std::string>(3, witness.id("settle")));
        c.log.clear();
    };
    auto const cycle = [&](int n) {
        if (n % 2 == 0) return come_and_go(lasting);
        member passing{c, 2 + static_cast<std::size_t>(n), "10.0.0.3"}; // a number of its own: so is its id
        come_and_go(passing);
    };
    auto const nodes = [&] {
        std::size_t all = 0;
        c.server.tree().for_each([&](std::string const&, node const&) { ++all; });
        return all;
    };
    for (int n = 0; n < warm_up; ++n) cycle(n);
    auto const nodes_before = nodes();
    [[maybe_unused]] auto const bytes_before = mallinfo2().uordblks;
    auto const begin = std::chrono::steady_clock::now();
    for (int n = 0; n < cycles; ++n) cycle(warm_up + n);
    auto const took = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    MESSAGE(cycles << " cycles, " << took << " s");
    CHECK(nodes() == nodes_before);
    CHECK(c.violations.empty());
#ifndef ELASTICJOB_TEST_SANITIZED // because its allocators keep no such account
    // Watches and timers that are left behind would be in it, and the coroutines that wait for them.
    auto const bytes = static_cast<double>(mallinfo2().uordblks) - static_cast<double>(bytes_before);
    MESSAGE(bytes << " bytes more");
    CHECK(bytes < 4'096);
#endif
    // Nothing waits for its time: no work, and no timer.
    c.loop.run_ready();
    REQUIRE(witness.shutdown("settle"));
    c.run_for(1min);
    CHECK_FALSE(c.loop.step());
}
