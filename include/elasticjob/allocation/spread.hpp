// SPDX-License-Identifier: Apache-2.0
/// \file \brief Many small jobs over one cluster: each job chooses its instances by name, and keeps them.
#ifndef ELASTICJOB_ALLOCATION_SPREAD_HPP
#define ELASTICJOB_ALLOCATION_SPREAD_HPP

#include <elasticjob/allocation/name_hash.hpp>
#include <elasticjob/allocation/redeal.hpp>
#include <elasticjob/allocation/stored_runs.hpp>
#include <elasticjob/allocation/strategy.hpp>
#include <elasticjob/core/decl.hpp>

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

    stored_runs operator()(sharding_request const& request) const;
};

static_assert(sharding_strategy<SpreadAllocation>);

} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/allocation/spread.ipp>
#endif
#endif // ELASTICJOB_ALLOCATION_SPREAD_HPP
