// SPDX-License-Identifier: Apache-2.0
#include <laws/registry.hpp>

#include <elasticjob/registry/memory_registry.hpp>
#include <elasticjob/registry/registry_ref.hpp>

#include <support/memory_world.hpp>

#include <doctest/doctest.h>

#include <string>
#include <type_traits>

using namespace elasticjob;

static_assert(laws::world_that_expires<test::MemoryWorld>);
static_assert(laws::world_that_disconnects<test::MemoryWorld>);
static_assert(laws::world_that_loses<test::MemoryWorld>);

// The laws call each registry through a reference, so they hold for references, too. A reference takes registries with
// its loop, and no temporary.
static_assert(std::is_convertible_v<MemoryRegistry&, registry_ref<event_loop>>);
static_assert(!std::is_convertible_v<MemoryRegistry&, registry_ref<virtual_loop>>);
static_assert(!std::is_convertible_v<MemoryRegistry, registry_ref<event_loop>>);
static_assert(!std::is_convertible_v<event_loop&, registry_ref<event_loop>>);

TEST_CASE("registry.laws: the in-memory registry obeys them in virtual time") {
    for (auto const& law : laws::registry_laws<test::MemoryWorld>()) {
        test::MemoryWorld world;
        auto const report = law.check(world);
        CHECK_MESSAGE(report.holds(), std::string{law.name}, ": ", report.broken);
    }
}
