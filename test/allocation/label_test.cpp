// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/allocation/label.hpp>

#include <allocation/instances.hpp>
#include <laws/allocation.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

using namespace elasticjob;

namespace {

using slots = std::vector<slot_index>;
using shares = std::vector<std::uint32_t>;

// ---- Labels.

static_assert(has_label("gpu zone=a", "gpu") && has_label("gpu zone=a", "zone=a") && has_label("  gpu ", "gpu"));
static_assert(!has_label("gpu zone=a", "zone") && !has_label("gpux", "gpu") && !has_label("", "gpu"));
static_assert(has_labels("gpu zone=a", "zone=a gpu") && has_labels("", "") && has_labels("gpu", "  "));
static_assert(!has_labels("gpu", "gpu zone=a"));
static_assert(label_value("gpu zone=a zone=b", "zone") == "a" && label_value("gpu zonex=a", "zone") == "");

struct labelled {
    std::vector<instance_traits> traits;
    std::vector<item_need> needs;
    std::vector<slot_index> before{};

    sharding_request request(std::uint32_t items) const {
        auto r = request_for(static_cast<std::uint32_t>(traits.size()), items);
        r.traits = traits;
        r.needs = needs;
        r.previous_owners = before;
        return r;
    }
};

TEST_CASE("label: items go to instances with their labels, and the others even out the loads") {
    labelled const w{{{1, "gpu"}, {1, "gpu ssd"}, {1, ""}}, {{0, 4, "gpu"}, {4, 5, "ssd gpu"}}};
    auto const a = LabelAllocation{}(w.request(9));
    CHECK(laws::broken_allocation_law(a) == "");
    CHECK(a.owner(4) == 1);
    for (item_index i = 0; i != 4; ++i) CHECK(a.owner(i) != 2);
    CHECK(shares_of(a) == shares{3, 3, 3});
}

TEST_CASE("label: an item that no instance may own gets no owner, and the others do not wait for it") {
    labelled const w{{{1, "gpu"}, {1, ""}}, {{1, 3, "tpu"}}};
    auto const a = LabelAllocation{}(w.request(6));
    CHECK(laws::broken_allocation_law(a) == "");
    CHECK(a.owner(1) == no_slot);
    CHECK(a.owner(2) == no_slot);
    CHECK(shares_of(a) == shares{2, 2});

    labelled const nobody{{{1, ""}}, {{0, 9, "tpu"}}};
    CHECK(owners_of(LabelAllocation{}(nobody.request(2))) == slots{no_slot, no_slot});
}

TEST_CASE("label: without needs it is balanced, whatever the labels") {
    labelled const w{{{1, "a"}, {1, "b"}, {1, "a b"}, {1, ""}}, {}};
    CHECK(laws::is_balanced(LabelAllocation{}(w.request(10))));
    CHECK(laws::is_balanced(LabelAllocation{}(request_for(7, 100))));
    CHECK(LabelAllocation{}(request_for(0, 100)).items() == 0);
    CHECK(LabelAllocation{}(request_for(3, 0)).items() == 0);
}

/// The loads of the best allocation, largest first, found by trying all allocations.
shares best_by_trial(sharding_request const& request) {
    auto const n = request.instance_count();
    shares best, load(n);
    auto const needed = [&](item_index i) {
        for (auto const& need : request.needs)
            if (need.begin <= i && i < need.end) return need.labels;
        return std::string_view{};
    };
    auto const place = [&](auto const& self, item_index i) -> void {
        if (i == request.item_count) {
            auto sorted = load;
            std::ranges::sort(sorted, std::greater<>{});
            if (best.empty() || sorted < best) best = sorted;
            return;
        }
        bool is_placed = false;
        for (slot_index s = 0; s != n; ++s)
            if (has_labels(request.labels(s), needed(i))) {
                is_placed = true;
                ++load[s];
                self(self, i + 1);
                --load[s];
            }
        if (!is_placed) self(self, i + 1);
    };
    place(place, 0);
    return best;
}

void check_rules(sharding_request const& request) {
    REQUIRE(laws::broken_strategy_law(LabelAllocation{}, request) == "");
    auto const a = LabelAllocation{}(request);
    auto need = request.needs.begin();
    for (item_index i = 0; i != a.items(); ++i) {
        while (need != request.needs.end() && need->end <= i) ++need;
        auto const needed = need != request.needs.end() && need->begin <= i ? need->labels : std::string_view{};
        bool can_go = false;
        for (slot_index s = 0; s != a.instances(); ++s) can_go |= has_labels(request.labels(s), needed);
        REQUIRE(can_go == (a.owner(i) != no_slot));
        if (can_go) REQUIRE(has_labels(request.labels(a.owner(i)), needed));
    }
    // Asked again with its own answer, it moves nothing.
    auto const before = owners_of(a);
    auto again = request;
    again.previous_runs = {};
    again.previous_owners = before;
    REQUIRE(owners_of(LabelAllocation{}(again)) == before);
}

TEST_CASE("label: the loads are the best of all possible allocations") {
    std::mt19937 random{5};
    for (int round = 0; round != 1500; ++round) {
        random_request const r{random, static_cast<std::uint32_t>(random() % 4 + 1),
                               static_cast<std::uint32_t>(random() % 8)};
        check_rules(r.request);
        auto got = shares_of(LabelAllocation{}(r.request));
        std::ranges::sort(got, std::greater<>{});
        REQUIRE(got == best_by_trial(r.request));
    }
}

/// Whether an item could move, through any number of instances, from one instance to another with at least two fewer
/// items: then the loads would not be the best. (Cost-reducing paths, as in the paper that label.hpp names.)
bool could_be_evener(sharding_request const& request, partial_runs const& a) {
    auto const n = a.instances();
    std::vector<std::vector<bool>> hands_on(n, std::vector<bool>(n));
    auto need = request.needs.begin();
    for (item_index i = 0; i != a.items(); ++i) {
        while (need != request.needs.end() && need->end <= i) ++need;
        auto const needed = need != request.needs.end() && need->begin <= i ? need->labels : std::string_view{};
        if (a.owner(i) == no_slot) continue;
        for (slot_index s = 0; s != n; ++s)
            if (has_labels(request.labels(s), needed)) hands_on[a.owner(i)][s] = true;
    }
    for (slot_index by = 0; by != n; ++by)
        for (slot_index from = 0; from != n; ++from)
            for (slot_index to = 0; to != n; ++to)
                if (hands_on[from][by] && hands_on[by][to]) hands_on[from][to] = true;
    auto const load = shares_of(a);
    for (slot_index from = 0; from != n; ++from)
        for (slot_index to = 0; to != n; ++to)
            if (hands_on[from][to] && load[from] >= load[to] + 2) return true;
    return false;
}

TEST_CASE("label: the loads are the best, also if there are too many allocations to try") {
    std::mt19937 random{6};
    for (int round = 0; round != 100; ++round) {
        random_request const r{random, static_cast<std::uint32_t>(random() % 30 + 1),
                               static_cast<std::uint32_t>(random() % 1000)};
        check_rules(r.request);
        REQUIRE_FALSE(could_be_evener(r.request, LabelAllocation{}(r.request)));
    }
    // Many kinds of instances and needs: some limits are reached long before others.
    for (int round = 0; round != 40; ++round) {
        std::vector<std::string> texts;
        labelled w;
        auto const n = static_cast<std::uint32_t>(random() % 40 + 5);
        for (std::uint32_t i = 0; i != n + 30; ++i) {
            std::string text;
            for (int label = 0; label != 8; ++label)
                if (random() % (i < n ? 3 : 4) == 0) text += "l" + std::to_string(label) + " ";
            texts.push_back(text);
        }
        for (std::uint32_t i = 0; i != n; ++i) w.traits.push_back({1, texts[i]});
        item_index begin = 0;
        for (std::uint32_t i = 0; i != 30; ++i) {
            auto const end = begin + 1 + static_cast<item_index>(random() % (1 + random() % 400));
            w.needs.push_back({begin, end, texts[n + i]});
            begin = end;
        }
        auto const request = w.request(begin);
        check_rules(request);
        REQUIRE_FALSE(could_be_evener(request, LabelAllocation{}(request)));
    }
}

TEST_CASE("label: items that may stay stay") {
    labelled w{{{1, "gpu"}, {1, "gpu"}, {1, ""}, {1, ""}}, {{0, 4, "gpu"}}};
    w.before = {1, 0, 1, 0, 3, 2, 3, 2};
    CHECK(owners_of(LabelAllocation{}(w.request(8))) == w.before);
    // An instance without labels leaves: its two items move. No further move is needed for balance.
    w.traits.pop_back();
    w.before = {1, 0, 1, 0, no_slot, 2, no_slot, 2};
    auto const request = w.request(8);
    auto const a = LabelAllocation{}(request);
    CHECK(laws::count_kept(a, request) == 6);
    CHECK(shares_of(a) == shares{3, 3, 2});
}

TEST_CASE("label: items that may stay stay, also if instances may own different items") {
    // Many allocations are equally balanced: each of these stays unchanged.
    for (auto const& before : {slots{0, 0, 0, 2, 2, 2, 1, 1, 1}, slots{1, 1, 1, 2, 2, 2, 0, 0, 0},
                               slots{1, 1, 1, 0, 0, 0, 2, 2, 2}, slots{0, 1, 1, 0, 2, 2, 1, 0, 2}}) {
        labelled const w{{{1, "a b"}, {1, "a"}, {1, "b"}}, {{0, 3, "a"}, {3, 6, "b"}}, before};
        CHECK(owners_of(LabelAllocation{}(w.request(9))) == before);
    }
}

} // namespace
