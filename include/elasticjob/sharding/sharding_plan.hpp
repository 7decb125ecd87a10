// SPDX-License-Identifier: Apache-2.0
/// \file \brief Decides which nodes a sharding writes, without a registry.
#ifndef ELASTICJOB_SHARDING_SHARDING_PLAN_HPP
#define ELASTICJOB_SHARDING_SHARDING_PLAN_HPP

#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/identity.hpp>
#include <elasticjob/core/result.hpp>
#include <elasticjob/registry/job_layout.hpp>
#include <elasticjob/registry/transaction.hpp>
#include <elasticjob/sharding/assignment.hpp>
#include <elasticjob/sharding/item_nodes.hpp>
#include <elasticjob/sharding/job_traits.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace elasticjob {

/// The basis of a sharding. The transaction that writes the assignment checks the whole basis, so the registry refuses
/// it if any part has changed.
struct sharding_basis {
    session_generation generation;
    std::string job;
    std::uint32_t item_count = 0;
    node_version config_version = 0;
    std::vector<instance_id> instances; ///< available instances, in ElasticJob's order
    job_traits traits{};                ///< of these instances and the items; only if the strategy uses traits
    std::string strategy{};             ///< the name that the job specifies; empty: the strategy's own
    /// Additional writes, which take effect with the new assignment or before it. Those of a group stay together.
    std::vector<std::vector<operation>> besides{};
};

/// The outcome of a sharding.
struct sharding_report {
    std::uint64_t epoch = 0;
    std::uint32_t items = 0;
    std::uint32_t moved = 0; ///< items whose owner has changed, including new items
    std::uint32_t left = 0;  ///< items that the strategy has left unowned
};

/// The state of the registry when the leader decided to shard.
struct sharded_so_far {
    std::optional<node_version> version{}; ///< of the assignment's node; nothing: there is no node
    std::uint64_t epoch = 0;               ///< of the last assignment, or at least less than that of the next one
    std::optional<assignment> in_force{};
    std::vector<node_path> requests{};                         ///< the nodes that request a sharding
    std::vector<std::pair<node_path, node_version>> servers{}; ///< of the instances in the basis
    std::vector<node_path> missing{};                          ///< parents of the nodes to write, parents first
};

/// The epoch of an assignment's node. If the assignment is unreadable, its version counts, which also grows with each
/// write. 0 if there is no node.
std::uint64_t epoch_of(node const* written);

/// Whether the assignment in force has another basis, or is not published yet. False if no instance can own items
/// (SH-6). `strategy` is the name of the strategy.
bool is_outdated(assignment const* in_force, sharding_basis const& basis, std::string_view strategy);

/// The current owners as slots of these instances, for the strategy. They come from the assignment in force or, without
/// one, from the items' nodes.
std::vector<run> previous_owners(assignment const* in_force, item_nodes const& known,
                                 std::vector<instance_id> const& instances);

/// Checks that the strategy has allocated all items and, unless it announces that it may leave items unowned, has given
/// each an owner. Errors: job_failed.
result<void> check_answer(assignment const& answer, std::uint32_t item_count, bool may_leave_items,
                          std::string_view strategy);

/// Transactions that replace the assignment and the nodes of the items that move. Commit each only after the one before
/// it has taken effect.
///
/// Normally a single transaction is enough. It checks leadership, membership and configuration (D-8 to D-11). It always
/// writes the assignment together with the node of item 0, so that members notice a later write by any other member. If
/// that transaction would exceed the registry's limits, several transactions do the work, so that no node ever shows
/// two owners:
///
/// 1. The assignment in force gets `published no`, so that the next leader reads the nodes if we die before the end.
/// 2. The nodes of the items that move lose their owners.
/// 3. The new assignment comes into force. This transaction checks the whole basis; the others check only that no other
///    member has sharded meanwhile.
/// 4. The nodes of the items that move get their new owners.
/// 5. The new assignment gets `published yes`.
///
/// If only the additional writes do not fit, they go first, in transactions of their own, and the rest stays one
/// transaction. They are before step 1 in any case: the steps change the nodes from which the writes were derived, so a
/// leader that took over could not derive them again.
struct sharding_plan {
    std::vector<transaction> transactions;
    sharding_report report;
    bool cuts_items = false; ///< nodes of items beyond the new count remain
};

/// `known`: the items' nodes. `after`: the strategy's answer, already checked. O(items).
sharding_plan plan_sharding(job_layout const& at, registry_limits const& limits, sharded_so_far const& now,
                            sharding_basis const& basis, item_nodes const& known, assignment const& after);

/// Reports items that the strategy has left unowned: their number and, if `after` is not null, the first of them.
error unowned_items(job_layout const& at, std::uint32_t left, assignment const* after);

/// Removes the requests for a sharding while the assignment of this version is in force.
transaction grant_of_requests(job_layout const& at, session_generation g, node_version assigned,
                              std::vector<node_path> const& requests);

/// Returns the numbers among the names below `sharding` that are not less than `count`.
std::vector<item_index> items_beyond(std::uint32_t count, std::vector<std::string> const& names);

/// Whether an item with these nodes below it still runs, so that its node stays (D-31).
bool is_still_running(std::vector<std::string> const& below);

/// Removes the node of an item that the job no longer has, with all nodes below it and its run record.
transaction removal_of_item(job_layout const& at, session_generation g, item_index i,
                            std::vector<std::string> const& below, bool has_record);

} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/sharding/sharding_plan.ipp>
#endif
#endif // ELASTICJOB_SHARDING_SHARDING_PLAN_HPP
