// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/allocation/allocation.hpp>

#include <elasticjob/allocation/closed_form.hpp>
#include <elasticjob/allocation/computed.hpp>
#include <elasticjob/allocation/owner_table.hpp>
#include <elasticjob/allocation/run_list.hpp>

#include <allocation/instances.hpp>
#include <laws/allocation.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

using namespace elasticjob;

namespace {

// ---- For each requirement of the concept, a type that lacks it.

struct without_instances : closed_form {
    void instances() const = delete;
};
struct without_items : closed_form {
    void items() const = delete;
};
struct without_owner : closed_form {
    void owner(item_index) const = delete;
};
struct with_signed_owner : closed_form {
    int owner(item_index) const;
};
struct without_items_of : closed_form {
    void items_of(slot_index) const = delete;
};
struct with_items_that_are_no_items : closed_form {
    std::span<std::string const> items_of(slot_index) const;
};
struct with_an_owner_that_changes_it : closed_form {
    slot_index owner(item_index);
};
struct immovable : closed_form {
    immovable(immovable&&) = delete;
};
static_assert(allocation<closed_form>);
static_assert(!allocation<without_instances>);
static_assert(!allocation<without_items>);
static_assert(!allocation<without_owner>);
static_assert(!allocation<with_signed_owner>);
static_assert(!allocation<without_items_of>);
static_assert(!allocation<with_items_that_are_no_items>);
static_assert(!allocation<with_an_owner_that_changes_it>);
static_assert(!allocation<immovable>);

// ---- How to make every model for a number of instances and items.

struct served_in_order {
    closed_form made(std::uint32_t n, std::uint32_t m) { return {n, m}; }
};
struct served_in_reverse {
    closed_form made(std::uint32_t n, std::uint32_t m) { return {n, m, {.reversed = true}}; }
};
struct served_from_the_third {
    closed_form made(std::uint32_t n, std::uint32_t m) { return {n, m, {.rotated_left = 2}}; }
};
struct served_in_reverse_from_the_third {
    closed_form made(std::uint32_t n, std::uint32_t m) { return {n, m, {.reversed = true, .rotated_left = 2}}; }
};
struct dealt_by_a_function {
    auto made(std::uint32_t n, std::uint32_t m) {
        return allocate_by(request_for(n, m), [n](item_index item) { return item % n; });
    }
};
struct thrown_into_a_table {
    std::vector<slot_index> owners;

    owner_table made(std::uint32_t n, std::uint32_t m) {
        std::mt19937 random{n * 1000 + m};
        owners.resize(n == 0 ? 0 : m);
        for (auto& owner : owners) owner = static_cast<slot_index>(random() % n);
        return {n, owners};
    }
};
struct thrown_into_runs : thrown_into_a_table {
    std::vector<run> runs;

    run_list_view made(std::uint32_t n, std::uint32_t m) {
        runs.clear();
        append_runs(thrown_into_a_table::made(n, m), runs);
        return {n, runs};
    }
};

#define EVERY_MODEL                                                                                                    \
    served_in_order, served_in_reverse, served_from_the_third, served_in_reverse_from_the_third, dealt_by_a_function,  \
        thrown_into_a_table, thrown_into_runs

TEST_CASE_TEMPLATE("allocation: the laws hold for every small size", Model, EVERY_MODEL) {
    Model model;
    for (std::uint32_t n = 0; n < 12; ++n)
        for (std::uint32_t m = 0; m < 40; ++m) {
            auto const a = model.made(n, m);
            CAPTURE(n);
            CAPTURE(m);
            REQUIRE(a.instances() == n);
            REQUIRE(a.items() == (n == 0 ? 0 : m));
            REQUIRE(laws::broken_allocation_law(a) == "");
        }
}

TEST_CASE_TEMPLATE("allocation: the laws hold for large sizes", Model, EVERY_MODEL) {
    Model model;
    std::mt19937 random{20250131};
    for (int i = 0; i != 20; ++i) {
        auto const n = static_cast<std::uint32_t>(random() % 100 + 1);
        auto const m = static_cast<std::uint32_t>(random() % 5000);
        auto const a = model.made(n, m);
        CAPTURE(n);
        CAPTURE(m);
        CHECK(laws::broken_allocation_law(a) == "");
    }
}

// ---- For each law, an allocation that breaks only that law. A law that cannot fail would prove nothing.

struct items_without_slots : closed_form {
    std::uint32_t items() const { return 3; }
};

struct owner_beyond_the_slots : closed_form {
    using closed_form::closed_form;
    slot_index owner(item_index item) const { return item == 5 ? 3 : closed_form::owner(item); }
};

struct fickle_owner : closed_form {
    using closed_form::closed_form;
    slot_index owner(item_index item) const {
        answered_before = !answered_before;
        return item == 5 && answered_before ? 0 : closed_form::owner(item);
    }
    mutable bool answered_before = false;
};

/// An average allocation whose lists can be spoilt afterwards.
struct spoilt_lists : closed_form {
    std::vector<item_index> lists[3];

    spoilt_lists() : closed_form{3, 10} {
        for (slot_index slot = 0; slot != 3; ++slot)
            items_of_base(slot).for_each([&](item_index item) { lists[slot].push_back(item); });
    }
    std::span<item_index const> items_of(slot_index slot) const { return lists[slot]; }

private:
    shard_range items_of_base(slot_index slot) const { return closed_form::items_of(slot); }
};

struct spoilt_runs : closed_form {
    std::vector<run> runs{{3, 0}, {6, 1}, {9, 2}, {10, 0}};

    spoilt_runs() : closed_form{3, 10} {}
    template <class Visit>
    void for_each_run(Visit visit) const {
        for (auto const& r : runs) visit(r);
    }
};

TEST_CASE("laws of allocation: each can be broken") {
    CHECK(laws::broken_allocation_law(items_without_slots{}) == "without slots there are no items");
    CHECK(laws::broken_allocation_law(owner_beyond_the_slots{3, 10}) == "every owner is a slot");
    CHECK(laws::broken_allocation_law(fickle_owner{3, 10}) == "asking twice gives the same owner");

    spoilt_lists lists;
    REQUIRE(laws::broken_allocation_law(lists) == "");
    SUBCASE("an item too many") {
        lists.lists[0].push_back(10);
        CHECK(laws::broken_allocation_law(lists) == "only items of the job are listed");
    }
    SUBCASE("an item twice") {
        lists.lists[0].push_back(9);
        CHECK(laws::broken_allocation_law(lists) == "items are listed in ascending order, each once");
    }
    SUBCASE("out of order") {
        std::swap(lists.lists[0][0], lists.lists[0][1]);
        CHECK(laws::broken_allocation_law(lists) == "items are listed in ascending order, each once");
    }
    SUBCASE("under two owners") {
        lists.lists[1].push_back(9);
        CHECK(laws::broken_allocation_law(lists) == "an item is listed under its owner only");
    }
    SUBCASE("forgotten") {
        lists.lists[1].pop_back();
        CHECK(laws::broken_allocation_law(lists) == "every item is listed");
    }
}

TEST_CASE("laws of allocation: the lists must stay the same") {
    struct fickle_lists : spoilt_lists {
        mutable int asked = 0;
        std::span<item_index const> items_of(slot_index slot) const {
            return spoilt_lists::items_of(slot).first(++asked % 2 == 0 ? 0 : lists[slot].size());
        }
    };
    CHECK(laws::broken_allocation_law(fickle_lists{}) == "asking twice gives the same items");
}

TEST_CASE("laws of allocation: the runs must agree with the owners") {
    spoilt_runs spoilt;
    REQUIRE(laws::broken_allocation_law(spoilt) == "");
    SUBCASE("empty") {
        spoilt.runs.insert(spoilt.runs.begin(), {0, 1});
        CHECK(laws::broken_allocation_law(spoilt) == "no run is empty or reaches beyond the items");
    }
    SUBCASE("too long") {
        spoilt.runs.back().end = 11;
        CHECK(laws::broken_allocation_law(spoilt) == "no run is empty or reaches beyond the items");
    }
    SUBCASE("not joined") {
        spoilt.runs.insert(spoilt.runs.begin(), {2, 0});
        CHECK(laws::broken_allocation_law(spoilt) == "neighbouring runs have different owners");
    }
    SUBCASE("of another owner") {
        spoilt.runs[1].end = 7;
        CHECK(laws::broken_allocation_law(spoilt) == "a run has the owner of its items");
    }
    SUBCASE("too few") {
        spoilt.runs.pop_back();
        CHECK(laws::broken_allocation_law(spoilt) == "the runs cover the items");
    }
}

TEST_CASE("laws of allocation: balance can be broken") {
    CHECK(laws::is_balanced(closed_form{3, 10}));
    slot_index const owners[]{0, 0, 0, 1};
    CHECK_FALSE(laws::is_balanced(owner_table{2, owners}));
}

} // namespace
