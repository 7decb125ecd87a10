// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/allocation/run_list.hpp>

#include <elasticjob/allocation/closed_form.hpp>
#include <elasticjob/allocation/owner_table.hpp>
#include <elasticjob/allocation/range_v3.hpp>

#include <laws/allocation.hpp>

#include <doctest/doctest.h>

#include <range/v3/range/conversion.hpp>
#include <range/v3/view/all.hpp>
#include <range/v3/view/transform.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <random>
#include <vector>

using namespace elasticjob;

namespace {

static_assert(std::ranges::borrowed_range<run_items> && std::ranges::view<run_items>);
static_assert(ranges::borrowed_range<run_items> && ranges::view_<run_items>);

constexpr run three_runs[]{{3, 1}, {4, 0}, {9, 1}};
constexpr run_list_view two_instances{2, three_runs};
static_assert(laws::broken_allocation_law(two_instances) == "");
static_assert(two_instances.owner(2) == 1 && two_instances.owner(3) == 0 && two_instances.owner(8) == 1);
static_assert(std::ranges::equal(two_instances.items_of(1), std::array{0u, 1u, 2u, 4u, 5u, 6u, 7u, 8u}));
static_assert(laws::broken_allocation_law(run_list_view{}) == "");
static_assert(std::ranges::empty(run_list_view{3, {}}.items_of(2)) && std::ranges::empty(run_items{}));

template <std::size_t N>
constexpr bool describes(std::uint32_t instances, run const (&runs)[N]) {
    return is_run_list(instances, runs);
}
static_assert(is_run_list(0, {}) && describes(2, three_runs));
static_assert(!describes(1, three_runs));       // an owner that is no instance
static_assert(!describes(2, {{0, 1}}));         // empty
static_assert(!describes(2, {{3, 1}, {3, 0}})); // empty
static_assert(!describes(2, {{3, 1}, {2, 0}})); // backwards
static_assert(!describes(2, {{3, 1}, {5, 1}})); // not joined
static_assert(!describes(2, {{3, no_slot}}));   // without an owner

// The runs of a closed form are computed without its items, so the largest one is cheap.
static_assert([] {
    std::vector<run> runs;
    append_runs(closed_form{2, 0xFFFF'FFFF}, runs);
    return runs == std::vector<run>{{0x7FFF'FFFF, 0}, {0xFFFF'FFFE, 1}, {0xFFFF'FFFF, 0}};
}());

TEST_CASE("run list: an allocation and its runs give the same owners") {
    std::mt19937 random{7};
    for (int round = 0; round != 50; ++round) {
        auto const n = static_cast<std::uint32_t>(random() % 6 + 1);
        std::vector<slot_index> owners(random() % 100);
        for (auto& owner : owners) owner = static_cast<slot_index>(random() % n);
        owner_table const table{n, owners};

        std::vector<run> runs;
        append_runs(table, runs);
        REQUIRE(is_run_list(n, runs));
        run_list_view const view{n, runs};
        REQUIRE(view.items() == table.items());
        for (item_index item = 0; item != table.items(); ++item) REQUIRE(view.owner(item) == table.owner(item));

        std::vector<run> again;
        append_runs(view, again);
        REQUIRE(again == runs);
    }
}

TEST_CASE("run list: appended runs do not merge with existing ones") {
    slot_index const owners[]{0, 0, 1};
    std::vector<run> runs{{5, 0}};
    append_runs(owner_table{2, owners}, runs);
    CHECK(runs == std::vector<run>{{5, 0}, {2, 0}, {3, 1}});
}

TEST_CASE("run list: the items of a slot compose with range-v3") {
    auto const squares =
        two_instances.items_of(0) | ranges::views::transform([](item_index item) { return item * item; });
    CHECK((squares | ranges::to<std::vector>()) == std::vector<item_index>{9});
}

} // namespace
