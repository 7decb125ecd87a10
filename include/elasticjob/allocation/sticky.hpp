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
#include <utility> // exchange
#include <vector>

namespace elasticjob {

/// Shares that differ by one item at most, and among all allocations of which that is true one that moves the fewest
/// items away from their previous owners. Without previous owners it is the average in the order of the slots, in
/// neighbouring items.
///
/// Of m items over n instances, r = m mod n instances must have q + 1 = m div n + 1, the others q. Who had c keeps at
/// most min(c, share), so it is best to give the r larger shares to those with c > q: sum(min(c, q)) + min(r, number of
/// c > q) items stay, which no balanced allocation can beat. O(runs + instances) with `previous_runs`, else
/// O(items + instances). Allocates the runs and 8 bytes for each instance.
struct StickyAllocation {
    static constexpr std::string_view name = "elasticjob.StickyAllocation";

    constexpr stored_runs operator()(sharding_request const& request) const {
        auto const slots = request.instance_count();
        if (slots == 0) return {};
        std::vector<run> storage;
        auto const previous = detail::previous_runs_of(request, storage);
        auto had = detail::count_kept(previous, request.item_count, slots);
        auto target = detail::even_targets(had, request.item_count);
        return {slots, detail::redeal(previous, request.item_count, had, target)};
    }

    /// The same on a table of owners, in place: owners that are no slot (those who are gone) lose their items. Gives how
    /// many items have moved. O(items + instances). Precondition: slots > 0, unless there are no items.
    static constexpr std::uint32_t rebalance(std::span<slot_index> owners, std::uint32_t slots) {
        if (owners.empty()) return 0;
        assert(slots != 0);
        // Stretches of one owner are taken at once: adding to one and the same counter for each item would make every
        // item wait for the one before. One entry more than there are slots is for all owners that are none.
        detail::slot_counts keep(slots + 1, 0);
        for_each_stretch(owners, [&](std::size_t begin, std::size_t end) {
            keep[std::min(owners[begin], slots)] += static_cast<std::uint32_t>(end - begin);
        });
        keep.pop_back();
        auto lack = detail::even_targets(keep, static_cast<std::uint32_t>(owners.size()));
        for (slot_index slot = 0; slot != slots; ++slot) {
            keep[slot] = std::min(keep[slot], lack[slot]);
            lack[slot] -= keep[slot];
        }
        keep.push_back(0);
        std::uint32_t moved = 0;
        slot_index served = 0;
        for_each_stretch(owners, [&](std::size_t begin, std::size_t end) {
            auto& left = keep[std::min(owners[begin], slots)];
            if (end - begin <= left) {
                left -= static_cast<std::uint32_t>(end - begin);
                return;
            }
            begin += std::exchange(left, 0);
            moved += static_cast<std::uint32_t>(end - begin);
            while (begin != end) {
                while (lack[served] == 0) ++served;
                auto const given = std::min<std::size_t>(lack[served], end - begin);
                lack[served] -= static_cast<std::uint32_t>(given);
                for (auto const stop = begin + given; begin != stop; ++begin) owners[begin] = served;
            }
        });
        return moved;
    }

private:
    /// Each is known before it is visited, so the visit may change its owners.
    template <class Visit>
    static constexpr void for_each_stretch(std::span<slot_index const> owners, Visit visit) {
        for (std::size_t begin = 0; begin != owners.size();) {
            auto end = begin + 1;
            while (end != owners.size() && owners[end] == owners[begin]) ++end;
            visit(begin, end);
            begin = end;
        }
    }
};

static_assert(sharding_strategy<StickyAllocation>);

} // namespace elasticjob
#endif // ELASTICJOB_ALLOCATION_STICKY_HPP
