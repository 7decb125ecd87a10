// SPDX-License-Identifier: Apache-2.0
/// \file \brief Computes an allocation with given sizes of the shares and as few moves as possible.
#ifndef ELASTICJOB_ALLOCATION_REBALANCE_HPP
#define ELASTICJOB_ALLOCATION_REBALANCE_HPP

#include <elasticjob/allocation/stored_runs.hpp>
#include <elasticjob/allocation/strategy.hpp>
#include <elasticjob/allocation/write_run.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace elasticjob::detail {

/// Counters, one for each slot, initially 0. A few counters need no heap memory, which would take longer than the
/// allocation of ten items.
class slot_counts : public std::span<std::uint32_t> {
public:
    constexpr explicit slot_counts(std::size_t count) : many_{count > few ? new std::uint32_t[count]{} : nullptr} {
        span::operator=({many_ ? many_ : few_, count});
        // In narrow blocks: after wider stores, such as memset's, the processor stalls when it reads a single counter.
        if (!many_) narrow_blocks::write_run(few_, count, 0, 0);
    }
    slot_counts(slot_counts const&) = delete;
    slot_counts& operator=(slot_counts const&) = delete;
    constexpr ~slot_counts() { delete[] many_; }

private:
    static constexpr std::size_t few = 24;
    std::uint32_t few_[few];
    std::uint32_t* const many_; ///< not a vector, because an empty vector costs a nanosecond
};

/// The previous owners as runs: those of the request, or its table converted into `storage`.
constexpr std::span<run const> previous_runs_of(sharding_request const& request, std::vector<run>& storage) {
    if (!request.previous_runs.empty() || request.previous_owners.empty()) return request.previous_runs;
    item_index end = 0;
    for (slot_index const owner : request.previous_owners) extend_runs(storage, ++end, owner);
    return storage;
}

/// Counts, for each slot, how many of the first `items` items it had. O(runs).
constexpr void count_kept(std::span<run const> previous, std::uint32_t items, std::span<std::uint32_t> had) {
    item_index begin = 0;
    for (run const& r : previous) {
        auto const end = std::min(r.end, items);
        if (r.owner < had.size()) had[r.owner] += end - begin;
        begin = end;
    }
}

/// Sets each `target` to items / slots. The remaining items add one each: first to slots that had more (otherwise that
/// item would move), then to the others, both in the order of the slots.
constexpr void even_targets(std::span<std::uint32_t const> had, std::uint32_t items, std::span<std::uint32_t> target) {
    auto const slots = static_cast<std::uint32_t>(had.size());
    auto const share = items / slots;
    auto left_over = items % slots;
    std::fill(target.begin(), target.end(), share);
    for (bool const had_more : {true, false})
        for (slot_index slot = 0; slot != slots && left_over != 0; ++slot)
            if ((had[slot] > share) == had_more) {
                ++target[slot];
                --left_over;
            }
}

/// Gives every slot the number of items in `target`, with the fewest moves that these targets allow. A slot keeps its
/// items, or the first of them if it had too many. All other items go to the slots that need more, in `order` (of
/// slots; empty: by number). So sum(min(had, target)) items stay, and no allocation with these targets keeps more.
/// `had` is the result of `count_kept`. The function overwrites `had` and `target`. Precondition: the sum of the
/// targets is `items`. O(runs + slots), and at most that many runs.
constexpr std::vector<run> rebalance(std::span<run const> previous, std::uint32_t items, std::span<std::uint32_t> had,
                                  std::span<std::uint32_t> target, std::span<slot_index const> order = {}) {
    auto const keep = had;
    auto const lack = target;
    for (std::size_t slot = 0; slot != keep.size(); ++slot) {
        keep[slot] = std::min(had[slot], target[slot]);
        lack[slot] -= keep[slot];
    }
    std::vector<run> runs;
    runs.reserve(previous.size() + keep.size() + 1);
    item_index begin = 0;
    std::size_t served = 0;
    for (std::size_t i = 0; begin != items; ++i) {
        bool const is_known = i < previous.size(); // items after the last run had no owner
        auto const end = is_known ? std::min(previous[i].end, items) : items;
        auto const owner = is_known ? previous[i].owner : no_slot;
        if (owner < keep.size() && begin != end) {
            auto const stays = std::min(keep[owner], end - begin);
            keep[owner] -= stays;
            if (stays != 0) extend_runs(runs, begin += stays, owner);
        }
        while (begin != end) {
            auto const slot = order.empty() ? static_cast<slot_index>(served) : order[served];
            auto const given = std::min(lack[slot], end - begin);
            lack[slot] -= given;
            if (given == 0)
                ++served;
            else
                extend_runs(runs, begin += given, slot);
        }
    }
    return runs;
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_ALLOCATION_REBALANCE_HPP
