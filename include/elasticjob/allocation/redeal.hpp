// SPDX-License-Identifier: Apache-2.0
/// \file \brief How items stay where they are and yet everybody gets the share that he is to have.
#ifndef ELASTICJOB_ALLOCATION_REDEAL_HPP
#define ELASTICJOB_ALLOCATION_REDEAL_HPP

#include <elasticjob/allocation/stored_runs.hpp>
#include <elasticjob/allocation/strategy.hpp>
#include <elasticjob/allocation/write_run.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace elasticjob::detail {

/// So many counters, all 0. Few of them need no heap, which would take longer than to share out ten items.
class slot_counts : public std::span<std::uint32_t> {
public:
    constexpr explicit slot_counts(std::size_t count) : many_{count > few ? new std::uint32_t[count]{} : nullptr} {
        span::operator=({many_ ? many_ : few_, count});
        // In blocks: wider ones, as of memset, keep processors waiting who read a single counter next.
        if (!many_) narrow_blocks::write_run(few_, count, 0, 0);
    }
    slot_counts(slot_counts const&) = delete;
    slot_counts& operator=(slot_counts const&) = delete;
    constexpr ~slot_counts() { delete[] many_; }

private:
    static constexpr std::size_t few = 24;
    std::uint32_t few_[few];
    std::uint32_t* const many_; ///< an empty vector takes a nanosecond to make and to end
};

/// The previous owners as runs: those of the request, or made from its table into `storage`.
constexpr std::span<run const> previous_runs_of(sharding_request const& request, std::vector<run>& storage) {
    if (!request.previous_runs.empty() || request.previous_owners.empty()) return request.previous_runs;
    item_index end = 0;
    for (slot_index const owner : request.previous_owners) extend_runs(storage, ++end, owner);
    return storage;
}

/// Counts into `had` how many of the first `items` items each slot had. O(runs).
constexpr void count_kept(std::span<run const> previous, std::uint32_t items, std::span<std::uint32_t> had) {
    item_index begin = 0;
    for (run const& r : previous) {
        auto const end = std::min(r.end, items);
        if (r.owner < had.size()) had[r.owner] += end - begin;
        begin = end;
    }
}

/// Sets `target` to shares of items / slots each, one more for as many as there are left over: first for those who had
/// more than that (the item would move otherwise), then for the others, both in the order of the slots.
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

/// Gives every slot as many items as `target` says, with the fewest moves that these targets allow: a slot keeps what it
/// had, the first of it if that is too much, and all else goes to those who lack something, who are served in `order`
/// (of slots; empty: as numbered). So sum(min(had, target)) items stay, and no allocation with these targets can keep
/// more. `had` is what `count_kept` says, and is used up like `target`. Precondition: the targets sum up to `items`.
/// O(runs + slots), as many runs at most.
constexpr std::vector<run> redeal(std::span<run const> previous, std::uint32_t items, std::span<std::uint32_t> had,
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
        bool const is_known = i < previous.size(); // Nobody had what is behind the last run.
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
#endif // ELASTICJOB_ALLOCATION_REDEAL_HPP
