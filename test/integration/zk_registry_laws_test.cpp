// SPDX-License-Identifier: Apache-2.0
#include <laws/registry.hpp>

#include <support/zk_world.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <string>

using namespace elasticjob;

static_assert(laws::world_that_expires<test::ZkWorld>);
static_assert(laws::world_that_disconnects<test::ZkWorld>);

TEST_CASE("registry.laws: ZooKeeper obeys them") {
    for (auto const& law : laws::registry_laws<test::ZkWorld>()) {
        test::ZkWorld world;
        auto const report = law.check(world);
        CHECK_MESSAGE(report.holds(), std::string{law.name}, ": ", report.broken);
    }
}

TEST_CASE("registry.laws: ZooKeeper and the simple model agree on the effects of random writes") {
    for (std::uint64_t seed = 2; seed <= 4; ++seed) {
        test::ZkWorld world;
        auto const report = laws::check_writes(world, seed, 50);
        CHECK_MESSAGE(report.holds(), "seed ", seed, ": ", report.broken);
    }
}
