// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_ALLOCATION_PREVIOUS_IPP
#define ELASTICJOB_IMPL_ALLOCATION_PREVIOUS_IPP

#include <elasticjob/allocation/previous.hpp>

namespace elasticjob {

ELASTICJOB_DECL std::vector<slot_index> slots_among(std::span<instance_id const> old,
                                                    std::span<instance_id const> fresh) {
    std::vector<slot_index> slots;
    slots.reserve(old.size());
    for (auto const& id : old) {
        auto const is_before = [](instance_id const& a, instance_id const& b) { return a > b; };
        auto const* end = fresh.data() + fresh.size();
        auto const* at = std::lower_bound(fresh.data(), end, id, is_before);
        bool const is_there = at != end && *at == id && !id.str().empty();
        slots.push_back(is_there ? static_cast<slot_index>(at - fresh.data()) : no_slot);
    }
    return slots;
}

} // namespace elasticjob
#endif // ELASTICJOB_IMPL_ALLOCATION_PREVIOUS_IPP
