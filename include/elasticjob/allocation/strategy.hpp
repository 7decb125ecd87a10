// SPDX-License-Identifier: Apache-2.0
/// \file \brief The role of a sharding strategy: a pure function from a request to an allocation.
#ifndef ELASTICJOB_ALLOCATION_STRATEGY_HPP
#define ELASTICJOB_ALLOCATION_STRATEGY_HPP

#include <elasticjob/allocation/allocation.hpp>
#include <elasticjob/core/identity.hpp> // instance_id

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>

namespace elasticjob {

/// What a strategy may know. It borrows everything, so it is good for one call.
struct sharding_request {
    std::string_view job_name; ///< UTF-8
    /// In ElasticJob's order, which is descending by the text of the ids. A slot is a place in this list.
    std::span<instance_id const> instances;
    std::uint32_t item_count = 0;
    /// Per item, the slot that its last owner has in `instances`, or `no_slot` if that instance is gone or there was
    /// none. May be shorter than item_count, and is empty when nothing is known.
    std::span<slot_index const> previous_owners{};

    constexpr std::uint32_t instance_count() const noexcept { return static_cast<std::uint32_t>(instances.size()); }

    constexpr slot_index previous_owner(item_index item) const noexcept {
        return item < previous_owners.size() ? previous_owners[item] : no_slot;
    }
};

namespace detail {

template <class S>
concept strategy_has_a_constant_name = requires {
    { S::name } -> std::convertible_to<std::string_view>;
    typename std::integral_constant<std::size_t, std::string_view{S::name}.size()>;
};

template <class S>
concept strategy_answers_requests = requires(S const& s, sharding_request const& request) {
    { s(request) } -> allocation;
};

} // namespace detail

/// How the items of a job are spread over the instances that are alive.
///
/// | expression   | returns            | must hold                                                                  |
/// |--------------|--------------------|----------------------------------------------------------------------------|
/// | `S::name`    | `std::string_view` | a constant; stored as `jobShardingStrategyClass` of the job, where Java    |
/// |              |                    | peers look for a class of that name                                        |
/// | `s(request)` | an `allocation`    | covers the items of the request over the instances of the request; pure:   |
/// |              |                    | equal requests get equal allocations, in every process and at any time     |
///
/// Preconditions of the call: item_count > 0, instances not empty, their number below `no_slot`. The strategies of this
/// library are total all the same: without instances, or without items, they return an allocation with items() == 0.
///
/// Laws: test/laws/allocation.hpp. Models: AverageAllocation, OdevitySortByName, RotateServerByName; docs/strategies.md
/// shows how to write another.
/// Threads: one object may be called from several threads at the same time.
template <class S>
concept sharding_strategy =
    std::semiregular<S> && detail::strategy_has_a_constant_name<S> && detail::strategy_answers_requests<S>;

} // namespace elasticjob
#endif // ELASTICJOB_ALLOCATION_STRATEGY_HPP
