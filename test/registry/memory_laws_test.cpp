// SPDX-License-Identifier: Apache-2.0
#include <laws/registry.hpp>

#include <support/memory_world.hpp>

#include <doctest/doctest.h>

#include <string>

using namespace elasticjob;

static_assert(laws::world_that_expires<test::MemoryWorld>);
static_assert(laws::world_that_disconnects<test::MemoryWorld>);
static_assert(laws::world_that_loses<test::MemoryWorld>);

TEST_CASE("registry.laws: the in-memory registry obeys them in virtual time") {
    for (auto const& law : laws::registry_laws<test::MemoryWorld>()) {
        test::MemoryWorld world;
        auto const report = law.check(world);
        CHECK_MESSAGE(report.holds(), std::string{law.name}, ": ", report.broken);
    }
}
