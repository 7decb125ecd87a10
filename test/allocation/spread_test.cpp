// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/allocation/spread.hpp>

#include <allocation/instances.hpp>
#include <laws/allocation.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

using namespace elasticjob;

namespace {

/// The previous owners, in the slots of a list that lacks one of the instances.
std::vector<slot_index> without_slot(std::vector<slot_index> owners, slot_index gone) {
    for (auto& owner : owners) owner = owner == gone ? no_slot : owner > gone ? owner - 1 : owner;
    return owners;
}
/// The same, after an instance has been added at that slot.
std::vector<slot_index> with_slot(std::vector<slot_index> owners, slot_index fresh) {
    for (auto& owner : owners) owner += owner >= fresh;
    return owners;
}

std::uint32_t count_moves(sharding_request const& request) {
    return request.item_count - laws::count_kept(SpreadAllocation{}(request), request);
}

TEST_CASE("spread: with fewer items than instances, at most one item moves when an instance joins or leaves") {
    auto const ids = named_instances(12);
    for (std::uint32_t m = 1; m < 11; ++m)
        for (int job = 0; job != 20; ++job)
            for (slot_index which = 0; which != ids.size(); ++which) {
                auto const rest = without(ids, which);
                auto const name = "job-" + std::to_string(job);
                sharding_request large{.job_name = name, .instances = ids, .item_count = m};
                sharding_request small{.job_name = name, .instances = rest, .item_count = m};
                auto const before = owners_of(SpreadAllocation{}(large));
                auto const after = without_slot(before, which);
                small.previous_owners = after;
                REQUIRE(count_moves(small) == (std::ranges::count(before, which) != 0 ? 1 : 0));

                small.previous_owners = {};
                auto const grown = with_slot(owners_of(SpreadAllocation{}(small)), which);
                large.previous_owners = grown;
                REQUIRE(count_moves(large) <= 1);
            }
}

TEST_CASE("spread: many jobs of one item load the cluster about evenly, and a newcomer gets its share") {
    auto const all = named_instances(10);
    auto const ids = without(all, 4);
    std::vector<std::uint32_t> load(all.size());
    int moved = 0;
    for (int job = 0; job != 2000; ++job) {
        auto const name = "job-" + std::to_string(job);
        auto const before = SpreadAllocation{}({.job_name = name, .instances = ids, .item_count = 1}).owner(0);
        slot_index const known[]{before < 4 ? before : before + 1};
        auto const after =
            SpreadAllocation{}({.job_name = name, .instances = all, .item_count = 1, .previous_owners = known});
        ++load[after.owner(0)];
        moved += after.owner(0) != known[0];
        if (after.owner(0) != known[0]) REQUIRE(after.owner(0) == 4); // only to the newcomer
    }
    for (auto const l : load) {
        CHECK(l > 140); // 200 on average; its deviation is 13
        CHECK(l < 260);
    }
    CHECK(moved == static_cast<int>(load[4]));
}

TEST_CASE("spread: it is balanced, and makes no more moves than its shares need") {
    std::mt19937 random{4};
    for (int round = 0; round != 200; ++round) {
        random_request const r{random, static_cast<std::uint32_t>(random() % 30 + 1),
                               static_cast<std::uint32_t>(random() % 100)};
        REQUIRE(laws::broken_strategy_law(SpreadAllocation{}, r.request) == "");
        auto const a = SpreadAllocation{}(r.request);
        REQUIRE(laws::is_balanced(a));
        REQUIRE(laws::moves_the_fewest_for_its_shares(a, r.request));
        // An instance's share does not depend on the previous owners.
        auto forgetful = r.request;
        forgetful.previous_owners = {};
        forgetful.previous_runs = {};
        REQUIRE(shares_of(SpreadAllocation{}(forgetful)) == shares_of(a));
    }
}

} // namespace
