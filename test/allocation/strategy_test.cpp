// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/allocation/strategy.hpp>

#include <elasticjob/allocation/average.hpp>
#include <elasticjob/allocation/computed.hpp>
#include <elasticjob/allocation/label.hpp>
#include <elasticjob/allocation/odevity.hpp>
#include <elasticjob/allocation/rendezvous.hpp>
#include <elasticjob/allocation/rotate.hpp>
#include <elasticjob/allocation/round_robin_by_name.hpp>
#include <elasticjob/allocation/spread.hpp>
#include <elasticjob/allocation/sticky.hpp>
#include <elasticjob/allocation/weighted.hpp>

#include <allocation/instances.hpp>
#include <laws/allocation.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <numeric>
#include <random>
#include <string>
#include <string_view>
#include <vector>

using namespace elasticjob;

namespace {

// ---- The vectors of ElasticJob-Lite 2.1.5: slot k is host k.

using expected_lists = std::initializer_list<std::initializer_list<item_index>>;

constexpr bool has_lists(closed_form const& a, expected_lists expected) {
    slot_index slot = 0;
    return std::ranges::all_of(expected,
                               [&](auto const& list) { return std::ranges::equal(a.items_of(slot++), list); }) &&
           slot == a.instances();
}

static_assert(has_lists(AverageAllocation{}(request_for(0, 3)), {}));
static_assert(has_lists(AverageAllocation{}(request_for(1, 3)), {{0, 1, 2}}));
static_assert(has_lists(AverageAllocation{}(request_for(3, 2)), {{0}, {1}, {}}));
static_assert(has_lists(AverageAllocation{}(request_for(3, 9)), {{0, 1, 2}, {3, 4, 5}, {6, 7, 8}}));
static_assert(has_lists(AverageAllocation{}(request_for(3, 8)), {{0, 1, 6}, {2, 3, 7}, {4, 5}}));
static_assert(has_lists(AverageAllocation{}(request_for(3, 10)), {{0, 1, 2, 9}, {3, 4, 5}, {6, 7, 8}}));

static_assert(has_lists(OdevitySortByName{}(request_for(3, 2, "1")), {{0}, {1}, {}}));
static_assert(has_lists(OdevitySortByName{}(request_for(3, 2, "0")), {{}, {1}, {0}}));

static_assert(has_lists(RotateServerByName{}(request_for(3, 2, "1")), {{}, {0}, {1}}));
static_assert(has_lists(RotateServerByName{}(request_for(3, 2, "2")), {{1}, {}, {0}}));
static_assert(has_lists(RotateServerByName{}(request_for(3, 2, "3")), {{0}, {1}, {}}));

// A hash whose absolute value Java cannot express: 2.1.5 has no answer for 3 and 5 instances.
constexpr slot_index first_of_smallest_hash(std::uint32_t instances) {
    return RotateServerByName{}(request_for(instances, 1, "polygenelubricants")).owner(0);
}
static_assert(first_of_smallest_hash(2) == 0);
static_assert(first_of_smallest_hash(3) == 1);
static_assert(first_of_smallest_hash(4) == 0);
static_assert(first_of_smallest_hash(5) == 2);

// They have the names that Java peers read in the job's configuration.
#define JAVA_PACKAGE "com.dangdang.ddframe.job.lite.api.strategy.impl."
static_assert(AverageAllocation::name == JAVA_PACKAGE "AverageAllocationJobShardingStrategy");
static_assert(OdevitySortByName::name == JAVA_PACKAGE "OdevitySortByNameJobShardingStrategy");
static_assert(RotateServerByName::name == JAVA_PACKAGE "RotateServerByNameJobShardingStrategy");

// Defined for all arguments: if the preconditions do not hold, no item has an owner.
static_assert(RotateServerByName{}(request_for(0, 3)) == closed_form{});
static_assert(OdevitySortByName{}(request_for(0, 3, "0")) == closed_form{});
static_assert(AverageAllocation{}(request_for(3, 0)).items() == 0);

// ---- A strategy as in the documentation.

struct RoundRobin {
    static constexpr std::string_view name = "com.example.RoundRobin";
    constexpr auto operator()(sharding_request const& request) const {
        return allocate_by(request, [n = request.instance_count()](item_index item) { return item % n; });
    }
};
static_assert(sharding_strategy<RoundRobin>);
static_assert(laws::broken_strategy_law(RoundRobin{}, request_for(4, 10)) == "");

/// A use of the previous owners: every item stays with its owner, and the first slot gets the rest.
struct Stay {
    static constexpr std::string_view name = "com.example.Stay";
    auto operator()(sharding_request const& request) const {
        return allocate_by(request, [request](item_index item) {
            auto const previous = request.previous_owner(item);
            return previous == no_slot ? 0 : previous;
        });
    }
};

TEST_CASE("sharding request: unknown previous owners are no owner") {
    auto request = request_for(3, 4);
    CHECK(request.previous_owner(0) == no_slot);

    slot_index const previous[]{2, no_slot, 1};
    request.previous_owners = previous;
    CHECK(request.previous_owner(0) == 2);
    CHECK(request.previous_owner(1) == no_slot);
    CHECK(request.previous_owner(3) == no_slot);

    // As runs, which take precedence over the table.
    run const runs[]{{2, 1}, {3, no_slot}, {5, 0}};
    auto told_in_runs = request;
    told_in_runs.previous_runs = runs;
    slot_index const expected[]{1, 1, no_slot, 0, 0, no_slot};
    for (item_index i = 0; i != 6; ++i) CHECK(told_in_runs.previous_owner(i) == expected[i]);

    CHECK(laws::broken_strategy_law(Stay{}, request) == "");
    auto const a = Stay{}(request);
    CHECK(a.owner(0) == 2);
    CHECK(a.owner(1) == 0);
    CHECK(a.owner(2) == 1);
    CHECK(a.owner(3) == 0);
}

// ---- For each requirement of the concept, a type that lacks it.

struct without_name : RoundRobin {
    void name() const = delete;
};
struct with_name_made_at_run_time : RoundRobin {
    static inline std::string_view name;
};
struct with_number_as_name : RoundRobin {
    static constexpr int name = 1;
};
struct without_call : RoundRobin {
    void operator()(sharding_request const&) const = delete;
};
struct with_call_that_changes_it : RoundRobin {
    closed_form operator()(sharding_request const&);
};
struct with_answer_that_is_no_allocation : RoundRobin {
    std::vector<slot_index> operator()(sharding_request const&) const;
};
struct without_default : RoundRobin {
    explicit without_default(int);
};
static_assert(!sharding_strategy<without_name>);
static_assert(!sharding_strategy<with_name_made_at_run_time>);
static_assert(!sharding_strategy<with_number_as_name>);
static_assert(!sharding_strategy<without_call>);
static_assert(!sharding_strategy<with_call_that_changes_it>);
static_assert(!sharding_strategy<with_answer_that_is_no_allocation>);
static_assert(!sharding_strategy<without_default>);

// ---- The laws, and proof that each can be broken.

char const* const job_names[]{"", "0", "1", "2", "3", "test_job", "任务", "😀", "polygenelubricants", "GydZG_"};

TEST_CASE_TEMPLATE("strategy: the laws hold, and shares differ by at most one", Strategy, AverageAllocation,
                   OdevitySortByName, RotateServerByName, RoundRobin) {
    auto const check = [](sharding_request const& request) {
        CAPTURE(request.instance_count());
        CAPTURE(request.item_count);
        CAPTURE(std::string{request.job_name});
        REQUIRE(laws::broken_strategy_law(Strategy{}, request) == "");
        auto const a = Strategy{}(request);
        REQUIRE(laws::is_balanced(a));
    };
    for (char const* const job : job_names)
        for (std::uint32_t n = 1; n < 12; ++n)
            for (std::uint32_t m = 1; m < 40; ++m) check(request_for(n, m, job));

    std::mt19937 random{42};
    for (int i = 0; i != 10; ++i) {
        auto const n = static_cast<std::uint32_t>(random() % 200 + 1);
        check(request_for(n, static_cast<std::uint32_t>(random() % 10000 + 1), job_names[i]));
    }
}

#define EVERY_STRATEGY                                                                                                 \
    AverageAllocation, OdevitySortByName, RotateServerByName, RoundRobin, Stay, StickyAllocation, WeightedAllocation,  \
        RendezvousAllocation, SpreadAllocation, RoundRobinByName, LabelAllocation

TEST_CASE_TEMPLATE("strategy: the laws hold for all small sizes and for any other contents of a request", Strategy,
                   EVERY_STRATEGY) {
    std::mt19937 random{7};
    auto const check = [&](std::uint32_t n, std::uint32_t m) {
        random_request const r{random, n, m};
        CAPTURE(n);
        CAPTURE(m);
        REQUIRE(laws::broken_strategy_law(Strategy{}, r.request) == "");
    };
    for (std::uint32_t n = 1; n < 9; ++n)
        for (std::uint32_t m = 0; m < 25; ++m)
            for (int round = 0; round != 5; ++round) check(n, m);
    for (int round = 0; round != 5; ++round)
        check(static_cast<std::uint32_t>(random() % 100 + 1), static_cast<std::uint32_t>(random() % 2000));
    CHECK(Strategy{}(sharding_request{}).items() == 0);
}

TEST_CASE_TEMPLATE("strategy: shares differ by at most one where the strategy promises it", Strategy, AverageAllocation,
                   OdevitySortByName, RotateServerByName, StickyAllocation, SpreadAllocation, RoundRobinByName) {
    std::mt19937 random{8};
    for (int round = 0; round != 100; ++round) {
        random_request const r{random, static_cast<std::uint32_t>(random() % 40 + 1),
                               static_cast<std::uint32_t>(random() % 300)};
        REQUIRE(laws::is_balanced(Strategy{}(r.request)));
    }
}

TEST_CASE_TEMPLATE("strategy: given its own answer as previous owners, it moves nothing", Strategy, StickyAllocation,
                   WeightedAllocation, SpreadAllocation, LabelAllocation, RendezvousAllocation) {
    std::mt19937 random{9};
    for (int round = 0; round != 100; ++round) {
        random_request r{random, static_cast<std::uint32_t>(random() % 20 + 1), static_cast<std::uint32_t>(random() % 300)};
        auto const first = owners_of(Strategy{}(r.request));
        r.request.previous_runs = {};
        r.request.previous_owners = first;
        REQUIRE(owners_of(Strategy{}(r.request)) == first);
    }
}

struct ForgetsTheLast : AverageAllocation {
    closed_form operator()(sharding_request const& request) const {
        return {request.instance_count(), request.item_count - 1};
    }
};
struct ForgetsAnInstance : AverageAllocation {
    closed_form operator()(sharding_request const& request) const {
        return {request.instance_count() - 1, request.item_count};
    }
};
struct TurnsAtEachCall : AverageAllocation {
    closed_form operator()(sharding_request const& request) const {
        static int calls = 0;
        return {request.instance_count(), request.item_count, {.rotated_left = ++calls}};
    }
};
struct OwnsTooMuch : AverageAllocation {
    auto operator()(sharding_request const& request) const {
        struct too_much : closed_form {
            slot_index owner(item_index) const { return instances(); }
        };
        return too_much{AverageAllocation::operator()(request)};
    }
};

TEST_CASE("laws of strategies: each can be broken") {
    auto const request = request_for(3, 10);
    CHECK(laws::broken_strategy_law(ForgetsTheLast{}, request) == "the items are those of the request");
    CHECK(laws::broken_strategy_law(ForgetsAnInstance{}, request) == "the slots are the instances of the request");
    CHECK(laws::broken_strategy_law(TurnsAtEachCall{}, request) == "equal requests get equal allocations");
    CHECK(laws::broken_strategy_law(OwnsTooMuch{}, request) == "every owner is a slot");
}

// ---- The same as Java, for all small sizes: the original's steps on a real list.

std::vector<std::vector<item_index>> dealt_like_java(std::vector<slot_index> const& order, std::uint32_t items) {
    std::vector<std::vector<item_index>> lists(order.size());
    item_index next = 0;
    for (auto const slot : order)
        for (auto share = items / order.size(); share != 0; --share) lists[slot].push_back(next++);
    for (auto const slot : order)
        if (next != items) lists[slot].push_back(next++);
    return lists;
}

std::vector<slot_index> in_order(std::uint32_t n) {
    std::vector<slot_index> order(n);
    std::iota(order.begin(), order.end(), 0u);
    return order;
}

void check_same(closed_form const& a, std::vector<std::vector<item_index>> const& expected) {
    REQUIRE(a.instances() == expected.size());
    for (slot_index slot = 0; slot != a.instances(); ++slot)
        REQUIRE(std::ranges::equal(a.items_of(slot), expected[slot]));
}

TEST_CASE("strategies: the same lists in the same order as Java") {
    for (char const* const job : job_names)
        for (std::uint32_t n = 1; n < 12; ++n)
            for (std::uint32_t m = 1; m < 40; ++m) {
                auto const hash = java_string_hash(job);
                CAPTURE(job);
                CAPTURE(n);
                CAPTURE(m);
                check_same(AverageAllocation{}(request_for(n, m, job)), dealt_like_java(in_order(n), m));

                auto reversed = in_order(n);
                if (hash % 2 == 0) std::ranges::reverse(reversed);
                check_same(OdevitySortByName{}(request_for(n, m, job)), dealt_like_java(reversed, m));

                auto const offset = std::abs(std::int64_t{hash}) % n;
                if (hash == INT32_MIN && offset != 0) continue; // Java throws here.
                auto rotated = in_order(n);
                std::ranges::rotate(rotated, rotated.begin() + offset);
                check_same(RotateServerByName{}(request_for(n, m, job)), dealt_like_java(rotated, m));
            }
}

} // namespace
