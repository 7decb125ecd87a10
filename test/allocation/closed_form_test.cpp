// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/allocation/closed_form.hpp>

#include <laws/allocation.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <type_traits>
#include <vector>

using namespace elasticjob;

namespace {

static_assert(std::is_trivially_copyable_v<closed_form> && std::semiregular<closed_form>);

// The laws, at compile time, for all orders: one list length at a time, because compilers count their steps.
constexpr bool the_laws_hold(std::uint32_t n) {
    for (std::uint32_t m = 0; m < 9; ++m)
        for (std::uint32_t turn = 0; turn < n; ++turn)
            for (bool const reversed : {false, true}) {
                closed_form const a{n, m, {reversed, turn}};
                if (!laws::broken_allocation_law(a).empty() || !laws::is_balanced(a)) return false;
            }
    return true;
}
static_assert(the_laws_hold(0));
static_assert(the_laws_hold(1));
static_assert(the_laws_hold(2));
static_assert(the_laws_hold(3));
static_assert(the_laws_hold(4));

// Reversed first, then rotated.
static_assert(closed_form{4, 4, {.reversed = true, .rotated_left = 1}}.owner(0) == 2);
static_assert(closed_form{4, 4, {.reversed = true, .rotated_left = 1}}.owner(3) == 3);

// Any rotation is one by less than the number of instances.
static_assert(closed_form{3, 10, {.rotated_left = 7}} == closed_form{3, 10, {.rotated_left = 1}});
static_assert(closed_form{3, 10, {.rotated_left = -1}} == closed_form{3, 10, {.rotated_left = 2}});
static_assert(closed_form{3, 10} != closed_form{3, 10, {.rotated_left = 1}});
static_assert(closed_form{3, 10} != closed_form{3, 10, {.reversed = true}});
static_assert(closed_form{3, 10} != closed_form{3, 11});
static_assert(closed_form{0, 10, {.reversed = true, .rotated_left = 3}} == closed_form{});

// What is stored makes the same value again.
constexpr closed_form original{5, 13, {.reversed = true, .rotated_left = -7}};
static_assert(closed_form{original.instances(), original.items(), original.order()} == original);

// Nothing overflows at the largest sizes.
constexpr std::uint32_t largest = 0xFFFF'FFFF;
constexpr closed_form one_each{largest, largest, {.reversed = true, .rotated_left = largest - 1}};
static_assert(one_each.owner(0) == 0 && one_each.owner(1) == largest - 1 && one_each.items_of(0)[0] == 0);
static_assert(one_each.owner(largest - 1) == 1 && one_each.items_of(1)[0] == largest - 1);
constexpr closed_form in_two{2, largest};
static_assert(in_two.owner(largest - 1) == 0 && in_two.items_of(0).size() == largest / 2 + 1);
static_assert(in_two.items_of(0).end() - in_two.items_of(0).begin() == std::int64_t{largest / 2 + 1});

// Written out at compile time.
constexpr auto owners_of_ten = [] {
    std::array<slot_index, 10> owners{};
    closed_form{3, 10}.copy_owners(owners);
    return owners;
}();
static_assert(owners_of_ten == std::array<slot_index, 10>{0, 0, 0, 1, 1, 1, 2, 2, 2, 0});

constexpr auto items_of_ten = [] {
    std::array<item_index, 10> items{};
    closed_form{3, 10}.copy_items(items);
    return items;
}();
static_assert(items_of_ten == std::array<item_index, 10>{0, 1, 2, 9, 3, 4, 5, 6, 7, 8});

TEST_CASE("closed form: what is written out is what it answers, and nothing is written behind it") {
    constexpr std::uint32_t untouched = 0xABAD'CAFE;
    for (std::uint32_t n = 1; n < 12; ++n)
        for (std::uint32_t m = 0; m < 120; ++m)
            for (bool const reversed : {false, true}) {
                closed_form const a{n, m, {.reversed = reversed, .rotated_left = 3}};
                CAPTURE(n);
                CAPTURE(m);

                std::vector<slot_index> owners(m + 8, untouched);
                a.copy_owners(owners);
                for (item_index item = 0; item != m; ++item) REQUIRE(owners[item] == a.owner(item));
                REQUIRE(std::count(owners.begin() + m, owners.end(), untouched) == 8);

                std::vector<item_index> items(m + 8, untouched);
                a.copy_items(items);
                auto next = items.begin();
                for (slot_index slot = 0; slot != n; ++slot)
                    for (item_index const item : a.items_of(slot)) REQUIRE(*next++ == item);
                REQUIRE(std::count(next, items.end(), untouched) == 8);
            }
}

} // namespace
