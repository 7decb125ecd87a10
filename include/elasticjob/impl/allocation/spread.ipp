// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_ALLOCATION_SPREAD_IPP
#define ELASTICJOB_IMPL_ALLOCATION_SPREAD_IPP

#include <elasticjob/allocation/spread.hpp>

namespace elasticjob {

ELASTICJOB_DECL stored_runs SpreadAllocation::operator()(sharding_request const& request) const {
    auto const slots = request.instance_count();
    if (slots == 0) return {};
    auto const job = detail::hash_name(request.job_name);
    std::vector<std::pair<std::uint64_t, slot_index>> ranks; // by hash, the greatest last
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
    return {slots, detail::rebalance(previous, request.item_count, had, target, order)};
}

} // namespace elasticjob
#endif // ELASTICJOB_IMPL_ALLOCATION_SPREAD_IPP
