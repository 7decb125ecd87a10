// SPDX-License-Identifier: Apache-2.0
/// \file \brief How items stay where they are and yet everybody gets the share that he is to have.
#ifndef ELASTICJOB_ALLOCATION_REDEAL_HPP
#define ELASTICJOB_ALLOCATION_REDEAL_HPP

#include <elasticjob/allocation/stored_runs.hpp>
#include <elasticjob/allocation/strategy.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace elasticjob::detail {

/// A number for each slot.
using slot_counts = std::vector<std::uint32_t>;

/// The previous owners as runs: those of the request, or made from its table into `storage`.
constexpr std::span<run const> previous_runs_of(sharding_request const& request, std::vector<run>& storage) {
    if (!request.previous_runs.empty() || request.previous_owners.empty()) return request.previous_runs;
    item_index end = 0;
    for (slot_index const owner : request.previous_owners) extend_runs(storage, ++end, owner);
    return storage;
}

/// How many of the first `items` items each slot had. O(runs + slots).
constexpr slot_counts count_kept(std::span<run const> previous, std::uint32_t items, std::uint32_t slots) {
    slot_counts counts(slots, 0); // without a value it is no constant for clang with libstdc++ 12
    item_index begin = 0;
    for (run const& r : previous) {
        auto const end = std::min(r.end, items);
        if (r.owner < slots) counts[r.owner] += end - begin;
        begin = end;
    }
    return counts;
}

/// Shares of items / slots each, one more for as many as there are left over: first for those who had more than that
/// (the item would move otherwise), then for the others, both in the order of the slots.
constexpr slot_counts even_targets(slot_counts const& had, std::uint32_t items) {
    auto const slots = static_cast<std::uint32_t>(had.size());
    auto const share = items / slots;
    auto left_over = items % slots;
    slot_counts target(slots, share);
    for (bool const had_more : {true, false})
        for (slot_index slot = 0; slot != slots && left_over != 0; ++slot)
            if ((had[slot] > share) == had_more) {
                ++target[slot];
                --left_over;
            }
    return target;
}

/// Gives every slot as many items as `target` says, with the fewest moves that these targets allow: a slot keeps what it
/// had, the first of it if that is too much, and all else goes to those who lack something, who are served in `order`
/// (of slots; empty: as numbered). So sum(min(had, target)) items stay, and no allocation with these targets can keep
/// more. `had` is what `count_kept` says, and is used up like `target`. Preconditions: the targets sum up to `items`.
/// O(runs + slots), as many runs at most.
constexpr std::vector<run> redeal(std::span<run const> previous, std::uint32_t items, slot_counts& had,
                                  slot_counts& target, std::span<slot_index const> order = {}) {
    auto& keep = had;
    auto& lack = target;
    for (std::size_t slot = 0; slot != keep.size(); ++slot) {
        keep[slot] = std::min(had[slot], target[slot]);
        lack[slot] -= keep[slot];
    }
    std::vector<run> runs;
    runs.reserve(previous.size() + keep.size() + 1);
    std::size_t served = 0;
    auto const slot_served = [&] { return order.empty() ? static_cast<slot_index>(served) : order[served]; };
    auto const deal = [&](item_index begin, item_index end) {
        while (begin != end) {
            while (lack[slot_served()] == 0) ++served;
            auto const slot = slot_served();
            auto const share = std::min(lack[slot], end - begin);
            lack[slot] -= share;
            extend_runs(runs, begin += share, slot);
        }
    };
    item_index begin = 0;
    for (run const& r : previous) {
        auto const end = std::min(r.end, items);
        if (r.owner < keep.size() && begin != end) {
            auto const stays = std::min(keep[r.owner], end - begin);
            keep[r.owner] -= stays;
            if (stays != 0) extend_runs(runs, begin += stays, r.owner);
        }
        deal(begin, end);
        begin = end;
    }
    deal(begin, items);
    return runs;
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_ALLOCATION_REDEAL_HPP
