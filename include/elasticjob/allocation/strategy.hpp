// SPDX-License-Identifier: Apache-2.0
/// \file \brief The role of a sharding strategy: a pure function from a request to an allocation.
#ifndef ELASTICJOB_ALLOCATION_STRATEGY_HPP
#define ELASTICJOB_ALLOCATION_STRATEGY_HPP

#include <elasticjob/allocation/allocation.hpp>
#include <elasticjob/allocation/traits.hpp>
#include <elasticjob/core/identity.hpp> // instance_id

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>

namespace elasticjob {

/// The input of a strategy. It refers to its data, so it is valid for one call.
struct sharding_request {
    std::string_view job_name; ///< UTF-8
    /// In ElasticJob's order, which is descending by the text of the ids. A slot is an index into this list.
    std::span<instance_id const> instances;
    std::uint32_t item_count = 0;
    /// For each item, the slot of its last owner in `instances`, or `no_slot` if that instance is gone or there was
    /// none. May be shorter than item_count, and is empty if nothing is known.
    std::span<slot_index const> previous_owners{};
    /// The previous owners as runs. If they are not empty, they replace the table. They may end before the last item.
    std::span<run const> previous_runs{};
    /// For each slot; empty: all have the default. Set only for a strategy that `uses_traits`.
    std::span<instance_traits const> traits{};
    /// In the order of the items; each item is in one need at most, and items in none need no labels. Set only for a
    /// strategy that `uses_traits`.
    std::span<item_need const> needs{};
    /// The name in the job's configuration, for `Strategies`, which combines several; empty: the first of them.
    std::string_view strategy{};

    constexpr std::uint32_t instance_count() const noexcept { return static_cast<std::uint32_t>(instances.size()); }

    /// O(1), or O(log runs) with `previous_runs`.
    constexpr slot_index previous_owner(item_index item) const noexcept {
        if (previous_runs.empty()) return item < previous_owners.size() ? previous_owners[item] : no_slot;
        std::size_t first = 0; // the wanted run is the first one that ends after the item, if any
        for (std::size_t count = previous_runs.size(); count != 0;) {
            auto const half = count / 2;
            bool const is_before = previous_runs[first + half].end <= item;
            first += is_before ? half + 1 : 0;
            count = is_before ? count - half - 1 : half;
        }
        return first == previous_runs.size() ? no_slot : previous_runs[first].owner;
    }

    constexpr std::uint32_t weight(slot_index slot) const noexcept { return traits_of(slot).weight; }
    constexpr std::string_view labels(slot_index slot) const noexcept { return traits_of(slot).labels; }
    constexpr instance_traits traits_of(slot_index slot) const noexcept {
        return slot < traits.size() ? traits[slot] : instance_traits{};
    }
};

namespace detail {

template <class S>
concept strategy_has_a_constant_name = requires {
    { S::name } -> std::convertible_to<std::string_view>;
    typename std::integral_constant<std::size_t, std::string_view{S::name}.size()>;
};

/// Whether the strategy reads the weights and labels of the instances and the needs of the items.
template <class S>
inline constexpr bool strategy_uses_traits = false;
template <class S>
requires requires { S::uses_traits; }
inline constexpr bool strategy_uses_traits<S> = S::uses_traits;

template <class S>
concept strategy_answers_requests = requires(S const& s, sharding_request const& request) {
    { s(request) } -> allocation;
};

} // namespace detail

/// Distributes the items of a job over its live instances.
///
/// | expression   | returns            | must hold                                                                  |
/// |--------------|--------------------|----------------------------------------------------------------------------|
/// | `S::name`    | `std::string_view` | a constant; stored as `jobShardingStrategyClass` of the job, where Java    |
/// |              |                    | members look for a class with that name                                    |
/// | `s(request)` | an `allocation`    | covers the items of the request over the instances of the request; pure:   |
/// |              |                    | equal requests get equal allocations, in every process and at any time     |
/// | `S::uses_traits` | `bool`         | optional; true: the request has `traits` and `needs`. The leader then      |
/// |              |                    | watches the nodes of these                                                 |
///
/// Preconditions of the call: item_count > 0, instances not empty, their number below `no_slot`. The strategies of this
/// library also accept other requests: without instances, or without items, they return an allocation with items() ==
/// 0. If a strategy throws, even for lack of memory, the assignment stays as it is, and the leader reports the error.
///
/// Laws: test/laws/allocation.hpp. Models: AverageAllocation, OdevitySortByName, RotateServerByName; StickyAllocation,
/// SpreadAllocation, RoundRobinByName, RendezvousAllocation; WeightedAllocation, LabelAllocation. docs/strategies.md
/// compares them, and shows how to write another.
/// Threads: one object may be called from several threads at the same time.
template <class S>
concept sharding_strategy =
    std::semiregular<S> && detail::strategy_has_a_constant_name<S> && detail::strategy_answers_requests<S>;

} // namespace elasticjob
#endif // ELASTICJOB_ALLOCATION_STRATEGY_HPP
