// SPDX-License-Identifier: Apache-2.0
// Which strategy is right, and what does it cost when an instance leaves?
//
// Compute it: a strategy is a function, and `plan_moves` shows which items its result would move. Here one of four
// instances leaves, under strategies with different guarantees. docs/strategies.md has the table.
#include <elasticjob/allocation/average.hpp>
#include <elasticjob/allocation/plan.hpp>
#include <elasticjob/allocation/rendezvous.hpp>
#include <elasticjob/allocation/rotate.hpp>
#include <elasticjob/allocation/round_robin_by_name.hpp>
#include <elasticjob/allocation/spread.hpp>
#include <elasticjob/allocation/sticky.hpp>

#include <cstdio>
#include <span>
#include <string_view>
#include <vector>

using namespace elasticjob;

// A strategy can run at compile time. Without previous owners, numbered jobs with one item use the instances in turn.
instance_id const any_four[4];
constexpr slot_index owner_of(std::string_view job) {
    return RoundRobinByName{}({.job_name = job, .instances = any_four, .item_count = 1}).owner(0);
}
static_assert(owner_of("import-2") == (owner_of("import-1") + 1) % 4);
static_assert(owner_of("import-5") == owner_of("import-1"));

// With previous owners: three of the ten items belonged to an instance that has gone, and no others move.
static_assert([] {
    slot_index const before[]{0, 0, 0, 1, 1, 1, no_slot, no_slot, no_slot, 2};
    auto const a = StickyAllocation{}(
        {.job_name = "settle", .instances = std::span{any_four}.first(3), .item_count = 10, .previous_owners = before});
    return a.owner(0) == 0 && a.owner(3) == 1 && a.owner(9) == 2 && a.owner(6) != no_slot;
}());

template <sharding_strategy Strategy>
std::uint32_t moves_when_the_second_leaves(std::vector<instance_id> four) {
    constexpr std::uint32_t items = 1000;
    auto const now = Strategy{}({.job_name = "settle", .instances = four, .item_count = items});
    auto three = four;
    three.erase(three.begin() + 1);
    auto const plan = plan_moves<Strategy>(four, now, {.job_name = "settle", .instances = three, .item_count = items});
    auto const title = Strategy::name.substr(Strategy::name.rfind('.') + 1);
    std::printf("%-38.*s %4u of %u items move\n", static_cast<int>(title.size()), title.data(), plan.moved, items);
    return plan.moved;
}

int main() {
    std::vector<instance_id> four;
    for (auto const* const text : {"10.0.0.4@-@4", "10.0.0.3@-@3", "10.0.0.2@-@2", "10.0.0.1@-@1"})
        four.push_back(instance_id::parse(text).value()); // in ElasticJob's order, which is descending

    (void)moves_when_the_second_leaves<AverageAllocation>(four);
    (void)moves_when_the_second_leaves<RotateServerByName>(four);
    (void)moves_when_the_second_leaves<RendezvousAllocation>(four);
    (void)moves_when_the_second_leaves<SpreadAllocation>(four);
    return moves_when_the_second_leaves<StickyAllocation>(four) == 250 ? 0 : 1; // a quarter, the minimum
}
