// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/registry/registry_ref.hpp>

#include <laws/registry.hpp>

#include <elasticjob/registry/memory_registry.hpp>
#include <support/memory_world.hpp>

#include <doctest/doctest.h>

#include <string>
#include <type_traits>

using namespace elasticjob;

namespace {

/// MemoryWorld, seen through references.
class referred_world {
public:
    using registry_type = registry_ref<virtual_loop>;

    registry_type& registry() noexcept { return first_; }
    registry_type& second() noexcept { return second_; }
    std::chrono::milliseconds limit() const { return world_.limit(); }
    task<> end_second() { return world_.end_second(); }
    task<> expire(registry_type& r) { return world_.expire(referred(r)); }
    task<> disconnect(registry_type& r) { return world_.disconnect(referred(r)); }
    task<> reconnect(registry_type& r) { return world_.reconnect(referred(r)); }
    void lose_next_write(request_fate fate) { world_.lose_next_write(fate); }

private:
    test::MemoryWorld::registry_type& referred(registry_type& r) {
        return &r == &first_ ? world_.registry() : world_.second();
    }

    test::MemoryWorld world_;
    registry_type first_{world_.registry()}, second_{world_.second()};
};
static_assert(laws::world_that_expires<referred_world> && laws::world_that_disconnects<referred_world> &&
              laws::world_that_loses<referred_world>);

// A reference takes registries with its loop, and no temporary.
static_assert(std::is_convertible_v<MemoryRegistry&, registry_ref<event_loop>>);
static_assert(!std::is_convertible_v<MemoryRegistry&, registry_ref<virtual_loop>>);
static_assert(!std::is_convertible_v<MemoryRegistry, registry_ref<event_loop>>);
static_assert(!std::is_convertible_v<event_loop&, registry_ref<event_loop>>);

} // namespace

TEST_CASE("registry.laws: a reference to a registry obeys them") {
    for (auto const& law : laws::registry_laws<referred_world>()) {
        referred_world world;
        auto const report = law.check(world);
        CHECK_MESSAGE(report.holds(), std::string{law.name}, ": ", report.broken);
    }
}
