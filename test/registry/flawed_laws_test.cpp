// SPDX-License-Identifier: Apache-2.0
// The laws can fail: each law has a flawed registry made for it, and finds that flaw.
#include <laws/registry.hpp>

#include <support/flawed_registry.hpp>
#include <support/memory_world.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

using namespace elasticjob;
using test::flaw;
using test::flawed_registry;

namespace {

using world = test::basic_memory_world<flawed_registry>;

struct planted {
    flaw what;
    std::string_view found_by;
};

std::vector<planted> const plan{
    {flaw::create_overwrites, "a_second_create_keeps_the_first_data"},
    {flaw::create_adds_to_the_data, "what_was_written_is_read_by_every_session"},
    {flaw::absent_data_is_empty, "what_is_absent_is_no_node"},
    {flaw::create_makes_parents, "the_parent_must_exist"},
    {flaw::remove_takes_children_along, "a_node_with_children_is_not_removed"},
    {flaw::children_are_paths, "children_are_listed_by_name_and_counted"},
    {flaw::ephemerals_may_be_parents, "an_ephemeral_node_has_no_children"},
    {flaw::set_ignores_versions, "set_wants_the_version_that_is_there"},
    {flaw::remove_ignores_versions, "remove_wants_the_version_that_is_there"},
    {flaw::sequence_has_no_zeros, "sequence_numbers_count_all_creations"},
    {flaw::sequence_counts_children, "sequence_numbers_count_all_creations"},
    {flaw::large_requests_cut_the_line, "what_is_too_large_is_refused_here"},
    {flaw::many_operations_cut_the_line, "too_many_operations_are_refused_here"},
    {flaw::limits_promise_too_much, "what_just_fits_is_served"},
    {flaw::failed_exists_arms_nothing, "a_watch_on_an_absent_node_tells_of_its_creation"},
    {flaw::data_watches_are_deaf, "a_data_watch_tells_of_change_and_deletion"},
    {flaw::children_watches_are_deaf, "a_children_watch_tells_of_names"},
    {flaw::children_watch_hears_data, "data_and_children_are_watched_apart"},
    {flaw::data_watch_hears_children, "data_and_children_are_watched_apart"},
    {flaw::watches_stay_armed, "a_watch_fires_once_for_each_arming"},
    {flaw::failed_get_arms, "a_failed_read_arms_nothing"},
    {flaw::one_watch_for_each_node, "every_watch_of_a_node_fires"},
    {flaw::watches_are_late, "a_read_that_shows_a_change_comes_after_its_watch"},
    {flaw::watches_miss_transactions, "a_transaction_fires_watches"},
    {flaw::commit_reports_a_wrong_revision, "a_transaction_happens_in_one_revision"},
    {flaw::commit_is_not_atomic, "a_transaction_happens_in_one_revision"},
    {flaw::commit_always_reports_a_revision, "revisions_of_sets_grow_strictly"},
    {flaw::commit_reports_a_wrong_revision, "revisions_of_sets_grow_strictly"},
    {flaw::commit_does_not_see_itself, "operations_of_a_transaction_see_each_other"},
    {flaw::commit_is_not_atomic, "a_refused_transaction_did_nothing"},
    {flaw::commit_reports_operation_0, "a_refused_transaction_did_nothing"},
    {flaw::commit_reports_no_node, "a_refused_transaction_did_nothing"},
    {flaw::commit_uses_up_sequence_numbers, "a_refused_transaction_uses_up_no_sequence_number"},
    {flaw::commit_ignores_check_versions, "a_check_asks_for_a_version_or_for_existence"},
    {flaw::commit_ignores_checks, "a_check_asks_for_a_version_or_for_existence"},
    {flaw::commit_takes_a_present_node_for_absent, "check_absent_refuses_what_is_there"},
    {flaw::sessions_share_an_id, "a_session_is_told_apart"},
    {flaw::ephemerals_are_persistent, "ephemeral_nodes_end_with_their_session"},
    {flaw::children_change_unnoticed, "a_node_tells_when_its_children_last_changed"},
    {flaw::set_ignores_versions, "writes_do_what_they_say"},
    {flaw::commit_is_not_atomic, "writes_do_what_they_say"},
    {flaw::session_keeps_its_generation, "after_an_expiry_comes_another_session"},
    {flaw::old_generations_land, "a_write_under_an_old_generation_never_lands"},
    {flaw::watches_outlive_the_session, "watches_fire_when_their_session_ends"},
    {flaw::reads_wait_for_ever_after_an_expiry, "every_operation_ends_when_its_session_ends"},
    {flaw::interruptions_go_unnoticed, "a_session_survives_a_short_interruption"},
    {flaw::reconnect_forgets_watches, "a_session_survives_a_short_interruption"},
    {flaw::interruptions_never_end_the_session, "a_session_does_not_survive_a_long_interruption"},
    {flaw::lost_writes_are_repeated, "a_lost_request_is_unknown_and_had_no_effect"},
    {flaw::lost_writes_are_called_unsent, "a_lost_reply_is_unknown_and_had_its_effect"},
    {flaw::abandoned_nodes_are_anybodys, "abandoned_nodes_are_removed"},
};

} // namespace

TEST_CASE("registry.laws: each law finds the flaw that was made for it") {
    auto const laws = laws::registry_laws<world>();
    for (auto const& p : plan) {
        auto const law = std::ranges::find(laws, p.found_by, &laws::registry_law<virtual_loop>::name);
        REQUIRE_MESSAGE(law != laws.end(), std::string{p.found_by});
        flawed_registry::plant(p.what);
        world w;
        auto const report = law->check(w);
        CHECK_MESSAGE(!report.holds(), std::string{p.found_by}, " does not find flaw ", static_cast<int>(p.what));
    }
    flawed_registry::plant(flaw::none);
}

TEST_CASE("registry.laws: they find no flaw in a sound registry, and each law has a flaw made for it") {
    flawed_registry::plant(flaw::none);
    for (auto const& law : laws::registry_laws<world>()) {
        world w;
        auto const report = law.check(w);
        CHECK_MESSAGE(report.holds(), std::string{law.name}, ": ", report.broken);
        CHECK_MESSAGE(std::ranges::count(plan, law.name, &planted::found_by) > 0, std::string{law.name});
    }
}

TEST_CASE("registry.laws: a lossy network exposes registries that report false outcomes") {
    for (auto const what : {flaw::lost_writes_are_called_unsent, flaw::lost_writes_are_repeated,
                            flaw::commit_is_not_atomic, flaw::old_generations_land}) {
        flawed_registry::plant(what);
        int found = 0;
        for (std::uint64_t seed = 1; seed <= 20; ++seed) {
            test::basic_faulty_world<flawed_registry> w{seed};
            found += !laws::check_writes(w, seed, 60).holds();
        }
        CHECK_MESSAGE(found > 0, "flaw ", static_cast<int>(what));
    }
    flawed_registry::plant(flaw::none);
}
