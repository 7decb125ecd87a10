// SPDX-License-Identifier: Apache-2.0
/// \file \brief What must hold in every cluster, whatever happens to it.
#ifndef ELASTICJOB_TESTING_INVARIANTS_HPP
#define ELASTICJOB_TESTING_INVARIANTS_HPP

#include <elasticjob/config/json_codec.hpp>
#include <elasticjob/config/text.hpp>
#include <elasticjob/core/decl.hpp>
#include <elasticjob/sharding/assignment.hpp>
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

/// How many items the job has, by its configuration; nothing if there is none that can be read.
std::optional<std::uint32_t> item_count(cluster_view const& v, std::string const& job);

/// The job that a path belongs to.
std::string_view job_of(std::string_view path);

/// Which item's record a node is, if it is one.
struct record_place {
    std::string job;
    item_index item;
};
std::optional<record_place> record_place_of(std::string_view path);

/// The assignment, if it is in force: docs/decisions/0003.
std::optional<assignment> assignment_in_force(cluster_view const& v, std::string const& job);

/// Whom an item belongs to: by the assignment, whose writing to the items' nodes may take several transactions; by the
/// item's node if there is none in force. Empty: nobody.
std::string owner_of(cluster_view const& v, std::string const& job, item_index i);

/// Whether the assignment in force leaves the item to nobody, as a strategy may that gives `partial_runs`.
bool is_left(cluster_view const& v, std::string const& job, item_index i);

/// Whether anybody may own the job's items.
bool has_members(cluster_view const& v, std::string const& job);

} // namespace detail

/// I1, by sessions: while the session lives under which a run began, nobody else runs its item. (Jobs that do not mark
/// their runs promise nothing; they have no mark to see. Of a run that was given up only the body goes on.)
struct no_two_runs_of_one_item {
    static constexpr std::string_view name = "I1 no two runs of one item";

    std::string on(observation const& o, cluster_view const& v);

private:
    std::map<std::pair<std::string, item_index>, std::int64_t> last_tokens_;
    std::set<std::tuple<std::string, item_index, std::int64_t>> given_up_;
};

/// I1, by tokens, where the library gives them: no two runs of an item have the same one. That they grow is for the store
/// to check that they protect: a run may begin late, after one with a greater token.
struct tokens_are_unique {
    static constexpr std::string_view name = "I1 tokens are unique";

    std::string on(observation const& o, cluster_view const&);

private:
    std::map<std::pair<std::string, item_index>, std::set<std::int64_t>> seen_;
};

/// What was reported as skipped for good is never run. An item that is cut loses its record, and begins anew if it comes back.
struct what_is_skipped_stays_skipped {
    static constexpr std::string_view name = "what is skipped stays skipped";

    std::string on(observation const& o, cluster_view const&);

    std::string changed(tree_event const& e, cluster_view const& v);

private:
    std::set<std::tuple<std::string, item_index, wall_time>> skipped_;
};

/// Whoever marks an item as running is its owner at that revision. (Who comes back with a new session marks what it still
/// runs before it tells that it has joined.)
struct only_the_owner_starts {
    static constexpr std::string_view name = "only the owner starts an item";

    std::string on(observation const& o, cluster_view const& v);

    std::string changed(tree_event const& e, cluster_view const& v);

private:
    std::set<std::pair<std::string, std::int64_t>> joined_; ///< jobs and sessions
    std::map<std::string, revision> last_;                  ///< of each mark: a step may have several changes
};

/// A published assignment and the nodes of the items say the same.
struct items_agree_with_assignment {
    static constexpr std::string_view name = "items and assignment agree";

    std::string changed(tree_event const& e, cluster_view const& v) const;
};

/// I3: once all is settled each item has exactly one owner, which lives, and is enabled; or none, if the assignment in
/// force leaves it to nobody. There is a live leader, and nothing is left to do. "At most one" needs no look: an item's
/// node has one content.
struct one_owner_for_each_item {
    static constexpr std::string_view name = "I3 one owner for each item";

    std::string reached(stage s, cluster_view const& v) const;

private:
    static std::string look(std::string const& job, cluster_view const& v);
};

/// I7: what an operator has ordered is done once all is settled: nothing is left to obey, who is disabled has no items,
/// and the number of items is the configured one. A trigger while nothing happens has every item run, or be skipped with
/// a reason.
struct orders_are_obeyed {
    static constexpr std::string_view name = "I7 orders are obeyed";

    /// With `accepts_skips` false every item must run.
    explicit orders_are_obeyed(bool accepts_skips = true) noexcept : accepts_skips_{accepts_skips} {}

    std::string on(observation const& o, cluster_view const& v);

    std::string reached(stage s, cluster_view const& v);

private:
    std::string find_untriggered(std::string const& job, item_index count, cluster_view const& v);

    bool accepts_skips_;
    std::set<std::string> ordered_;                      ///< jobs
    std::map<std::string, std::set<item_index>> obeyed_; ///< by job: which items have run for an order
};

/// I8: when all have left, only persistent nodes remain, and no item runs.
struct nothing_is_left_behind {
    static constexpr std::string_view name = "I8 nothing is left behind";

    std::string reached(stage s, cluster_view const& v) const;
};

/// I9: every running mark of a live session belongs to a run that goes on, or to one whose end is owed: because of an
/// outage, or because the registry refuses to write it. Nothing of that lasts longer than `limit`.
struct every_mark_has_a_run {
    static constexpr std::string_view name = "I9 every mark has a run";
    static constexpr std::chrono::seconds limit{60};

    std::string on(observation const& o, cluster_view const& v);

    std::string changed(tree_event const& e, cluster_view const& v);

private:
    std::string find_stray(cluster_view const& v);

    /// Marks, and when each was first seen without a run. What ends that is seen, so it has lasted since.
    std::map<std::string, std::optional<mono_time>> stray_since_;
    mono_time looked_at_{};
};

/// I10: every instance's node belongs to a scheduler that has joined and not left; to one that joins or leaves just
/// now; or to a session that is about to end. Nothing of that lasts longer than `limit`.
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
