// SPDX-License-Identifier: Apache-2.0
/// \file \brief The difference between the present owners and the result of a strategy.
#ifndef ELASTICJOB_ALLOCATION_PLAN_HPP
#define ELASTICJOB_ALLOCATION_PLAN_HPP

#include <elasticjob/allocation/previous.hpp>
#include <elasticjob/allocation/run_list.hpp>
#include <elasticjob/allocation/strategy.hpp>
#include <elasticjob/core/algorithm.hpp>
#include <elasticjob/core/identity.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace elasticjob {

/// The items [begin, end) would move from one owner to another. An empty id means no owner.
struct planned_move {
    item_index begin;
    item_index end;
    instance_id from;
    instance_id to;

    friend bool operator==(planned_move const&, planned_move const&) = default;
};

/// The number of items that an instance has, and would have.
struct planned_share {
    instance_id instance;
    std::uint32_t now;
    std::uint32_t then;

    friend bool operator==(planned_share const&, planned_share const&) = default;
};

struct allocation_plan {
    std::vector<planned_move> moves;   ///< ordered by item; consecutive items with the same move are combined
    std::vector<planned_share> shares; ///< of the future instances, in order, then of the others
    std::uint32_t kept = 0;            ///< items that would keep their owner
    std::uint32_t moved = 0;           ///< items that would get another owner, including those that have none now
    std::uint32_t left = 0;            ///< items that would have no owner; if they have one now, they count as moved
    std::uint32_t cut = 0;             ///< items that would no longer exist

    friend bool operator==(allocation_plan const&, allocation_plan const&) = default;
};

/// The moves that would follow if the strategy were called with `next`. The present allocation is `now`, whose slots
/// refer to `owners` (an empty id means no owner); it replaces the previous owners in `next`. Changes nothing.
/// Preconditions: the instances of both are in ElasticJob's order. Throws what the strategy throws. O(runs of both +
/// instances * log instances), plus the strategy.
template <sharding_strategy Strategy, allocation Now>
allocation_plan plan_moves(std::span<instance_id const> owners, Now const& now, sharding_request next,
                           Strategy const& strategy = {}) {
    auto const slots = slots_among(owners, next.instances);
    auto const before = renumbered_runs(now, slots);
    next.previous_owners = {};
    next.previous_runs = before;
    std::vector<run> old_runs, new_runs;
    append_runs(now, old_runs);
    append_runs(strategy(next), new_runs);
    if (new_runs.empty() && next.item_count != 0) new_runs.push_back({next.item_count, no_slot}); // no instances

    allocation_plan plan;
    for (auto const& id : next.instances) plan.shares.push_back({id, 0, 0});
    auto share_now = [&, gone = std::vector<std::size_t>(owners.size()) ](slot_index owner) mutable -> auto& {
        if (slots[owner] != no_slot) return plan.shares[slots[owner]];
        if (gone[owner] == 0) {
            plan.shares.push_back({owners[owner], 0, 0});
            gone[owner] = plan.shares.size();
        }
        return plan.shares[gone[owner] - 1];
    };
    auto const is_somebody = [&](slot_index owner) { return owner < owners.size() && !owners[owner].str().empty(); };

    // Iterates over both lists together, in pieces with a single owner in each list.
    item_index begin = 0;
    auto then = new_runs.begin();
    for (auto at = old_runs.begin(); at != old_runs.end() || then != new_runs.end();) {
        bool const is_known = at != old_runs.end(), will_be = then != new_runs.end();
        auto const end = !is_known ? then->end : !will_be ? at->end : std::min(at->end, then->end);
        auto const length = end - begin;
        auto const had = is_known && is_somebody(at->owner) ? at->owner : no_slot;
        auto const gets = will_be && then->owner < next.instances.size() ? then->owner : no_slot;
        if (had != no_slot) share_now(had).now += length;
        if (gets != no_slot) plan.shares[gets].then += length;
        if (!will_be) {
            plan.cut += length;
        } else if (had != no_slot && gets == slots[had] && gets != no_slot) {
            plan.kept += length;
        } else {
            if (gets == no_slot) plan.left += length;
            if (had != no_slot || gets != no_slot) {
                plan.moved += length;
                auto from = had == no_slot ? instance_id{} : owners[had];
                auto to = gets == no_slot ? instance_id{} : next.instances[gets];
                auto* last = plan.moves.empty() ? nullptr : &plan.moves.back();
                if (last && last->end == begin && last->from == from && last->to == to)
                    last->end = end;
                else
                    plan.moves.push_back({begin, end, std::move(from), std::move(to)});
            }
        }
        begin = end;
        if (is_known && at->end == end) ++at;
        if (will_be && then->end == end) ++then;
    }
    return plan;
}

} // namespace elasticjob
#endif // ELASTICJOB_ALLOCATION_PLAN_HPP
