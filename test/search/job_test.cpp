// SPDX-License-Identifier: Apache-2.0
// Every order of events in which two or three instances elect a leader, shard, run items and leave.
#include <search/job_world.hpp>
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

job_scope scope_of(std::string_view text) {
    job_scope s;
    auto& left = s.left;
    int members = static_cast<int>(s.members), items = static_cast<int>(s.items);
    auto const unread = read_scope(text, {{"members", members, 1, 3},
                                          {"items", items, 1, 2},
                                          {"split", s.is_split},
                                          {"cold", s.is_cold},
                                          {"dues", left.dues},
                                          {"replies", left.replies},
                                          {"requests", left.requests},
                                          {"sessions", left.sessions},
                                          {"deaths", left.deaths},
                                          {"leaves", left.leaves},
                                          {"joins", left.joins},
                                          {"disables", left.disables},
                                          {"enables", left.enables},
                                          {"stops", left.stops},
                                          {"failures", left.failures},
                                          {"damages", left.damages}});
    REQUIRE_MESSAGE(unread.empty(), "not understood:" << unread);
    s.members = static_cast<std::size_t>(members);
    s.items = static_cast<item_index>(items);
    return s;
}

/// Sanitizers are slow, and fewer states are enough for them.
#ifdef ELASTICJOB_TEST_SANITIZED
constexpr std::string_view scopes[]{"dues=1 leaves=1 replies=1", "items=2 damages=1 replies=1"};
constexpr std::uint64_t states_least = 10'000;
#else
constexpr std::string_view scopes[]{
    "cold=1",                               // the first leader and the first sharding
    "dues=2 deaths=1 replies=1",            // failover
    "dues=1 leaves=1 replies=1 requests=1", // an instance leaves in the middle of a run or of a sharding
    "dues=2 failures=1 leaves=1",
    "dues=2 stops=1 deaths=1", // an operator disables the item
    "disables=1 enables=1",    // and the server, of a leader too
    "disables=1 replies=1",
    "items=2 split=1 joins=1", // owners change in several transactions
    "items=2 split=1 leaves=1 replies=1",
    "items=2 damages=1 replies=1", // the audit
};
constexpr std::uint64_t states_least = 150'000;
#endif

struct removal {
    job_weakness without;
    std::string_view what, scope;
    std::size_t moves; ///< of the shortest trace
};

using w = job_weakness;
constexpr removal removals[]{
    {w::starts_ignore_owners, "a start checks the assignment that it is based on", "dues=1 joins=1", 9},
    {w::leases_are_ignored, "a body is told that its session is over", "dues=1 sessions=1", 20},
    {w::notes_are_not_written, "a skipped instant is on record before it is reported", "dues=1 stops=1 leaves=1", 27},
    {w::writes_show_nothing, "a write goes before a read that decides", "deaths=1 replies=1", 9},
    {w::candidates_are_forgotten, "a candidate whose creation has no reply is looked for", "deaths=1 replies=1", 6},
    {w::candidates_stay, "the candidate of a failed election is removed", "members=3 deaths=1 replies=1", 6},
    {w::shardings_ignore_leaders, "a sharding checks that there is a leader", "disables=2 enables=1", 12},
    {w::shardings_ignore_instances, "a sharding checks the instances", "joins=1 deaths=1", 7},
    {w::shardings_stay_published, "an assignment says that it is not published yet", "items=2 split=1 joins=1", 6},
    {w::departures_ignore_versions, "a departure checks the assignment", "items=2 joins=1 leaves=1", 9},
    {w::departures_trust_reads, "a departure that finds no node writes before it reads",
     "sessions=1 leaves=1 replies=1", 7},
    {w::doubts_are_read_at_once, "a leader in doubt writes before it reads the items",
     "items=2 split=1 joins=1 deaths=1 replies=1", 13},
    {w::damage_is_ignored, "the leader compares the items with the assignment", "items=2 damages=1", 1},
    {w::views_are_believed, "a leader that resigns reads whether it still leads", "disables=1", 14},
    {w::disabled_leaders_stay, "a leader whose server is disabled resigns", "disables=1", 1},
};

} // namespace

TEST_CASE("search.job: no order of events runs an item twice, loses a run, or leaves a job without a leader") {
    std::uint64_t states = 0;
    for (auto const scope : scopes) {
        auto const found = testing::check_all(job_world{scope_of(scope)});
        CHECK_MESSAGE(found.holds(), scope << ": " << to_string(found));
        MESSAGE(scope << ": " << to_string(found));
        states += found.states;
    }
    CHECK(states > states_least);
}

TEST_CASE("search.job: without any one of the protections, the search fails and prints the shortest trace") {
    auto const search = [](auto const& r) { return testing::check_all(job_world{scope_of(r.scope), r.without}); };
    check_removals(removals, search);
}

/// ELASTICJOB_SEARCH='dues=1 sessions=1 replies=1 leaves=1' build/dev/test/search_test -s
TEST_CASE("search.job: a scope given by hand") {
    auto const scope = scope_by_hand();
    if (!scope || scope->starts_with(lease_word)) return;
    auto const found = testing::check_all(job_world{scope_of(*scope)}, testing::detail::state_table::states_max);
    CHECK_MESSAGE(found.holds(), to_string(found));
    MESSAGE(*scope << ": " << to_string(found));
}
