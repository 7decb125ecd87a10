// SPDX-License-Identifier: Apache-2.0
/// \file \brief The laws of registries, for every model.
#ifndef ELASTICJOB_TEST_LAWS_REGISTRY_HPP
#define ELASTICJOB_TEST_LAWS_REGISTRY_HPP

#include <laws/registry/model.hpp>
#include <laws/registry/nodes.hpp>
#include <laws/registry/report.hpp>
#include <laws/registry/sessions.hpp>
#include <laws/registry/transactions.hpp>
#include <laws/registry/watches.hpp>
#include <laws/registry/world.hpp>

#include <string_view>
#include <vector>

namespace laws {

/// A law that can be tested in worlds with that loop.
template <loop Loop>
struct registry_law {
    std::string_view name;
    task<law_report> (*of)(world_ref<Loop>&);

    template <registry_world World>
    law_report check(World& world) const { return check_in(world, of); }
};

namespace detail {
template <loop Loop>
task<law_report> writes_do_what_they_say_for_one_seed(world_ref<Loop>& world) {
    return writes_do_what_they_say(world, 1, 200);
}
} // namespace detail

/// All laws that can be tested in such a world.
template <registry_world World>
auto registry_laws() {
    using loop_type = typename World::registry_type::loop_type;
#define ELASTICJOB_LAW(name) registry_law<loop_type>{#name, &name<loop_type>}
    std::vector<registry_law<loop_type>> laws{
        ELASTICJOB_LAW(a_second_create_keeps_the_first_data),
        ELASTICJOB_LAW(what_was_written_is_read_by_every_session),
        ELASTICJOB_LAW(what_is_absent_is_no_node),
        ELASTICJOB_LAW(the_parent_must_exist),
        ELASTICJOB_LAW(a_node_with_children_is_not_removed),
        ELASTICJOB_LAW(children_are_listed_by_name_and_counted),
        ELASTICJOB_LAW(an_ephemeral_node_has_no_children),
        ELASTICJOB_LAW(set_wants_the_version_that_is_there),
        ELASTICJOB_LAW(remove_wants_the_version_that_is_there),
        ELASTICJOB_LAW(sequence_numbers_count_all_creations),
        ELASTICJOB_LAW(what_is_too_large_is_refused_here),
        ELASTICJOB_LAW(too_many_operations_are_refused_here),
        ELASTICJOB_LAW(what_just_fits_is_served),
        ELASTICJOB_LAW(a_watch_on_an_absent_node_tells_of_its_creation),
        ELASTICJOB_LAW(a_data_watch_tells_of_change_and_deletion),
        ELASTICJOB_LAW(a_children_watch_tells_of_names),
        ELASTICJOB_LAW(data_and_children_are_watched_apart),
        ELASTICJOB_LAW(a_watch_fires_once_for_each_arming),
        ELASTICJOB_LAW(a_failed_read_arms_nothing),
        ELASTICJOB_LAW(every_watch_of_a_node_fires),
        ELASTICJOB_LAW(a_read_that_shows_a_change_comes_after_its_watch),
        ELASTICJOB_LAW(a_transaction_fires_watches),
        ELASTICJOB_LAW(a_transaction_happens_in_one_revision),
        ELASTICJOB_LAW(revisions_of_sets_grow_strictly),
        ELASTICJOB_LAW(operations_of_a_transaction_see_each_other),
        ELASTICJOB_LAW(a_refused_transaction_did_nothing),
        ELASTICJOB_LAW(a_refused_transaction_uses_up_no_sequence_number),
        ELASTICJOB_LAW(a_check_asks_for_a_version_or_for_existence),
        ELASTICJOB_LAW(check_absent_refuses_what_is_there),
        ELASTICJOB_LAW(a_session_is_told_apart),
        ELASTICJOB_LAW(ephemeral_nodes_end_with_their_session),
        ELASTICJOB_LAW(a_node_tells_when_its_children_last_changed),
        ELASTICJOB_LAW(abandoned_nodes_are_removed),
        {"writes_do_what_they_say", &detail::writes_do_what_they_say_for_one_seed<loop_type>},
    };
    if constexpr (world_that_expires<World>) {
        laws.push_back(ELASTICJOB_LAW(after_an_expiry_comes_another_session));
        laws.push_back(ELASTICJOB_LAW(a_write_under_an_old_generation_never_lands));
        laws.push_back(ELASTICJOB_LAW(watches_fire_when_their_session_ends));
        laws.push_back(ELASTICJOB_LAW(every_operation_ends_when_its_session_ends));
    }
    if constexpr (world_that_disconnects<World>) {
        laws.push_back(ELASTICJOB_LAW(a_session_survives_a_short_interruption));
        laws.push_back(ELASTICJOB_LAW(a_session_does_not_survive_a_long_interruption));
    }
    if constexpr (world_that_loses<World>) {
        laws.push_back(ELASTICJOB_LAW(a_lost_request_is_unknown_and_had_no_effect));
        laws.push_back(ELASTICJOB_LAW(a_lost_reply_is_unknown_and_had_its_effect));
    }
#undef ELASTICJOB_LAW
    return laws;
}

} // namespace laws
#endif // ELASTICJOB_TEST_LAWS_REGISTRY_HPP
