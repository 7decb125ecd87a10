// SPDX-License-Identifier: Apache-2.0
#include <laws/registry/model.hpp>

#include <support/memory_world.hpp>

#include <doctest/doctest.h>

#include <cstdint>

using namespace elasticjob;

TEST_CASE("registry.laws: a lost write has happened as a whole or not at all, whatever a network does") {
    test::FaultyWorld::counts met;
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        test::FaultyWorld world{seed};
        auto const report = laws::check_writes(world, seed, 60);
        CHECK_MESSAGE(report.holds(), "seed ", seed, ": ", report.broken);
        met.requests_lost += world.faults().requests_lost;
        met.replies_lost += world.faults().replies_lost;
        met.interruptions += world.faults().interruptions;
        met.expiries += world.faults().expiries;
    }
    CHECK(met.requests_lost > 1000);
    CHECK(met.replies_lost > 1000);
    CHECK(met.interruptions > 1000);
    CHECK(met.expiries > 1000);
}
