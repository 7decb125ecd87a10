// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/allocation/stored_runs.hpp>

#include <elasticjob/allocation/closed_form.hpp>
#include <elasticjob/allocation/owner_table.hpp>
#include <elasticjob/allocation/previous.hpp>
#include <elasticjob/allocation/range_v3.hpp>

#include <allocation/instances.hpp>
#include <laws/allocation.hpp>

#include <doctest/doctest.h>

#include <range/v3/range/conversion.hpp>
#include <range/v3/view/filter.hpp>
#include <range/v3/view/transform.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <ranges>
#include <type_traits>
#include <utility>
#include <vector>

using namespace elasticjob;

namespace {

static_assert(allocation<stored_runs> && allocation<partial_runs>);
static_assert(std::semiregular<stored_runs> && std::is_nothrow_move_constructible_v<stored_runs>);

// A list must not outlive the runs.
template <class A>
concept lists_items_of_a_temporary = requires {
    std::declval<A>().items_of(0);
};
static_assert(lists_items_of_a_temporary<stored_runs const&> && !lists_items_of_a_temporary<stored_runs>);

static_assert([] {
    stored_runs const a{2, {{3, 1}, {4, 0}, {9, 1}}};
    std::array<slot_index, 9> owners{};
    a.copy_owners(owners);
    return laws::broken_allocation_law(a) == "" && owners == std::array<slot_index, 9>{1, 1, 1, 0, 1, 1, 1, 1, 1};
}());

// Some items have no owner, including the first.
static_assert([] {
    partial_runs const a{2, {{3, no_slot}, {4, 0}, {5, no_slot}}};
    return laws::broken_allocation_law(a) == "" && a.owner(0) == no_slot && a.owner(3) == 0;
}());
static_assert([] {
    run const left[]{{3, no_slot}};
    return is_run_list(2, left, true) && !is_run_list(2, left);
}());

// No other allocation is exempt from the law that every item has an owner.
struct leaves_without_saying : partial_runs {
    using partial_runs::partial_runs;
    static constexpr bool may_leave_items = false;
};
TEST_CASE("laws of allocation: items may stay without an owner only if the allocation announces it") {
    CHECK(laws::broken_allocation_law(leaves_without_saying{2, {{3, no_slot}, {4, 0}}}) == "every owner is a slot");
}

TEST_CASE("stored runs: the items of a slot compose with range-v3 and with the standard views") {
    auto const even = [](item_index item) { return item % 2 == 0; };
    auto const doubled = [](item_index item) { return item * 2; };
    stored_runs const a{2, {{3, 1}, {4, 0}, {9, 1}}};
    std::vector<item_index> const expected{0, 4, 8, 12, 16};
    auto listed = a.items_of(1) | ranges::views::filter(even) | ranges::views::transform(doubled);
    CHECK((listed | ranges::to<std::vector>()) == expected);
    std::vector<item_index> standard;
    for (auto const item : a.items_of(1) | std::views::filter(even) | std::views::transform(doubled))
        standard.push_back(item);
    CHECK(standard == expected);
    CHECK(std::ranges::count_if(a.items_of(1), even) == 5);
}

TEST_CASE("previous owners: in the slots of another list") {
    auto const old = named_instances(4);
    auto fresh = without(old, 1);
    std::vector<instance_id> released = old;
    released[2] = instance_id{}; // it has left in order
    CHECK(slots_among(old, fresh) == std::vector<slot_index>{0, no_slot, 1, 2});
    CHECK(slots_among(released, fresh) == std::vector<slot_index>{0, no_slot, no_slot, 2});
    CHECK(slots_among(old, {}) == std::vector<slot_index>(4, no_slot));

    auto const slots = slots_among(released, fresh);
    std::vector<run> const expected{{2, 0}, {6, no_slot}, {8, 2}};
    CHECK(renumbered_runs(closed_form{4, 8}, slots) == expected);
    auto const table = owners_of(closed_form{4, 8});
    CHECK(renumbered_runs(owner_table{4, table}, slots) == expected);
}

TEST_CASE("stored runs: many items are written as answered, and nothing beyond them") {
    std::vector<run> runs;
    item_index end = 0;
    for (std::uint32_t length = 1; length != 80; ++length) runs.push_back({end += length, length % 7});
    stored_runs const a{7, std::move(runs)};
    std::vector<slot_index> owners(a.items() + 8, 99);
    a.copy_owners(owners);
    for (item_index item = 0; item != a.items(); ++item)
        if (owners[item] != a.owner(item)) FAIL("the owner of item ", item, " is written as ", owners[item]);
    CHECK(std::count(owners.end() - 8, owners.end(), 99U) == 8);
}

} // namespace
