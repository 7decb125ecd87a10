// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_ALLOCATION_RENDEZVOUS_IPP
#define ELASTICJOB_IMPL_ALLOCATION_RENDEZVOUS_IPP

#include <elasticjob/allocation/rendezvous.hpp>

namespace elasticjob {

ELASTICJOB_DECL slot_index RendezvousAllocation::owner(sharding_request const& request, item_index item) {
    strongest best;
    auto const seed = item_hash(detail::hash_name(request.job_name), item);
    for (slot_index slot = 0; slot != request.instance_count(); ++slot)
        best.take(detail::attraction(seed, detail::hash_name(request.instances[slot].str())), slot);
    return best.slot;
}

ELASTICJOB_DECL stored_runs RendezvousAllocation::operator()(sharding_request const& request) const {
    auto const slots = request.instance_count();
    if (slots == 0) return {};
    std::vector<std::uint64_t> hashes;
    hashes.reserve(slots);
    for (auto const& id : request.instances) hashes.push_back(detail::hash_name(id.str()));
    auto const job = detail::hash_name(request.job_name);
    std::vector<run> runs;
    for (item_index item = 0; item != request.item_count; ++item) {
        strongest best;
        auto const seed = item_hash(job, item);
        for (slot_index slot = 0; slot != slots; ++slot) best.take(detail::attraction(seed, hashes[slot]), slot);
        detail::extend_runs(runs, item + 1, best.slot);
    }
    return {slots, std::move(runs)};
}

ELASTICJOB_DECL void RendezvousAllocation::strongest::take(std::uint64_t p, slot_index s) noexcept {
    slot = p > pull ? s : slot;
    pull = p > pull ? p : pull;
}

} // namespace elasticjob
#endif // ELASTICJOB_IMPL_ALLOCATION_RENDEZVOUS_IPP
