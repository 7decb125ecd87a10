// SPDX-License-Identifier: Apache-2.0
/// \file \brief Who owned what, told in the slots of another instance list.
#ifndef ELASTICJOB_ALLOCATION_PREVIOUS_HPP
#define ELASTICJOB_ALLOCATION_PREVIOUS_HPP

#include <elasticjob/allocation/allocation.hpp>
#include <elasticjob/core/algorithm.hpp>
#include <elasticjob/core/deferred.hpp>
#include <elasticjob/core/identity.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace elasticjob {

/// The slot that each of the `old` instances has among the `fresh` ones, or `no_slot` if it is not there, or is nobody
/// (an empty id). Precondition: `fresh` is in ElasticJob's order. O(old * log fresh).
template <class Slot = slot_index>
std::vector<Slot> slots_among(std::span<instance_id const> old, std::span<instance_id const> fresh) {
    std::vector<Slot> slots;
    slots.reserve(old.size());
    for (auto const& id : old) {
        auto const is_before = [](instance_id const& a, instance_id const& b) { return a > b; };
        auto const* end = fresh.data() + fresh.size();
        auto const* at = std::lower_bound(fresh.data(), end, id, is_before);
        bool const is_there = at != end && *at == id && !id.str().empty();
        slots.push_back(is_there ? static_cast<Slot>(at - fresh.data()) : no_slot);
    }
    return slots;
}

/// The same allocation in other slots: the old slot s is called slots[s] now. For `sharding_request::previous_runs`.
/// O(runs), or O(items) if the allocation has no `for_each_run`.
template <class Runs = std::vector<run>, class Allocation>
Runs renumbered_runs(Allocation const& a, std::span<slot_index const> slots) {
    Runs runs;
    auto const add = [&](item_index end, slot_index owner) {
        auto const slot = owner < slots.size() ? slots[owner] : no_slot;
        if (!runs.empty() && runs.back().owner == slot)
            runs.back().end = end;
        else
            runs.push_back({end, slot});
    };
    if constexpr (detail::allocation_lists_its_runs<Allocation>)
        a.for_each_run([&](run const& r) { add(r.end, r.owner); });
    else
        for (item_index item = 0; item != a.items(); ++item) add(item + 1, a.owner(item));
    return runs;
}

} // namespace elasticjob
#endif // ELASTICJOB_ALLOCATION_PREVIOUS_HPP
