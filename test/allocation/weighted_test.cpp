// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/allocation/weighted.hpp>

#include <allocation/instances.hpp>
#include <laws/allocation.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <random>
#include <vector>

using namespace elasticjob;

namespace {

using shares = std::vector<std::uint32_t>;

shares shares_for(std::uint32_t items, std::vector<std::uint32_t> const& weights) {
    std::vector<instance_traits> traits;
    for (auto const w : weights) traits.push_back({w, {}});
    auto request = request_for(static_cast<std::uint32_t>(weights.size()), items);
    request.traits = traits;
    return shares_of(WeightedAllocation{}(request));
}

static_assert([] {
    instance_traits const traits[]{{1}, {2}, {5}};
    auto request = request_for(3, 8);
    request.traits = traits;
    auto const a = WeightedAllocation{}(request);
    return laws::broken_allocation_law(a) == "" && a.owner(0) == 0 && a.owner(1) == 1 && a.owner(2) == 1 &&
           a.owner(3) == 2 && a.owner(7) == 2;
}());

TEST_CASE("weighted: the largest remainders get the remaining items; of equal ones, the lower slots") {
    CHECK(shares_for(10, {1, 1, 1}) == shares{4, 3, 3});
    CHECK(shares_for(10, {3, 2, 1}) == shares{5, 3, 2}); // 5, 3.33, 1.67
    CHECK(shares_for(100, {47, 16, 15, 12, 6, 3, 1}) == shares{47, 16, 15, 12, 6, 3, 1});
    CHECK(shares_for(5, {2, 2, 1}) == shares{2, 2, 1});
    CHECK(shares_for(1, {1, 3, 3}) == shares{0, 1, 0});
}

TEST_CASE("weighted: an instance of weight 0 gets no items, unless all weights are 0") {
    CHECK(shares_for(7, {0, 1, 0, 2}) == shares{0, 2, 0, 5});
    CHECK(shares_for(7, {0, 0, 0}) == shares{3, 2, 2});
}

TEST_CASE("weighted: nothing overflows") {
    auto const big = 0xFFFF'FFFFU;
    CHECK(shares_for(1'000'000, {big, big, big, big}) == shares{250'000, 250'000, 250'000, 250'000});
    std::vector<instance_traits> const traits(1000, {big, {}});
    auto request = request_for(1000, 0xFFFF'FFFF);
    request.traits = traits;
    auto const a = WeightedAllocation{}(request);
    CHECK(a.items() == 0xFFFF'FFFF);
    CHECK(a.owner(0xFFFF'FFFE) == 999);
    CHECK(a.owner(4'294'967) == 0); // 2^32 - 1 = 1000 * 4294967 + 295
    CHECK(a.owner(4'294'968) == 1);
}

TEST_CASE("weighted: each share is less than one item from its quota, with no more moves than these shares need") {
    std::mt19937 random{3};
    for (int round = 0; round != 300; ++round) {
        random_request const r{random, static_cast<std::uint32_t>(random() % 12 + 1),
                               static_cast<std::uint32_t>(random() % 200)};
        REQUIRE(laws::broken_strategy_law(WeightedAllocation{}, r.request) == "");
        auto const a = WeightedAllocation{}(r.request);
        REQUIRE(laws::moves_the_fewest_for_its_shares(a, r.request));

        double sum = 0;
        for (slot_index s = 0; s != a.instances(); ++s) sum += r.request.weight(s);
        auto const got = shares_of(a);
        for (slot_index s = 0; s != a.instances(); ++s) {
            double const weight = sum == 0 ? 1.0 / a.instances() : r.request.weight(s) / sum;
            double const quota = weight * r.request.item_count;
            REQUIRE(got[s] > quota - 1);
            REQUIRE(got[s] < quota + 1);
        }
        // With equal weights it is balanced.
        auto even = r.request;
        even.traits = {};
        REQUIRE(laws::is_balanced(WeightedAllocation{}(even)));
    }
}

} // namespace
