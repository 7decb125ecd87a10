// SPDX-License-Identifier: Apache-2.0
#include <testing/simulated_world.hpp>

#include <laws/registry.hpp>

#include <doctest/doctest.h>

#include <string>

using namespace elasticjob;

static_assert(laws::world_that_expires<test::SimulatedWorld>);
static_assert(laws::world_that_disconnects<test::SimulatedWorld>);
static_assert(laws::world_that_loses<test::SimulatedWorld>);

TEST_CASE("testing.simulated_registry: obeys the laws of registries at any latency") {
    for (std::uint64_t seed = 1; seed <= 20; ++seed)
        for (auto const& law : laws::registry_laws<test::SimulatedWorld>()) {
            test::SimulatedWorld world{seed};
            auto const report = law.check(world);
            CHECK_MESSAGE(report.holds(), "seed ", seed, ", ", std::string{law.name}, ": ", report.broken);
        }
}
