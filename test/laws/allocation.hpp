// SPDX-License-Identifier: Apache-2.0
/// \file \brief The laws of allocations and of sharding strategies, for every model.
#ifndef ELASTICJOB_TEST_LAWS_ALLOCATION_HPP
#define ELASTICJOB_TEST_LAWS_ALLOCATION_HPP

#include <elasticjob/allocation/allocation.hpp>
#include <elasticjob/allocation/strategy.hpp>

#include <algorithm>
#include <cstdint>
#include <string_view>

/// Each function returns the first law that does not hold, or an empty text. So a law can be checked at compile time
/// and by any test framework, and can itself be tested. Costs one pass over `items_of` for each slot.
namespace laws {

namespace detail {

/// Whether the item has no owner, if the allocation may leave items unowned.
template <elasticjob::allocation A>
constexpr bool is_left(elasticjob::slot_index owner) {
    return elasticjob::detail::allocation_may_leave_items<A> && owner == elasticjob::no_slot;
}

template <elasticjob::allocation A>
constexpr std::string_view broken_owner_law(A const& a) {
    if (a.instances() == 0 && a.items() != 0) return "without slots there are no items";
    for (elasticjob::item_index item = 0; item != a.items(); ++item) {
        auto const owner = a.owner(item);
        if (owner >= a.instances() && !is_left<A>(owner)) return "every owner is a slot";
        if (owner != a.owner(item)) return "asking twice gives the same owner";
    }
    return {};
}

template <elasticjob::allocation A>
constexpr std::string_view broken_items_law(A const& a) {
    std::uint64_t listed = 0;
    for (elasticjob::item_index item = 0; item != a.items(); ++item) listed += is_left<A>(a.owner(item));
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
        else if (r.owner == before.owner && before.end != 0)
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

/// The laws of `allocation`: it covers each item exactly once, with one owner, by `owner` as well as by `items_of`.
template <elasticjob::allocation A>
constexpr std::string_view broken_allocation_law(A const& a) {
    if (auto const broken = detail::broken_owner_law(a); !broken.empty()) return broken;
    if (auto const broken = detail::broken_items_law(a); !broken.empty()) return broken;
    if constexpr (elasticjob::detail::allocation_lists_its_runs<A>) return detail::broken_run_law(a);
    return {};
}

/// A further promise of some strategies: the shares of two instances differ by one item at most.
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

/// The number of items that stay with their previous owners.
template <elasticjob::allocation A>
constexpr std::uint32_t count_kept(A const& a, elasticjob::sharding_request const& request) {
    std::uint32_t kept = 0;
    for (elasticjob::item_index item = 0; item != a.items(); ++item) {
        auto const before = request.previous_owner(item);
        kept += before < a.instances() && before == a.owner(item);
    }
    return kept;
}

/// A further promise of some strategies: no allocation with the same shares leaves more items at their previous owners.
template <elasticjob::allocation A>
constexpr bool moves_the_fewest_for_its_shares(A const& a, elasticjob::sharding_request const& request) {
    std::uint32_t possible = 0;
    for (elasticjob::slot_index slot = 0; slot != a.instances(); ++slot) {
        std::uint32_t had = 0, has = 0;
        for (elasticjob::item_index item = 0; item != a.items(); ++item) {
            had += request.previous_owner(item) == slot;
            has += a.owner(item) == slot;
        }
        possible += std::min(had, has);
    }
    return count_kept(a, request) == possible;
}

/// The maximum number of items that a balanced allocation can keep: sum(min(c, q)) + min(r, number of c > q).
constexpr std::uint32_t most_kept_in_balance(elasticjob::sharding_request const& request) {
    auto const n = request.instance_count();
    if (n == 0) return 0;
    auto const q = request.item_count / n, r = request.item_count % n;
    std::uint32_t kept = 0, had_more = 0;
    for (elasticjob::slot_index slot = 0; slot != n; ++slot) {
        std::uint32_t had = 0;
        for (elasticjob::item_index item = 0; item != request.item_count; ++item)
            had += request.previous_owner(item) == slot;
        kept += std::min(had, q);
        had_more += had > q;
    }
    return kept + std::min(r, had_more);
}

/// The laws of `sharding_strategy`, for a request that fulfils the preconditions.
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
