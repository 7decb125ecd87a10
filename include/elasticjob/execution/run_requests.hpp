// SPDX-License-Identifier: Apache-2.0
/// \file \brief The requests of an item about its runs, and the replies.
#ifndef ELASTICJOB_EXECUTION_RUN_REQUESTS_HPP
#define ELASTICJOB_EXECUTION_RUN_REQUESTS_HPP

#include <elasticjob/core/error.hpp>
#include <elasticjob/core/identity.hpp>
#include <elasticjob/registry/node.hpp>
#include <elasticjob/sharding/item_claim.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace elasticjob {

/// A request to create the record of an item that has none yet.
struct record_creation {
    item_index item{};
    std::string text{};
    revision created = 0; ///< by this request; 0: the record is another instance's, or the outcome is unknown
};

/// A request to start a run.
struct run_start {
    item_claim::share share;
    std::string record{};                  ///< the new content of the item's run record
    std::optional<node_version> version{}; ///< of the record that it replaces; nothing: there is none
    std::optional<instance_id> dead{};     ///< the former runner, which must be absent
    bool is_failover = false;              ///< shows Java members that the item is handled
    bool answers_flag = false;             ///< removes the flag with which Java members requested it
};

/// A run that has begun.
struct run_ticket {
    item_index item{};
    revision at = 0;          ///< of its start, which makes it the fencing token: see `run_record::token_of`
    node_version version = 0; ///< of the record
};

/// The reply to a request to start a run.
enum class start_answer : std::uint8_t {
    started,           ///< the start is on record
    running_elsewhere, ///< another instance's mark exists: try again when it is gone
    disabled,          ///< by an operator (RN-11)
    clock_differs,     ///< from the registry's, by more than the job allows
    taken,             ///< a Java member makes up for it
    outdated,          ///< the record has changed: read it again
    unclaimed,         ///< the claim is out of date: make a new one
    unknown            ///< the session ended before the outcome was known
};

/// The reason why a run has not begun.
struct hindered_start {
    item_index item{};
    start_answer why{};
};

/// The outcome for the items that were to start.
struct start_report {
    std::vector<run_ticket> started;
    std::vector<hindered_start> hindered;
};

/// A run that has ended, or a record to write during the run.
struct run_end {
    item_index item{};
    std::string record{};
    node_version version = 0; ///< of the record that it replaces
    bool is_marked = false;
    bool is_failover = false;
};

enum class end_result : std::uint8_t {
    recorded,
    recorded_before, ///< the reply was lost, and the record has changed or gone since: read it again
    fenced,          ///< another instance has taken the item over: this run does not count
    session_over,    ///< unknown: ask again under the next session
    refused,         ///< the connection is up, but the registry refuses the end, which stays pending with its mark
};

/// The outcomes of ends, in their order.
struct end_report {
    std::vector<end_result> results;
    std::optional<error> refusal{}; ///< the reason of the first refusal
};

} // namespace elasticjob
#endif // ELASTICJOB_EXECUTION_RUN_REQUESTS_HPP
