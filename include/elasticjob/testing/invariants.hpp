// SPDX-License-Identifier: Apache-2.0
/// \file \brief The invariants of every cluster, which hold under all faults.
#ifndef ELASTICJOB_TESTING_INVARIANTS_HPP
#define ELASTICJOB_TESTING_INVARIANTS_HPP

#include <elasticjob/config/json_codec.hpp>
#include <elasticjob/config/text.hpp>
#include <elasticjob/core/decl.hpp>
#include <elasticjob/sharding/assignment.hpp>
#include <elasticjob/sharding/in_force.hpp>
#include <elasticjob/testing/observatory.hpp>

#include <cstdint>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace elasticjob::testing {

namespace detail {

inline std::string item_text(std::string const& job, item_index i) { return "item " + item_name(i) + " of " + job; }

/// The number of items in the job's configuration; nothing if no readable configuration exists.
std::optional<std::uint32_t> item_count(cluster_view const& v, std::string const& job);

/// The job that a path belongs to.
std::string_view job_of(std::string_view path);

/// The item whose run record has this path, if the path is that of a run record.
struct record_place {
    std::string job;
    item_index item;
};
std::optional<record_place> record_place_of(std::string_view path);

/// The assignment, if it is in force (docs/decisions/0003).
std::optional<assignment> assignment_in_force(cluster_view const& v, std::string const& job);

/// The owner of an item, or an empty text. Taken from the assignment in force, because it may take several transactions
/// to update the items' nodes. If no assignment is in force, taken from the item's node.
std::string owner_of(cluster_view const& v, std::string const& job, item_index i);

/// Whether the assignment in force leaves the item unowned. Only a strategy that returns `partial_runs` may do that.
bool is_left(cluster_view const& v, std::string const& job, item_index i);

/// Whether any instance may own the job's items.
bool has_members(cluster_view const& v, std::string const& job);

} // namespace detail

/// I1, by sessions: while the session of a run lives, no other instance runs its item. (An unmonitored job has no such
/// guarantee, and no marks to check. After the library has given a run up, only its body continues.)
struct no_two_runs_of_one_item {
    static constexpr std::string_view name = "I1 no two runs of one item";

    std::string on(observation const& o, cluster_view const& v);

private:
    std::map<std::pair<std::string, item_index>, std::int64_t> last_tokens_;
    std::set<std::tuple<std::string, item_index, std::int64_t>> given_up_;
};

/// I1, by tokens, where the library provides them: no two runs of an item have the same token. A store must check that
/// tokens grow; this check does not, because a run may begin late, after a run with a greater token.
struct tokens_are_unique {
    static constexpr std::string_view name = "I1 tokens are unique";

    std::string on(observation const& o, cluster_view const&);

private:
    std::map<std::pair<std::string, item_index>, std::set<std::int64_t>> seen_;
};

/// An instant that was reported as skipped for good never runs. An item that is removed loses its record, so this
/// starts anew if the item returns.
struct what_is_skipped_stays_skipped {
    static constexpr std::string_view name = "what is skipped stays skipped";

    std::string on(observation const& o, cluster_view const&);

    std::string changed(tree_event const& e, cluster_view const& v);

private:
    std::set<std::tuple<std::string, item_index, wall_time>> skipped_;
};

/// No body begins after its run was asked to stop: another instance may run the item from then on.
struct stopped_runs_are_not_called {
    static constexpr std::string_view name = "stopped runs are not called";

    std::string on(observation const& o, cluster_view const&) const;
};

/// An instance that marks an item as running owns the item at that revision. (An instance that returns with a new
/// session marks the items that it still runs before it reports that it has joined.)
struct only_the_owner_starts {
    static constexpr std::string_view name = "only the owner starts an item";

    std::string on(observation const& o, cluster_view const& v);

    std::string changed(tree_event const& e, cluster_view const& v);

private:
    std::set<std::pair<std::string, std::int64_t>> joined_; ///< jobs and sessions
    std::map<std::string, revision> last_;                  ///< by mark: a step may have several changes
};

/// A published assignment and the nodes of the items agree.
struct items_agree_with_assignment {
    static constexpr std::string_view name = "items and assignment agree";

    std::string changed(tree_event const& e, cluster_view const& v) const;
};

/// I3: in a settled cluster each item has exactly one owner, which is alive and enabled. It has none if the assignment
/// in force leaves it unowned. There is a live leader, and no pending work. A job has members if one wanted to join.
/// "At most one owner" needs no check, because an item's node has one content.
struct one_owner_for_each_item {
    static constexpr std::string_view name = "I3 one owner for each item";

    std::string on(observation const& o, cluster_view const& v);
    std::string reached(stage s, cluster_view const& v) const;

private:
    std::string look(std::string const& job, cluster_view const& v) const;

    std::map<std::string, std::string> refused_; ///< why the last instance that wanted to join a job could not
};

/// I7: in a settled cluster all orders of operators have been carried out. No order is left, disabled servers have no
/// items, and the number of items is the configured one. After a trigger in a quiet cluster, every item runs, or is
/// skipped with a reason.
struct orders_are_obeyed {
    static constexpr std::string_view name = "I7 orders are obeyed";

    /// If `accepts_skips` is false, every item must run.
    explicit orders_are_obeyed(bool accepts_skips = true) noexcept : accepts_skips_{accepts_skips} {}

    std::string on(observation const& o, cluster_view const& v);

    std::string reached(stage s, cluster_view const& v);

private:
    std::string find_untriggered(std::string const& job, item_index count, cluster_view const& v);

    bool accepts_skips_;
    std::set<std::string> ordered_;                      ///< jobs
    std::map<std::string, std::set<item_index>> obeyed_; ///< by job: the items that have run for an order
};

/// I8: after all instances have left, only persistent nodes remain, and no item runs.
struct nothing_is_left_behind {
    static constexpr std::string_view name = "I8 nothing is left behind";

    std::string reached(stage s, cluster_view const& v) const;
};

/// I9: every running mark of a live session belongs to a run in progress, or to a run whose end has not been written
/// yet because the registry was unreachable or refused the write. The second state lasts no longer than `limit`.
struct every_mark_has_a_run {
    static constexpr std::string_view name = "I9 every mark has a run";
    static constexpr std::chrono::seconds limit{60};

    std::string on(observation const& o, cluster_view const& v);

    std::string changed(tree_event const& e, cluster_view const& v);

private:
    std::string find_stray(cluster_view const& v);

    /// Marks without a run, and the time at which each was first seen without one. Every event that ends this state is
    /// observed, so the state has lasted since then.
    std::map<std::string, std::optional<mono_time>> stray_since_;
    mono_time looked_at_{};
};

/// I10: every instance's node belongs to a scheduler that has joined and not left, to a scheduler that is joining or
/// leaving, or to a session that is about to end. The last two states last no longer than `limit`.
struct every_instance_has_a_scheduler {
    static constexpr std::string_view name = "I10 every instance has a scheduler";
    static constexpr std::chrono::seconds limit{60};

    std::string on(observation const& o, cluster_view const& v);

    std::string changed(tree_event const&, cluster_view const& v) { return find_ghost(v); }

private:
    std::string find_ghost(cluster_view const& v);

    std::map<std::string, mono_time> alone_since_;
    mono_time looked_at_{};
};

} // namespace elasticjob::testing

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/testing/invariants.ipp>
#endif
#endif // ELASTICJOB_TESTING_INVARIANTS_HPP
