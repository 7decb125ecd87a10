// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/allocation/closed_form.hpp>

#include <laws/allocation.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

using namespace elasticjob;

namespace {

static_assert(std::is_trivially_copyable_v<closed_form> && std::semiregular<closed_form>);

// The laws, at compile time, for all orders: one list length at a time, because compilers limit their steps.
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

// Any rotation equals one by less than the number of instances.
static_assert(closed_form{3, 10, {.rotated_left = 7}} == closed_form{3, 10, {.rotated_left = 1}});
static_assert(closed_form{3, 10, {.rotated_left = -1}} == closed_form{3, 10, {.rotated_left = 2}});
static_assert(closed_form{3, 10} != closed_form{3, 10, {.rotated_left = 1}});
static_assert(closed_form{3, 10} != closed_form{3, 10, {.reversed = true}});
static_assert(closed_form{3, 10} != closed_form{3, 11});
static_assert(closed_form{0, 10, {.reversed = true, .rotated_left = 3}} == closed_form{});

// The stored members give the same value again.
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

constexpr std::uint32_t untouched = 0xABAD'CAFE;

/// Writes the whole form from an address this many numbers after the start of a cache line.
void check_what_is_written(closed_form const& a, std::size_t offset) {
    CAPTURE(a.instances());
    CAPTURE(a.items());
    CAPTURE(offset);
    std::vector<std::uint32_t> storage(offset + a.items() + 8, untouched);
    auto const out = std::span{storage}.subspan(offset);
    auto const is_untouched_around = [&] {
        return std::count(storage.begin(), storage.begin() + static_cast<std::ptrdiff_t>(offset), untouched) ==
            static_cast<std::ptrdiff_t>(offset) &&
            std::count(storage.end() - 8, storage.end(), untouched) == 8;
    };

    a.copy_owners(out);
    for (item_index item = 0; item != a.items(); ++item)
        if (out[item] != a.owner(item)) FAIL("the owner of item ", item, " is written as ", out[item]);
    CHECK(is_untouched_around());

    std::fill(storage.begin(), storage.end(), untouched);
    a.copy_items(out);
    auto next = out.begin();
    for (slot_index slot = 0; slot != a.instances(); ++slot)
        for (item_index const item : a.items_of(slot))
            if (*next++ != item) FAIL("item ", item, " of slot ", slot, " is written as ", next[-1]);
    CHECK(is_untouched_around());
}

TEST_CASE("closed form: writes out the owners that it answers, and nothing beyond them") {
    for (std::uint32_t n = 1; n < 12; ++n)
        for (std::uint32_t m = 0; m < 120; ++m)
            for (bool const reversed : {false, true})
                check_what_is_written({n, m, {.reversed = reversed, .rotated_left = 3}}, 0);
}

// Long runs are aligned first, and then written in wider blocks where the processor has them.
TEST_CASE("closed form: the same for many items, at any address") {
    for (std::uint32_t const n : {1U, 2U, 3U, 7U, 16U, 20U, 31U, 50U, 64U, 100U, 171U, 256U, 400U, 511U, 700U})
        for (std::uint32_t const m : {511U, 512U, 513U, 600U, 777U, 1024U, 1499U, 3001U})
            for (std::uint32_t const offset : {0U, 1U, 3U, 6U})
                check_what_is_written({n, m, {.reversed = offset % 2 != 0, .rotated_left = offset}}, offset);
}

} // namespace
