// SPDX-License-Identifier: Apache-2.0
/// \file \brief The transactions that start and end runs, and the meaning of refusals: pure functions.
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

/// A transaction with the checks that do not depend on the items: the instance is registered, and the claim is up to
/// date. `add_start` adds the items.
transaction start_checks(job_layout const& at, instance_id const& self, session_generation g,
                         std::vector<item_claim::proof> const& common);

/// A transaction that creates records: checks that the instance is registered, and sets the parent of the records,
/// because only a transaction that sets a node returns its revision.
transaction creation_checks(job_layout const& at, instance_id const& self, session_generation g);

/// Adds an item: checks that this instance still owns it, that no operator has disabled it, that no instance runs it
/// and that its record is unchanged. Writes the record and creates the marks.
void add_start(transaction& t, job_layout const& at, instance_id const& self, run_start const& s);

/// The version of the record after the start.
node_version version_after(run_start const& s);

/// Checks that the record is unchanged, replaces it, and removes the marks.
void add_end(transaction& t, job_layout const& at, run_end const& e);

/// Writes a record while no instance runs the item, except possibly a Java member, which does not read records.
transaction note_transaction(job_layout const& at, instance_id const& self, session_generation g, run_end const& e,
                             std::optional<instance_id> const& dead, bool may_java_run_it);

/// The facts that were read after a refused start.
struct item_findings {
    std::optional<std::vector<std::string>> names{}; ///< the children of the item's node; nothing: the node is absent
    result<node> owner = error{errc::no_node, ""};   ///< the content of `sharding/{i}/instance`
    std::optional<node_stat> record{};               ///< of the run record, if there is one
};

/// Whether the nodes of an item that this instance owns by the assignment in force have been removed. They are created
/// again.
bool is_cut_off(run_start const& s, item_findings const& found);

/// The obstacle to a start; nothing if there is none any more. Precondition: not `is_cut_off`.
std::optional<start_answer> find_obstacle(run_start const& s, instance_id const& self, item_findings const& found);

} // namespace elasticjob::detail

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/execution/run_transactions.ipp>
#endif
#endif // ELASTICJOB_EXECUTION_RUN_TRANSACTIONS_HPP
