// SPDX-License-Identifier: Apache-2.0
/// \file \brief Shares in proportion to the weights of the instances.
#ifndef ELASTICJOB_ALLOCATION_WEIGHTED_HPP
#define ELASTICJOB_ALLOCATION_WEIGHTED_HPP

#include <elasticjob/allocation/rebalance.hpp>
#include <elasticjob/allocation/stored_runs.hpp>
#include <elasticjob/allocation/strategy.hpp>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace elasticjob {

namespace detail {

/// Sets `target` to the floor of each slot's quota items * weight / sum(weights), and to one more for the largest
/// remainders. If all weights are 0, all slots have the same weight. O(slots).
constexpr void weighted_targets(sharding_request const& request, std::span<std::uint32_t> target) {
    struct rest {
        std::uint64_t remainder;
        slot_index slot;
    };
    auto const slots = request.instance_count();
    std::uint64_t sum = 0; // of less than 2^32 numbers below 2^32
    for (slot_index slot = 0; slot != slots; ++slot) sum += request.weight(slot);
    bool const is_even = sum == 0;
    if (is_even) sum = slots;

    std::vector<rest> rests(slots, rest{});
    std::uint32_t left_over = request.item_count;
    for (slot_index slot = 0; slot != slots; ++slot) {
        std::uint64_t const product = std::uint64_t{request.item_count} * (is_even ? 1 : request.weight(slot));
        target[slot] = static_cast<std::uint32_t>(product / sum);
        rests[slot] = {product % sum, slot};
        left_over -= target[slot];
    }
    std::nth_element(rests.begin(), rests.begin() + left_over, rests.end(), [](rest const& a, rest const& b) {
        return a.remainder != b.remainder ? a.remainder > b.remainder : a.slot < b.slot;
    });
    for (std::uint32_t i = 0; i != left_over; ++i) ++target[rests[i].slot];
}

} // namespace detail

/// Each instance gets items in proportion to its weight, by the largest remainder method (Hamilton's): each share
/// differs from its exact quota by less than one item, and ties go to the lower slot. An instance with weight 0 gets no
/// items, unless all weights are 0, which makes the shares equal. Without previous owners the shares are consecutive
/// items, in the order of the slots. With them, no allocation with these shares moves fewer items. O(runs + instances).
struct WeightedAllocation {
    static constexpr std::string_view name = "elasticjob.WeightedAllocation";
    static constexpr bool uses_traits = true;

    constexpr stored_runs operator()(sharding_request const& request) const {
        auto const slots = request.instance_count();
        if (slots == 0) return {};
        std::vector<run> storage;
        auto const previous = detail::previous_runs_of(request, storage);
        detail::slot_counts had{slots};
        detail::slot_counts target{slots};
        detail::count_kept(previous, request.item_count, had);
        detail::weighted_targets(request, target);
        return {slots, detail::rebalance(previous, request.item_count, had, target)};
    }
};

static_assert(sharding_strategy<WeightedAllocation>);

} // namespace elasticjob
#endif // ELASTICJOB_ALLOCATION_WEIGHTED_HPP
