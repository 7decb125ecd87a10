// SPDX-License-Identifier: Apache-2.0
// Every order of events in which the leaders of a job follow another job's rounds.
#include <search/following_world.hpp>
#include <search/removals.hpp>
#include <search/scope_text.hpp>

#include <support/sanitized.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

using namespace elasticjob;
using namespace elasticjob::test;

namespace {

#ifdef ELASTICJOB_TEST_SANITIZED
constexpr following_scope following_scopes[]{
    {.rounds = 1}, {.rounds = 1, .takeovers = 0, .lost_replies = 1}, {.rounds = 1, .grows = true, .takeovers = 0}};
#else
constexpr following_scope following_scopes[]{
    {.rounds = 3},                                      // the second leader writes on
    {.grows = true, .takeovers = 0, .lost_replies = 1}, // an item has no record yet
    {.ends = true},
};
#endif

/// Only in a full run.
constexpr following_scope large_following_scopes[]{
    {.lost_requests = 1, .lost_replies = 1},
    {.takeovers = 2, .stale_reads = 1}, // the first leader leads again
};

struct following_removal {
    following_weakness without;
    std::string_view what;
    following_scope scope;
    std::size_t moves; ///< of the shortest trace
};

using fw = following_weakness;
constexpr following_removal following_removals[]{
    {fw::versions_are_ignored, "a write checks that no other leader has written", {.rounds = 3}, 13},
    {fw::growth_is_ignored, "a write checks the configuration of the followed job", {.grows = true}, 6},
    {fw::schedules_are_ignored, "a write checks that the job still follows", {.ends = true}, 4},
    {fw::lost_replies_count_as_done, "a write without a reply is looked for", {.lost_requests = 1}, 12},
};

} // namespace

TEST_CASE("search.following: each round is written once, when all items have ended it, whichever instance leads") {
    std::uint64_t states = 0;
    auto const search = [&](following_scope const& scope) {
        auto const found = testing::check_all(following_world{scope});
        CHECK_MESSAGE(found.holds(), to_string(found));
        MESSAGE(to_string(found));
        states += found.states;
    };
    for (auto const& scope : following_scopes) search(scope);
    if (searches_large_scopes())
        for (auto const& scope : large_following_scopes) search(scope);
    CHECK(states > amount_for_this_run({.full = 200'000, .usual = 100'000, .sanitized = 500}));
}

TEST_CASE("search.following: without any one of the protections, the search fails and prints the shortest trace") {
    auto const search = [](auto const& r) { return testing::check_all(following_world{r.scope, r.without}); };
    check_removals(following_removals, search);
}
