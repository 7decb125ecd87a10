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

#include <concepts>
#include <string_view>
#include <vector>

namespace laws {

/// A registry with an empty tree of its own, and the faults that a test can cause in it. Each law runs in a new world.
///
/// | expression             | gives                | must hold                                                       |
/// |------------------------|----------------------|-----------------------------------------------------------------|
/// | `World::registry_type` | a registry           | |
/// | `w.registry()`         | one session          | connected when the world is new                                 |
/// | `w.second()`           | another              | on the same loop and tree; connected when the world is new      |
/// | `w.end_second()`       | `task<>`             | closes the second session in order; it is not used any more     |
/// | `w.limit()`            | milliseconds         | what a law may take, by the loop's clock                        |
/// | `w.expire(r)`          | `task<>`, optional   | ends the session of `r`, which opens another                    |
/// | `w.disconnect(r)`      | `task<>`, optional   | breaks the connection of `r` until `reconnect(r)`               |
/// | `w.lose_next_write(f)` | nothing, optional    | the next write, of any session, meets that fate                 |
///
/// Models: MemoryWorld, ThreadedMemoryWorld, FaultyWorld (test/support/memory_world.hpp), ZkWorld
/// (test/support/zk_world.hpp). Threads: made and destroyed off the loop; the rest on it.
template <class W>
concept registry_world = registry<typename W::registry_type> && requires(W& w) {
    { w.registry() } -> std::same_as<typename W::registry_type&>;
    { w.second() } -> std::same_as<typename W::registry_type&>;
    { w.end_second() } -> std::same_as<task<>>;
    { w.limit() } -> std::same_as<std::chrono::milliseconds>;
};

template <class W>
concept world_that_expires = registry_world<W> && requires(W& w) {
    { w.expire(w.registry()) } -> std::same_as<task<>>;
};

template <class W>
concept world_that_disconnects = registry_world<W> && requires(W& w) {
    { w.disconnect(w.registry()) } -> std::same_as<task<>>;
    { w.reconnect(w.registry()) } -> std::same_as<task<>>;
};

template <class W>
concept world_that_loses = registry_world<W> && requires(W& w) {
    w.lose_next_write(request_fate::reply_lost);
};

template <registry_world World>
struct registry_law {
    std::string_view name;
    task<law_report> (*of)(World&);

    law_report check(World& world) const { return run_within(world.registry().loop(), of(world), world.limit()); }
};

namespace detail {
template <class World>
task<law_report> writes_do_what_they_say_for_one_seed(World& world) {
    return writes_do_what_they_say(world, 1, 200);
}
} // namespace detail

/// All laws that can be tested in such a world.
template <registry_world World>
std::vector<registry_law<World>> registry_laws() {
#define ELASTICJOB_LAW(name) registry_law<World>{#name, &name<World>}
    std::vector<registry_law<World>> laws{
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
        {"writes_do_what_they_say", &detail::writes_do_what_they_say_for_one_seed<World>},
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
