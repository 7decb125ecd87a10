// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/testing/check_all.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace elasticjob::testing;

namespace {

/// Two buckets of 3 and 5 litres; the goal is 4 litres in one of them.
struct buckets {
    int small = 0, big = 0;
    int forbidden = -1;     ///< litres that the big one must not hold
    bool has_drain = false; ///< then the big one can break, and holds nothing more
    bool is_broken = false;

    std::vector<std::string> moves() const {
        std::vector<std::string> all{"fill small", "empty small", "empty big", "small to big", "big to small"};
        if (!is_broken) all.push_back("fill big");
        if (has_drain && !is_broken) all.push_back("break big");
        return all;
    }
    void make(std::string const& move) {
        auto const pour = [](int& from, int& to, int room) {
            auto const n = from < room - to ? from : room - to;
            from -= n;
            to += n;
        };
        if (move == "fill small") small = 3;
        if (move == "fill big") big = 5;
        if (move == "empty small") small = 0;
        if (move == "empty big") big = 0;
        if (move == "small to big" && !is_broken) pour(small, big, 5);
        if (move == "big to small") pour(big, small, 3);
        if (move == "break big") is_broken = true, big = 0;
    }
    std::string key() const { return std::to_string(small) + "," + std::to_string(big) + (is_broken ? "!" : ""); }
    std::string problem() const { return big == forbidden ? "the big bucket must not hold that" : ""; }
    bool is_goal() const { return big == 4; }
};
static_assert(searchable_world<buckets>);

/// Counts to a number that fills the table several times over.
struct counter {
    int n = 0;
    std::vector<std::string> moves() const {
        return n < 20'000 ? std::vector<std::string>{"one more"} : std::vector<std::string>{};
    }
    void make(std::string const&) { ++n; }
    std::string key() const { return std::to_string(n); }
    std::string problem() const { return {}; }
    bool is_goal() const { return n == 20'000; }
};

} // namespace

TEST_CASE("testing.check_all: sees each state once, and holds when the goal can always be reached") {
    auto const found = check_all(buckets{});
    CHECK_MESSAGE(found.holds(), to_string(found));
    CHECK(found.states == 16); // the states in which a bucket is empty or full
    CHECK(found.moves == 16 * 6);
    CHECK(found.depth == 7);
    CHECK(found.bytes > 16 * 20);
    CHECK(found.waiting_most > 1);
}

TEST_CASE("testing.check_all: prints the shortest trace to a problem") {
    auto const found = check_all(buckets{.forbidden = 4});
    CHECK(found.problem == "the big bucket must not hold that");
    CHECK(found.trace == std::vector<std::string>{"fill big", "big to small", "empty small", "big to small", "fill big",
                                                  "big to small"});
    CHECK_FALSE(found.holds());
    CHECK(to_string(found).find("after 6 moves:\n  fill big\n  big to small\n") != std::string::npos);
}

TEST_CASE("testing.check_all: a problem in the first state has an empty trace") {
    auto const found = check_all(buckets{.forbidden = 0});
    CHECK_FALSE(found.problem.empty());
    CHECK(found.trace.empty());
}

TEST_CASE("testing.check_all: finds the shortest way to a state from which the goal cannot be reached") {
    auto const found = check_all(buckets{.has_drain = true});
    CHECK(found.problem == "no sequence of moves leads from here to a goal");
    CHECK(found.trace == std::vector<std::string>{"break big"});
}

TEST_CASE("testing.check_all: a search that ends too early proves nothing") {
    auto const found = check_all(buckets{}, 5);
    CHECK(found.problem.empty());
    CHECK_FALSE(found.is_complete);
    CHECK_FALSE(found.holds());
    CHECK(found.states < 16);
}

TEST_CASE("testing.check_all: the table of states grows") {
    auto const found = check_all(counter{});
    CHECK_MESSAGE(found.holds(), to_string(found));
    CHECK(found.states == 20'001);
    CHECK(found.depth == 20'000);
    CHECK(found.waiting_most == 1);
}
