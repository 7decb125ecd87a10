// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/allocation/owner_table.hpp>

#include <elasticjob/allocation/computed.hpp>
#include <elasticjob/allocation/range_v3.hpp>

#include <allocation/instances.hpp>
#include <laws/allocation.hpp>

#include <doctest/doctest.h>

#include <range/v3/range/conversion.hpp>
#include <range/v3/view/all.hpp>
#include <range/v3/view/filter.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <vector>

using namespace elasticjob;

namespace {

using table_items = owned_items<owner_table>;
static_assert(std::ranges::forward_range<table_items> && std::ranges::common_range<table_items>);
static_assert(std::ranges::borrowed_range<table_items> && std::ranges::view<table_items>);
static_assert(ranges::forward_range<table_items const>);
static_assert(ranges::borrowed_range<table_items> && ranges::view_<table_items>);

constexpr slot_index owners[]{1, 0, 1, 1, 3};
constexpr owner_table table{4, owners};
static_assert(laws::broken_allocation_law(table) == "");
static_assert(std::ranges::equal(table.items_of(1), std::array{0u, 2u, 3u}));
static_assert(std::ranges::empty(table.items_of(2)));
static_assert(std::ranges::equal(table.items_of(3), std::array{4u}));
static_assert(laws::broken_allocation_law(owner_table{}) == "");

// The lists refer to the allocation, so a temporary one has none.
template <class Allocation>
concept lists_items_of_a_temporary = requires(Allocation&& a) {
    std::move(a).items_of(0);
};
static_assert(!lists_items_of_a_temporary<owner_table>);
static_assert(!lists_items_of_a_temporary<computed_allocation<slot_index (*)(item_index)>>);

// The function may use any integer type for its slots, and is not called if there are no instances.
constexpr auto dealt(std::size_t n) {
    return allocate_by(request_for(static_cast<std::uint32_t>(n), 10), [n](std::size_t item) { return item % n; });
}
static_assert(laws::broken_allocation_law(dealt(3)) == "");
static_assert(dealt(0).items() == 0 && laws::broken_allocation_law(dealt(0)) == "");

TEST_CASE("owner table: the items of a slot compose with range-v3") {
    auto const odd = [](item_index item) { return item % 2 == 1; };
    auto const made = table.items_of(1) | ranges::views::filter(odd) | ranges::to<std::vector>();
    CHECK(made == std::vector<item_index>{3});
}

} // namespace
