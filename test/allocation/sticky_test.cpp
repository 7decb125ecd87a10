// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/allocation/sticky.hpp>

#include <allocation/instances.hpp>
#include <laws/allocation.hpp>
#include <support/full_run.hpp>

#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <random>
#include <vector>

using namespace elasticjob;

namespace {

using slots = std::vector<slot_index>;

// Ten items, and one of four instances is gone: only its three items move.
constexpr slot_index of_four[]{0, 0, 0, 1, 1, 1, no_slot, no_slot, 2, no_slot};
constexpr sharding_request after_a_death = [] {
    auto r = request_for(3, 10);
    r.previous_owners = of_four;
    return r;
}();
static_assert([] {
    auto const a = StickyAllocation{}(after_a_death);
    return laws::broken_allocation_law(a) == "" && laws::is_balanced(a) && laws::count_kept(a, after_a_death) == 7;
}());

TEST_CASE("sticky: without previous owners it equals the average strategy, with neighbouring items") {
    CHECK(owners_of(StickyAllocation{}(request_for(3, 8))) == slots{0, 0, 0, 1, 1, 1, 2, 2});
    CHECK(owners_of(StickyAllocation{}(request_for(3, 2))) == slots{0, 1});
    CHECK(StickyAllocation{}(request_for(0, 8)).items() == 0);
    CHECK(StickyAllocation{}(request_for(3, 0)).items() == 0);
}

TEST_CASE("sticky: the larger shares go to instances that would otherwise lose an item") {
    auto request = request_for(3, 7);
    slot_index const before[]{0, 1, 1, 2, 2, 2, 2};
    request.previous_owners = before;
    CHECK(owners_of(StickyAllocation{}(request)) == slots{0, 1, 1, 2, 2, 2, 0});
}

/// All assignments of m items to n slots or to no owner.
template <class Visit>
void for_each_history(std::uint32_t n, std::uint32_t m, Visit visit) {
    slots before(m, 0);
    for (;;) {
        slots shown = before;
        for (auto& owner : shown)
            if (owner == n) owner = no_slot;
        visit(shown);
        std::size_t digit = 0;
        while (digit != m && before[digit] == n) before[digit++] = 0;
        if (digit == m) return;
        ++before[digit];
    }
}

void check_optimal(sharding_request const& request) {
    auto const a = StickyAllocation{}(request);
    REQUIRE(laws::broken_strategy_law(StickyAllocation{}, request) == "");
    REQUIRE(laws::is_balanced(a));
    REQUIRE(laws::count_kept(a, request) == laws::most_kept_in_balance(request));
}

TEST_CASE("sticky: balanced with the fewest moves, for every history of a few items") {
    for (std::uint32_t n = 1; n < 5; ++n)
        for (std::uint32_t m = 1; m < 7; ++m)
            for_each_history(n, m, [&](slots const& before) {
                auto request = request_for(n, m);
                request.previous_owners = before;
                check_optimal(request);
            });
}

/// The greatest number of items that any balanced allocation keeps, found by trying all allocations.
std::uint32_t most_kept_by_trial(sharding_request const& request) {
    std::uint32_t best = 0;
    for_each_history(request.instance_count(), request.item_count, [&](slots const& owners) {
        std::vector<std::uint32_t> shares(request.instance_count());
        std::uint32_t kept = 0;
        for (item_index i = 0; i != owners.size(); ++i) {
            if (owners[i] == no_slot) return;
            ++shares[owners[i]];
            kept += owners[i] == request.previous_owner(i);
        }
        auto const [low, high] = std::ranges::minmax(shares);
        if (high - low <= 1) best = std::max(best, kept);
    });
    return best;
}

TEST_CASE("sticky: the formula for the fewest moves agrees with a trial of all allocations") {
    for_each_history(3, 5, [&](slots const& before) {
        auto request = request_for(3, 5);
        request.previous_owners = before;
        REQUIRE(laws::most_kept_in_balance(request) == most_kept_by_trial(request));
    });
}

TEST_CASE("sticky: balanced with the fewest moves, for random histories, as runs and as tables") {
    std::mt19937 random{1};
    for (int round = 0; round != 300; ++round) {
        random_request const r{random, static_cast<std::uint32_t>(random() % 40 + 1),
                               static_cast<std::uint32_t>(random() % 400)};
        check_optimal(r.request);

        // Three ways must give one answer.
        auto const expected = owners_of(StickyAllocation{}(r.request));
        auto other = r.request;
        other.previous_runs = {};
        other.previous_owners = r.owners;
        REQUIRE(owners_of(StickyAllocation{}(other)) == expected);
        slots table = r.owners;
        table.resize(r.request.item_count, no_slot);
        auto const moved = StickyAllocation::rebalance(table, r.request.instance_count());
        REQUIRE(table == expected);
        REQUIRE(moved == r.request.item_count - laws::count_kept(StickyAllocation{}(r.request), r.request));
    }
}

TEST_CASE("sticky: after many joins and departures each change still moves no more items than necessary") {
    std::mt19937 random{2};
    constexpr std::uint32_t items = 10'000;
    auto const rounds = test::amount_for_this_run({.full = 200, .usual = 50, .sanitized = 200});
    std::vector<run> before;
    std::uint32_t n = 100;
    for (std::size_t round = 0; round != rounds; ++round) {
        auto request = request_for(n, items);
        request.previous_runs = before;
        auto const a = StickyAllocation{}(request);
        REQUIRE(laws::count_kept(a, request) == laws::most_kept_in_balance(request));
        REQUIRE(a.runs().size() <= items);
        before.assign(a.runs().begin(), a.runs().end());
        if (random() % 2 == 0 && n > 1) {
            auto const gone = static_cast<slot_index>(random() % n--);
            for (auto& r : before) r.owner = r.owner == gone ? no_slot : r.owner > gone ? r.owner - 1 : r.owner;
        } else {
            ++n;
        }
    }
}

TEST_CASE("sticky: an empty table, and a table of items without an owner") {
    CHECK(StickyAllocation::rebalance({}, 0) == 0);
    slots table(5, no_slot);
    CHECK(StickyAllocation::rebalance(table, 2) == 5);
    CHECK(table == slots{0, 0, 0, 1, 1});
    CHECK(StickyAllocation::rebalance(table, 2) == 0);
}

} // namespace
