// SPDX-License-Identifier: Apache-2.0
/// \file \brief The transactions by which runs begin and end, and what a refused one means: pure decisions.
#ifndef ELASTICJOB_EXECUTION_RUN_TRANSACTIONS_HPP
#define ELASTICJOB_EXECUTION_RUN_TRANSACTIONS_HPP

#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/identity.hpp>
#include <elasticjob/core/result.hpp>
#include <elasticjob/execution/run_requests.hpp>
#include <elasticjob/registry/job_layout.hpp>
#include <elasticjob/registry/node.hpp>
#include <elasticjob/registry/transaction.hpp>
#include <elasticjob/sharding/item_claim.hpp>

#include <optional>
#include <string>
#include <vector>

namespace elasticjob::detail {

/// What has to be true for any item to start: the instance is registered, and the claim is up to date. `add_start` adds the
/// items.
transaction start_checks(job_layout const& at, instance_id const& self, session_generation g,
                         std::vector<item_claim::proof> const& common);

/// The item is still ours, no operator has disabled it, nobody runs it and its record is as it was read: then the record is
/// written and the marks are set.
void add_start(transaction& t, job_layout const& at, instance_id const& self, run_start const& s);

/// Of the record, once the start has happened.
node_version version_after(run_start const& s);

/// The record is as it was written: then it is replaced, and the marks go.
void add_end(transaction& t, job_layout const& at, run_end const& e);

/// A record is written while nobody runs the item; or while a Java member may, which knows nothing of records.
transaction note_transaction(job_layout const& at, instance_id const& self, session_generation g, run_end const& e,
                             std::optional<instance_id> const& dead, bool is_java_at_it);

/// What was found after a start was refused.
struct item_findings {
    std::optional<std::vector<std::string>> names{}; ///< below the item's node; nothing: there is none
    result<node> owner = error{errc::no_node, ""};   ///< whom `sharding/{i}/instance` names
    std::optional<node_stat> record{};               ///< of the run record, if there is one
};

/// Whether somebody has removed the nodes of an item that the assignment in force gives to us. They are made anew.
bool is_cut_off(run_start const& s, item_findings const& found);

/// What stands in the way of a start; nothing if nothing does any more. Precondition: not `is_cut_off`.
std::optional<start_answer> find_obstacle(run_start const& s, instance_id const& self, item_findings const& found);

} // namespace elasticjob::detail

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/execution/run_transactions.ipp>
#endif
#endif // ELASTICJOB_EXECUTION_RUN_TRANSACTIONS_HPP
