// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/allocation/plan.hpp>

#include <elasticjob/allocation/average.hpp>
#include <elasticjob/allocation/label.hpp>
#include <elasticjob/allocation/owner_table.hpp>
#include <elasticjob/allocation/sticky.hpp>

#include <allocation/instances.hpp>
#include <laws/allocation.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

using namespace elasticjob;

namespace {

using moves = std::vector<planned_move>;

TEST_CASE("plan: the moves when one of three instances leaves, with the average and the sticky strategy") {
    auto const three = named_instances(3);
    auto const two = without(three, 1);
    sharding_request const next{.job_name = "settle", .instances = two, .item_count = 6};
    closed_form const now{3, 6};

    auto const sticky = plan_moves(three, now, next, StickyAllocation{});
    CHECK(sticky.moves == moves{{2, 3, three[1], three[0]}, {3, 4, three[1], three[2]}});
    CHECK(sticky.kept == 4);
    CHECK(sticky.moved == 2);
    CHECK(sticky.shares == std::vector<planned_share>{{three[0], 2, 3}, {three[2], 2, 3}, {three[1], 2, 0}});

    auto const average = plan_moves<AverageAllocation>(three, now, next);
    CHECK(average.moves == moves{{2, 3, three[1], three[0]}, {3, 4, three[1], three[2]}});
    CHECK(
        plan_moves<AverageAllocation>(three, now, {.job_name = "settle", .instances = three, .item_count = 6}).moved ==
        0);
}

TEST_CASE("plan: added items, removed items, and items without an owner") {
    auto const three = named_instances(3);
    closed_form const now{3, 6};
    auto const more = plan_moves<StickyAllocation>(three, now, {.job_name = "s", .instances = three, .item_count = 9});
    CHECK(more.moved == 3);
    CHECK(more.moves.front().from == instance_id{});
    auto const fewer = plan_moves<StickyAllocation>(three, now, {.job_name = "s", .instances = three, .item_count = 3});
    CHECK(fewer.cut == 3);
    CHECK(fewer.kept + fewer.moved == 3);

    auto const nobody = plan_moves<StickyAllocation>(three, now, {.job_name = "s", .instances = {}, .item_count = 6});
    CHECK(nobody.left == 6);
    CHECK(nobody.moved == 6);
    CHECK(nobody.shares.size() == 3);

    auto const first =
        plan_moves<StickyAllocation>({}, closed_form{}, {.job_name = "s", .instances = three, .item_count = 6});
    CHECK(first.moved == 6);
    CHECK(plan_moves<StickyAllocation>({}, closed_form{}, {.job_name = "s", .instances = {}, .item_count = 0}) ==
          allocation_plan{});

    // An item that stays without an owner does not move.
    item_need const needs[]{{0, 2, "gpu"}};
    auto released = three;
    released[2] = instance_id{};
    slot_index const owners[]{2, 2, 0, 0, 1, 1};
    auto const left = plan_moves<LabelAllocation>(
        released, owner_table{3, owners}, {.job_name = "s", .instances = three, .item_count = 6, .needs = needs});
    CHECK(left.left == 2);
    CHECK(left.moved == 1); // one of the four, to the third
    CHECK(left.kept == 3);
}

TEST_CASE("plan: it reports the strategy's answer for any histories") {
    std::mt19937 random{10};
    for (int round = 0; round != 200; ++round) {
        auto const n = static_cast<std::uint32_t>(random() % 8 + 1);
        random_request const r{random, n, static_cast<std::uint32_t>(random() % 60)};
        auto const all = named_instances(n + 2); // the current owners, two of which will be absent
        std::vector<slot_index> owners(random() % 60);
        for (auto& owner : owners) owner = static_cast<slot_index>(random() % all.size());
        owner_table const now{n + 2, owners};
        auto const plan = plan_moves<LabelAllocation>(all, now, r.request);

        auto request = r.request;
        auto const before = renumbered_runs(now, slots_among(all, r.request.instances));
        request.previous_runs = before;
        auto const then = LabelAllocation{}(request);
        std::uint32_t moved = 0, kept = 0;
        for (item_index i = 0; i != then.items(); ++i) {
            auto const from = i < owners.size() ? all[owners[i]] : instance_id{};
            auto const to = then.owner(i) == no_slot ? instance_id{} : r.request.instances[then.owner(i)];
            kept += from == to && !to.str().empty();
            auto const listed = std::ranges::count_if(plan.moves, [&](planned_move const& m) {
                return m.begin <= i && i < m.end && m.from == from && m.to == to;
            });
            REQUIRE(listed == (from != to ? 1 : 0));
            moved += from != to;
        }
        REQUIRE(plan.moved == moved);
        REQUIRE(plan.kept == kept);
        REQUIRE(plan.cut == (owners.size() > then.items() ? owners.size() - then.items() : 0));
        std::uint32_t now_sum = 0, then_sum = 0;
        for (auto const& s : plan.shares) {
            now_sum += s.now;
            then_sum += s.then;
        }
        REQUIRE(now_sum == owners.size());
        REQUIRE(then_sum + plan.left == then.items());
    }
}

} // namespace
