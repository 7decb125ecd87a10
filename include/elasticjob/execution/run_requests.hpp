// SPDX-License-Identifier: Apache-2.0
/// \file \brief What an item asks of the registry about its runs, and the
/// answers.
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

/// A run that is to begin.
struct run_start {
    item_claim::share share;
    std::string record{};                  ///< what is to stand in the item's run record
    std::optional<node_version> version{}; ///< of the record that it replaces; nothing: there is none
    std::optional<instance_id> dead{};     ///< whose run is made up for or given up:
                                           ///< must not be there any more
    bool is_failover = false;              ///< tells Java members that the item is taken care of
    bool answers_flag = false;             ///< takes away the flag by which Java members asked for it
};

/// A run that has begun.
struct run_ticket {
    item_index item{};
    revision token = 0;       ///< the fencing token: grows with every run of the item
    node_version version = 0; ///< of the record
};

/// What an item hears of its request to begin a run.
enum class start_answer : std::uint8_t {
    started,           ///< it is on record that the run has begun
    running_elsewhere, ///< somebody else's mark stands there: try again when it has gone
    disabled,          ///< by an operator (RN-11)
    clock_differs,     ///< from the registry's, by more than the job allows
    taken,             ///< a Java member makes up for it
    outdated,          ///< somebody has written the record: read it again
    unclaimed,         ///< the claim is out of date: make a new one
    unknown            ///< the session ended before it was known
};

/// A run that has not begun.
struct hindered_start {
    item_index item{};
    start_answer why{};
};

/// What became of the items that were to start.
struct start_report {
    std::vector<run_ticket> started;
    std::vector<hindered_start> hindered;
};

/// A run that has ended, or a record that is to be written while it goes on.
struct run_end {
    item_index item{};
    std::string record{};
    node_version version = 0; ///< of the record that it replaces
    bool is_marked = false;
    bool is_failover = false;
};

enum class end_result : std::uint8_t {
    recorded,
    recorded_before, ///< but the reply was lost, and somebody has written the
                     ///< record since: read it again
    fenced,          ///< somebody else has taken the item over: what this run did does not
                     ///< count
    session_over,    ///< not known; ask again under the next session
    refused,         ///< the connection is up, but the registry does not let us: the mark
                     ///< stands and the end is owed
};

/// What became of ends, in their order.
struct end_report {
    std::vector<end_result> results;
    std::optional<error> refusal{}; ///< why the first that was refused was refused
};

} // namespace elasticjob
#endif // ELASTICJOB_EXECUTION_RUN_REQUESTS_HPP
