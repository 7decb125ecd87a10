// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/registry/measured_registry.hpp>

#include <laws/registry.hpp>

#include <support/memory_world.hpp>

#include <doctest/doctest.h>

#include <array>
#include <optional>
#include <string>

using namespace elasticjob;

namespace {

using counts = std::array<int, 7>;

struct counter {
    void operator()(registry_request const& r) const { ++(*of)[static_cast<std::size_t>(r.what)]; }
    counts* of;
};

/// MemoryWorld, with a measuring registry in front of each of its two registries.
class measured_world {
public:
    using registry_type = MeasuredRegistry<basic_memory_registry<virtual_loop>, counter>;

    explicit measured_world(counts& all) : first_{world_.registry(), counter{&all}} {
        second_.emplace(world_.second(), counter{&all});
    }
    registry_type& registry() noexcept { return first_; }
    registry_type& second() noexcept { return *second_; }
    std::chrono::milliseconds limit() const { return world_.limit(); }
    task<> end_second() {
        second_.reset();
        return world_.end_second();
    }
    task<> expire(registry_type& r) { return world_.expire(r.inner()); }
    task<> disconnect(registry_type& r) { return world_.disconnect(r.inner()); }
    task<> reconnect(registry_type& r) { return world_.reconnect(r.inner()); }
    void lose_next_write(request_fate fate) { world_.lose_next_write(fate); }

private:
    test::MemoryWorld world_;
    registry_type first_;
    std::optional<registry_type> second_;
};
static_assert(laws::world_that_expires<measured_world> && laws::world_that_disconnects<measured_world> &&
              laws::world_that_loses<measured_world>);

} // namespace

TEST_CASE("registry.laws: a measured registry obeys them") {
    counts all{};
    for (auto const& law : laws::registry_laws<measured_world>()) {
        measured_world world{all};
        auto const report = law.check(world);
        CHECK_MESSAGE(report.holds(), std::string{law.name}, ": ", report.broken);
    }
    for (int const n : all) CHECK(n > 0);
}
