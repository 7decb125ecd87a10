// SPDX-License-Identifier: Apache-2.0
/// \file \brief Many small jobs over one cluster: each job chooses its instances by name, and keeps them.
#ifndef ELASTICJOB_ALLOCATION_SPREAD_HPP
#define ELASTICJOB_ALLOCATION_SPREAD_HPP

#include <elasticjob/allocation/name_hash.hpp>
#include <elasticjob/allocation/redeal.hpp>
#include <elasticjob/allocation/stored_runs.hpp>
#include <elasticjob/allocation/strategy.hpp>

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace elasticjob {

/// Shares that differ by one item at most; the larger ones, which is all there is when a job has fewer items than there
/// are instances, go to the instances that attract the job most, by a hash of job name and instance id. So a thousand
/// jobs of one item load all instances about alike, and an instance that joins later gets its part of them, which it
/// would not with StickyAllocation: that one leaves alone what is balanced.
///
/// Which instances get how much depends on who is there, and on nothing before; which items they get, on what they had:
/// the fewest for these shares move. With fewer items than instances, at most one item moves when one instance joins or
/// leaves. O(instances * log instances + runs).
/// Source: highest random weight, see RendezvousAllocation, applied to the shares instead of the items.
struct SpreadAllocation {
    static constexpr std::string_view name = "elasticjob.SpreadAllocation";

    stored_runs operator()(sharding_request const& request) const {
        auto const slots = request.instance_count();
        if (slots == 0) return {};
        auto const job = detail::hash_name(request.job_name);
        std::vector<std::pair<std::uint64_t, slot_index>> ranks; // by pull, the strongest last
        ranks.reserve(slots);
        for (slot_index slot = 0; slot != slots; ++slot)
            ranks.emplace_back(detail::attraction(job, detail::hash_name(request.instances[slot].str())), slots - slot);
        std::sort(ranks.begin(), ranks.end());
        std::vector<slot_index> order;
        order.reserve(slots);
        for (auto at = ranks.rbegin(); at != ranks.rend(); ++at) order.push_back(slots - at->second);

        detail::slot_counts target{slots};
        std::fill(target.begin(), target.end(), request.item_count / slots);
        for (std::uint32_t i = 0; i != request.item_count % slots; ++i) ++target[order[i]];
        std::vector<run> storage;
        auto const previous = detail::previous_runs_of(request, storage);
        detail::slot_counts had{slots};
        detail::count_kept(previous, request.item_count, had);
        return {slots, detail::redeal(previous, request.item_count, had, target, order)};
    }
};

static_assert(sharding_strategy<SpreadAllocation>);

} // namespace elasticjob
#endif // ELASTICJOB_ALLOCATION_SPREAD_HPP
