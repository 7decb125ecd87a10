// SPDX-License-Identifier: Apache-2.0
// Every order of events in which an instance relies on its lease, loses it, and another instance takes over its item.
#include <search/lease_world.hpp>
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

lease_scope lease_scope_of(std::string_view text) {
    lease_scope s;
    auto const unread = read_scope(text, {{"starts", s.starts},
                                          {"sessions", s.sessions},
                                          {"stalls", s.stalls},
                                          {"losses", s.losses},
                                          {"gains", s.gains},
                                          {"pauses", s.pauses},
                                          {"irregular", s.is_irregular},
                                          {"freezes", s.freezes},
                                          {"sleeps", s.sleeps},
                                          {"closings", s.closings},
                                          {"in_time", s.in_time},
                                          {"late", s.late}});
    REQUIRE_MESSAGE(unread.empty(), "not understood:" << unread);
    return s;
}

#ifdef ELASTICJOB_TEST_SANITIZED
constexpr std::string_view lease_scopes[]{"stalls=0 freezes=1", "stalls=0 closings=1 sessions=1", "in_time=0 late=1"};
#else
constexpr std::string_view lease_scopes[]{
    "stalls=1", // the holder is cut off, in the middle of a proof too
    "stalls=0 freezes=1 sessions=1 gains=1",
    "stalls=0 sleeps=1 gains=1",
    "stalls=0 closings=1 sessions=1", // replies of a former session arrive under the next one
    "stalls=0 starts=2 losses=1",     // a start overtakes the reply to a heartbeat
    "in_time=1",                      // each answer takes up to a tenth: no run is asked to stop
    "in_time=0 late=1",               // the same if one answer takes up to three tenths
};
#endif

/// Only in a full run.
constexpr std::string_view large_lease_scopes[]{
    "stalls=2",
    "stalls=1 irregular=1",
    "stalls=1 losses=1",
    "stalls=1 gains=1 pauses=1", // every case that the tenth covers
};

struct lease_removal {
    lease_weakness without;
    std::string_view what, scope;
    std::size_t moves; ///< of the shortest trace
};

using lw = lease_weakness;
constexpr lease_removal lease_removals[]{
    {lw::answers_count_from_their_arrival, "an answer counts from when its request was sent", "stalls=1", 20},
    {lw::one_answer_proves, "one answer proves only the past", "stalls=1", 32},
    {lw::two_answers_prove, "a third request follows the second", "stalls=2", 35},
    {lw::three_quick_answers_prove, "the second request is a quarter of the time-out later", "stalls=2", 39},
    {lw::margins_are_ignored, "the lease ends a tenth of the time-out early", "stalls=1 irregular=1 gains=1", 21},
#ifndef ELASTICJOB_TEST_SANITIZED // many states
    {lw::margins_are_ignored, "the same for a leader that asks when it must", "stalls=2 gains=1", 47},
#endif
    {lw::longer_timeouts_are_assumed, "the time-out is the one that the servers granted", "stalls=1", 42},
    {lw::late_starts_run, "a start that is confirmed late begins nothing", "stalls=1", 20},
    {lw::old_starts_count, "a start counts for the session that made it", "stalls=0 closings=1", 6},
    {lw::lost_sessions_are_ignored, "a run is over with its session", "stalls=0 closings=1", 6},
    {lw::frozen_time_is_ignored, "the time in which the process stands still counts", "stalls=0 freezes=1", 31},
    {lw::frozen_time_is_ignored, "so does the time in which the machine sleeps", "stalls=0 sleeps=1", 31},
    {lw::clocks_are_not_looked_at, "a timer ends the lease", "stalls=1", 23},
    {lw::clocks_are_looked_at_once, "the holder looks at its clock in each tenth", "stalls=0 sleeps=1", 35},
    {lw::successors_do_not_wait, "the successor waits for the end of the session", "stalls=0", 5},
    {lw::heartbeats_are_rare, "there is a heartbeat in each tenth", "in_time=0", 13},
};

} // namespace

TEST_CASE("search.lease: no two instances run an item at once, and no run with timely answers is asked to stop") {
    std::uint64_t states = 0;
    auto const search = [&](std::string_view scope) {
        auto const found = testing::check_all(lease_world{lease_scope_of(scope)});
        CHECK_MESSAGE(found.holds(), scope << ": " << to_string(found));
        MESSAGE(scope << ": " << to_string(found));
        states += found.states;
    };
    for (auto const scope : lease_scopes) search(scope);
    if (searches_large_scopes())
        for (auto const scope : large_lease_scopes) search(scope);
    CHECK(states > amount_for_this_run({.full = 1'500'000, .usual = 300'000, .sanitized = 10'000}));
}

TEST_CASE("search.lease: without any one of the protections, the search fails and prints the shortest trace") {
    auto const search = [](auto const& r) { return testing::check_all(lease_world{lease_scope_of(r.scope), r.without}); };
    check_removals(lease_removals, search);
}

/// ELASTICJOB_SEARCH='lease stalls=3 gains=1' build/dev/test/search_test -s
TEST_CASE("search.lease: a scope given by hand") {
    auto const scope = scope_by_hand();
    if (!scope || !scope->starts_with(lease_word)) return;
    auto const words = scope->substr(lease_word.size());
    auto const found = testing::check_all(lease_world{lease_scope_of(words)}, testing::detail::state_table::states_max);
    CHECK_MESSAGE(found.holds(), to_string(found));
    MESSAGE(*scope << ": " << to_string(found));
}
