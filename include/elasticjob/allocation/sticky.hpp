// SPDX-License-Identifier: Apache-2.0
/// \file \brief Equal shares with the fewest moves.
#ifndef ELASTICJOB_ALLOCATION_STICKY_HPP
#define ELASTICJOB_ALLOCATION_STICKY_HPP

#include <elasticjob/allocation/rebalance.hpp>
#include <elasticjob/allocation/stored_runs.hpp>
#include <elasticjob/allocation/strategy.hpp>

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace elasticjob {

/// Shares that differ by one item at most. Among all such allocations, one that moves the fewest items away from their
/// previous owners. Without previous owners, each instance gets consecutive items, in the order of the slots.
///
/// For m items over n instances, let q = m div n and r = m mod n: r instances must have q + 1 items, the others q. An
/// instance that had c items keeps at most min(c, share), so it is best to give the r larger shares to instances with c
/// > q. Then sum(min(c, q)) + min(r, number of c > q) items stay, and no balanced allocation keeps more. O(runs +
/// instances) with `previous_runs`, otherwise O(items + instances). Allocates the runs, and 8 bytes for each instance
/// if there are more than 24.
struct StickyAllocation {
    static constexpr std::string_view name = "elasticjob.StickyAllocation";

    constexpr stored_runs operator()(sharding_request const& request) const {
        auto const slots = request.instance_count();
        if (slots == 0) return {};
        std::vector<run> storage;
        auto const previous = detail::previous_runs_of(request, storage);
        detail::slot_counts had{slots};
        detail::slot_counts target{slots};
        detail::count_kept(previous, request.item_count, had);
        detail::even_targets(had, request.item_count, target);
        return {slots, detail::rebalance(previous, request.item_count, had, target)};
    }

    /// As the call, for a table of owners, in place. An item whose owner is no slot gets another owner. Returns the
    /// number of items that have moved. O(items + instances). Precondition: slots > 0, unless there are no items.
    static constexpr std::uint32_t rebalance(std::span<slot_index> owners, std::uint32_t slots) {
        if (owners.empty()) return 0;
        assert(slots != 0);
        detail::slot_counts counts{2 * std::size_t{slots} + 1};
        auto const lack = counts.first(slots);
        auto const had = counts.subspan(slots); // the last counter is for all owners that are no slots
        count_owners(owners, had);
        detail::even_targets(had.first(slots), static_cast<std::uint32_t>(owners.size()), lack);
        std::uint32_t moved = had[slots];
        for (slot_index slot = 0; slot != slots; ++slot) {
            auto const kept = std::min(had[slot], lack[slot]);
            lack[slot] -= kept;
            moved += had[slot] -= kept;
        }
        // A slot with too many items keeps the first of them. So search the items that move from the end. The search
        // stops when it has found all of them, which is early if an instance has joined.
        auto served = slots - 1;
        auto* owner = owners.data() + owners.size();
        for (auto left = moved; left != 0;) {
            auto& too_much = had[std::min(*--owner, slots)];
            if (too_much == 0) continue;
            --too_much;
            --left;
            while (lack[served] == 0) --served;
            --lack[served];
            *owner = served;
        }
        return moved;
    }

private:
    /// Counts the items of each slot into `had`, whose last counter is for all owners that are no slots. Adds four
    /// neighbouring items of one owner at once, because each addition to a counter waits for the previous one.
    static constexpr void count_owners(std::span<slot_index const> owners, std::span<std::uint32_t> had) {
        auto const slots = static_cast<slot_index>(had.size() - 1);
        for (; owners.size() >= 4; owners = owners.subspan(4)) {
            auto const differences = (owners[0] ^ owners[1]) | (owners[0] ^ owners[2]) | (owners[0] ^ owners[3]);
            if (differences == 0)
                had[std::min(owners[0], slots)] += 4;
            else
                for (std::size_t i = 0; i != 4; ++i) ++had[std::min(owners[i], slots)];
        }
        for (auto const owner : owners) ++had[std::min(owner, slots)];
    }
};

static_assert(sharding_strategy<StickyAllocation>);

} // namespace elasticjob
#endif // ELASTICJOB_ALLOCATION_STICKY_HPP
