// SPDX-License-Identifier: Apache-2.0
/// \file \brief A strategy that needs only names: few moves, without previous owners.
#ifndef ELASTICJOB_ALLOCATION_RENDEZVOUS_HPP
#define ELASTICJOB_ALLOCATION_RENDEZVOUS_HPP

#include <elasticjob/allocation/name_hash.hpp>
#include <elasticjob/allocation/stored_runs.hpp>
#include <elasticjob/allocation/strategy.hpp>
#include <elasticjob/core/decl.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace elasticjob {

/// Each item goes to the instance with the greatest hash of job, item and instance id. When an instance leaves, only
/// its own items move; when one joins, it takes only the items for which its hash is the greatest. These are the fewest
/// moves that are possible without knowing the previous owners. The price is balance: with 100 items for each instance,
/// the largest share is about 1.2 to 1.4 times the average. If previous owners are known, StickyAllocation has balance
/// and few moves.
///
/// `owner` computes one owner without stored data, O(instances). The whole allocation is O(items * instances), about 1
/// ns for each pair.
/// Source: highest random weight, Thaler and Ravishankar, "Using name-based mappings to increase hit rates", IEEE/ACM
/// Transactions on Networking 6 (1998).
struct RendezvousAllocation {
    static constexpr std::string_view name = "elasticjob.RendezvousAllocation";

    /// The slot that gets the item. Precondition: there are instances.
    static slot_index owner(sharding_request const& request, item_index item);

    stored_runs operator()(sharding_request const& request) const;

private:
    /// If hashes are equal, the lower slot wins, which has the greater id. So even then the result does not depend on
    /// the other instances.
    struct strongest {
        std::uint64_t pull = 0;
        slot_index slot = 0;

        void take(std::uint64_t p, slot_index s) noexcept;
    };

    static constexpr std::uint64_t item_hash(std::uint64_t job, item_index item) noexcept {
        return detail::mix_bits(job + 0x9E37'79B9'7F4A'7C15ULL * (std::uint64_t{item} + 1));
    }
};

static_assert(sharding_strategy<RendezvousAllocation>);

} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/allocation/rendezvous.ipp>
#endif
#endif // ELASTICJOB_ALLOCATION_RENDEZVOUS_HPP
