// SPDX-License-Identifier: Apache-2.0
/// \file \brief A strategy for many small jobs in one cluster: each job chooses its instances by name.
#ifndef ELASTICJOB_ALLOCATION_SPREAD_HPP
#define ELASTICJOB_ALLOCATION_SPREAD_HPP

#include <elasticjob/allocation/name_hash.hpp>
#include <elasticjob/allocation/rebalance.hpp>
#include <elasticjob/allocation/stored_runs.hpp>
#include <elasticjob/allocation/strategy.hpp>
#include <elasticjob/core/decl.hpp>

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace elasticjob {

/// Shares that differ by one item at most. The larger shares go to the instances with the greatest hashes of job name
/// and instance id. If a job has fewer items than instances, only these instances get an item. So a thousand jobs with
/// one item each load all instances about equally, and an instance that joins later gets its part of them. With
/// StickyAllocation it would get none, because that strategy does not change a balanced allocation.
///
/// The sizes of the shares depend only on the present instances. Which items an instance gets depends on the previous
/// owners: the number of moves is the minimum for these sizes. With fewer items than instances, at most one item moves
/// when one instance joins or leaves. O(instances * log instances + runs).
/// Source: highest random weight, see RendezvousAllocation, applied to the shares instead of the items.
struct SpreadAllocation {
    static constexpr std::string_view name = "elasticjob.SpreadAllocation";

    stored_runs operator()(sharding_request const& request) const;
};

static_assert(sharding_strategy<SpreadAllocation>);

} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/allocation/spread.ipp>
#endif
#endif // ELASTICJOB_ALLOCATION_SPREAD_HPP
