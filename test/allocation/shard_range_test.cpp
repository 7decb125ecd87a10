// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/allocation/shard_range.hpp>

#include <elasticjob/allocation/range_v3.hpp>

#include <doctest/doctest.h>

#include <range/v3/range/conversion.hpp>
#include <range/v3/view/all.hpp>
#include <range/v3/view/filter.hpp>
#include <range/v3/view/reverse.hpp>
#include <range/v3/view/transform.hpp>

#include <algorithm>
#include <array>
#include <iterator>
#include <vector>

using namespace elasticjob;

namespace {

static_assert(std::ranges::random_access_range<shard_range> && std::ranges::sized_range<shard_range>);
static_assert(std::ranges::common_range<shard_range> && std::ranges::borrowed_range<shard_range>);
static_assert(std::ranges::view<shard_range>);
static_assert(ranges::random_access_range<shard_range const> && ranges::sized_range<shard_range const>);
static_assert(ranges::borrowed_range<shard_range> && ranges::view_<shard_range>);

constexpr shard_range with_tail{2, 3, 9};
constexpr shard_range without_tail{2, 3};
constexpr shard_range only_tail{0, 0, 7};

static_assert(std::ranges::equal(with_tail, std::array{2u, 3u, 4u, 9u}));
static_assert(std::ranges::equal(without_tail, std::array{2u, 3u, 4u}));
static_assert(std::ranges::equal(only_tail, std::array{7u}));
static_assert(shard_range{}.empty() && shard_range{}.begin() == shard_range{}.end());
static_assert(with_tail.size() == 4 && with_tail[0] == 2 && with_tail[3] == 9);

static_assert(with_tail.contains(2) && with_tail.contains(4) && with_tail.contains(9));
static_assert(!with_tail.contains(1) && !with_tail.contains(5) && !with_tail.contains(8) && !with_tail.contains(10));
static_assert(!without_tail.contains(0) && !shard_range{}.contains(0));

// All operations of a random access iterator.
static_assert([] {
    auto i = with_tail.begin();
    auto const last = with_tail.end();
    return last - i == 4 && i[3] == 9 && *(i + 1) == 3 && *(1 + i) == 3 && *(last - 1) == 9 && *i++ == 2 && *i-- == 3 &&
           *++i == 3 && *--i == 2 && *(i += 3) == 9 && *(i -= 2) == 3 && i < last && last >= i && i != last;
}());

static_assert([] {
    item_index sum = 0;
    with_tail.for_each([&](item_index item) { sum = sum * 10 + item; });
    return sum == 2349;
}());

TEST_CASE("shard range: an iterator may outlive it") {
    auto const i = std::ranges::find(shard_range{2, 3, 9}, 9u);
    CHECK(*i == 9);
}

TEST_CASE("shard range: composes with range-v3") {
    auto const even = [](item_index item) { return item % 2 == 0; };
    auto const doubled = [](item_index item) { return item * 2; };
    auto const made = with_tail | ranges::views::filter(even) | ranges::views::transform(doubled) |
                      ranges::views::reverse | ranges::to<std::vector>();
    CHECK(made == std::vector<item_index>{8, 4});
}

TEST_CASE("shard range: is written out, and nothing beyond it") {
    std::array<item_index, 6> out{};
    with_tail.copy_to(out);
    CHECK(out == std::array<item_index, 6>{2, 3, 4, 9, 0, 0});
}

} // namespace
