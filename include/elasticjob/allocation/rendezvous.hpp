// SPDX-License-Identifier: Apache-2.0
/// \file \brief Owners that follow from names alone, and few moves without any memory of who had what.
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

/// Each item goes to the instance that attracts it most, by a hash of job, item and instance id. So who leaves leaves
/// only his own items behind, who joins takes only what he attracts most, and nothing else moves: the fewest moves that
/// are possible without knowing the owners before. The price is balance: with 100 items each, the largest share is about
/// 1.2 to 1.4 times the average. Where previous owners are known, StickyAllocation has both.
///
/// `owner` finds one owner with nothing stored, O(instances); the whole is O(items * instances), about 1 ns for each.
/// Source: highest random weight, Thaler and Ravishankar, "Using name-based mappings to increase hit rates", IEEE/ACM
/// Transactions on Networking 6 (1998).
struct RendezvousAllocation {
    static constexpr std::string_view name = "elasticjob.RendezvousAllocation";

    /// The slot that gets the item. Precondition: there are instances.
    static slot_index owner(sharding_request const& request, item_index item);

    stored_runs operator()(sharding_request const& request) const;

private:
    /// Of equals the lower slot, which is the greater id: so even a tie does not depend on who else is there.
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
