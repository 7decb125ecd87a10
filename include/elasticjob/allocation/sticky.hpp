// SPDX-License-Identifier: Apache-2.0
/// \file \brief Equal shares with the fewest moves.
#ifndef ELASTICJOB_ALLOCATION_STICKY_HPP
#define ELASTICJOB_ALLOCATION_STICKY_HPP

#include <elasticjob/allocation/redeal.hpp>
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

/// Shares that differ by one item at most, and among all allocations of which that is true one that moves the fewest
/// items away from their previous owners. Without previous owners it is the average in the order of the slots, in
/// neighbouring items.
///
/// Of m items over n instances, r = m mod n instances must have q + 1 = m div n + 1, the others q. Who had c keeps at
/// most min(c, share), so it is best to give the r larger shares to those with c > q: sum(min(c, q)) + min(r, number of
/// c > q) items stay, which no balanced allocation can beat. O(runs + instances) with `previous_runs`, else
/// O(items + instances). Allocates the runs, and 8 bytes for each instance if they are more than
/// 24.
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
        return {slots, detail::redeal(previous, request.item_count, had, target)};
    }

    /// The same on a table of owners, in place: owners that are no slot (those who are gone) lose their items. Gives how
    /// many items have moved. O(items + instances). Precondition: slots > 0, unless there are no items.
    static constexpr std::uint32_t rebalance(std::span<slot_index> owners, std::uint32_t slots) {
        if (owners.empty()) return 0;
        assert(slots != 0);
        detail::slot_counts counts{2 * std::size_t{slots} + 1};
        auto const lack = counts.first(slots);
        auto const had = counts.subspan(slots); // the last one for all owners that are no slot
        count_owners(owners, had);
        detail::even_targets(had.first(slots), static_cast<std::uint32_t>(owners.size()), lack);
        std::uint32_t moved = had[slots];
        for (slot_index slot = 0; slot != slots; ++slot) {
            auto const kept = std::min(had[slot], lack[slot]);
            lack[slot] -= kept;
            moved += had[slot] -= kept;
        }
        // Whoever has too much keeps the first of it. So what moves is found from the back, and where all of it has been
        // found, which is soon when somebody has joined, the rest need not be looked at.
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
    /// Into `had`, whose last one is for all owners that have none of their own. Four neighbours of one owner are added at
    /// once, because an addition to a counter waits for the one before it.
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
