// SPDX-License-Identifier: Apache-2.0
/// \file \brief The laws of allocations and of sharding strategies, for every model there is.
#ifndef ELASTICJOB_TEST_LAWS_ALLOCATION_HPP
#define ELASTICJOB_TEST_LAWS_ALLOCATION_HPP

#include <elasticjob/allocation/allocation.hpp>
#include <elasticjob/allocation/strategy.hpp>

#include <algorithm>
#include <cstdint>
#include <string_view>

/// Each function names the first law that does not hold, or returns an empty text. So a law can be checked at compile
/// time, by any test framework, and can itself be tested. The cost is one walk over `items_of` per slot.
namespace laws {

namespace detail {

template <elasticjob::allocation A>
constexpr std::string_view broken_owner_law(A const& a) {
    if (a.instances() == 0 && a.items() != 0) return "without slots there are no items";
    for (elasticjob::item_index item = 0; item != a.items(); ++item) {
        auto const owner = a.owner(item);
        if (owner >= a.instances()) return "every owner is a slot";
        if (owner != a.owner(item)) return "asking twice gives the same owner";
    }
    return {};
}

template <elasticjob::allocation A>
constexpr std::string_view broken_items_law(A const& a) {
    std::uint64_t listed = 0;
    for (elasticjob::slot_index slot = 0; slot != a.instances(); ++slot) {
        std::uint64_t smallest_next = 0;
        auto const& items = a.items_of(slot);
        for (elasticjob::item_index const item : items) {
            if (item >= a.items()) return "only items of the job are listed";
            if (item < smallest_next) return "items are listed in ascending order, each once";
            if (a.owner(item) != slot) return "an item is listed under its owner only";
            smallest_next = std::uint64_t{item} + 1;
            ++listed;
        }
        if (!std::ranges::equal(items, a.items_of(slot))) return "asking twice gives the same items";
    }
    return listed == a.items() ? std::string_view{} : "every item is listed";
}

template <elasticjob::allocation A>
constexpr std::string_view broken_run_law(A const& a) {
    std::string_view broken;
    elasticjob::run before{0, elasticjob::no_slot};
    a.for_each_run([&](elasticjob::run const& r) {
        if (!broken.empty()) return;
        if (r.end <= before.end || r.end > a.items())
            broken = "no run is empty or reaches beyond the items";
        else if (r.owner == before.owner)
            broken = "neighbouring runs have different owners";
        else
            for (auto item = before.end; item != r.end; ++item)
                if (a.owner(item) != r.owner) broken = "a run has the owner of its items";
        before = r;
    });
    if (broken.empty() && before.end != a.items()) return "the runs cover the items";
    return broken;
}

} // namespace detail

/// The laws of `allocation`: exact cover, one owner for each item, in the table and in the lists alike.
template <elasticjob::allocation A>
constexpr std::string_view broken_allocation_law(A const& a) {
    if (auto const broken = detail::broken_owner_law(a); !broken.empty()) return broken;
    if (auto const broken = detail::broken_items_law(a); !broken.empty()) return broken;
    if constexpr (elasticjob::detail::allocation_lists_its_runs<A>) return detail::broken_run_law(a);
    return {};
}

/// What a strategy may promise besides: the shares of two instances differ by one item at most.
template <elasticjob::allocation A>
constexpr bool is_balanced(A const& a) {
    auto const floor = a.instances() == 0 ? 0 : a.items() / a.instances();
    for (elasticjob::slot_index slot = 0; slot != a.instances(); ++slot) {
        auto const& items = a.items_of(slot);
        auto const share = std::ranges::distance(items);
        if (share != floor && share != std::int64_t{floor} + 1) return false;
    }
    return true;
}

/// The laws of `sharding_strategy`, for a request that keeps the preconditions.
template <elasticjob::sharding_strategy S>
constexpr std::string_view broken_strategy_law(S const& strategy, elasticjob::sharding_request const& request) {
    auto const a = strategy(request);
    if (a.instances() != request.instance_count()) return "the slots are the instances of the request";
    if (a.items() != request.item_count) return "the items are those of the request";
    if (auto const broken = broken_allocation_law(a); !broken.empty()) return broken;

    auto const copy = strategy;
    auto const& b = copy(request);
    for (elasticjob::item_index item = 0; item != a.items(); ++item)
        if (a.owner(item) != b.owner(item)) return "equal requests get equal allocations";
    return {};
}

} // namespace laws
#endif // ELASTICJOB_TEST_LAWS_ALLOCATION_HPP
