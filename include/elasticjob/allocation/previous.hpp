// SPDX-License-Identifier: Apache-2.0
/// \file \brief Converts previous owners to the slots of another list of instances.
#ifndef ELASTICJOB_ALLOCATION_PREVIOUS_HPP
#define ELASTICJOB_ALLOCATION_PREVIOUS_HPP

#include <elasticjob/allocation/allocation.hpp>
#include <elasticjob/core/algorithm.hpp>
#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/identity.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace elasticjob {

/// The slot of each of the `old` instances among the `fresh` ones, or `no_slot` if it is not among them or its id is
/// empty. Precondition: `fresh` is in ElasticJob's order. O(old * log fresh).
std::vector<slot_index> slots_among(std::span<instance_id const> old, std::span<instance_id const> fresh);

/// The same allocation with other slots: the old slot s becomes slots[s]. For `sharding_request::previous_runs`.
/// O(runs), or O(items) if the allocation has no `for_each_run`.
template <class Allocation>
std::vector<run> renumbered_runs(Allocation const& a, std::span<slot_index const> slots) {
    std::vector<run> runs;
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

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/allocation/previous.ipp>
#endif
#endif // ELASTICJOB_ALLOCATION_PREVIOUS_HPP
