// SPDX-License-Identifier: Apache-2.0
/// \file \brief The first sharding of a job, as its founder knows it without reading it back.
#ifndef ELASTICJOB_SHARDING_FOUNDING_HPP
#define ELASTICJOB_SHARDING_FOUNDING_HPP

#include <elasticjob/config/job_config.hpp>
#include <elasticjob/registry/node.hpp>

#include <string>

namespace elasticjob {

/// This instance has created its job, with itself as the leader and with the first assignment, in one transaction. It
/// knows the two nodes that put an assignment in force until it is no longer the only instance and the leader, because
/// only leaders write them, and members that have got items from a leader.
struct founding {
    revision at{};          ///< of that transaction
    std::string assignment; ///< the text of the first assignment

    node assignment_node() const { return {assignment, stat(0)}; }
    /// The node that names the owner of the first item, which a sharding creates and then sets.
    node_stat first_item() const { return stat(1); }

    /// Whether the founder may act on this knowledge although somebody may have changed those nodes by hand. Only with
    /// `monitor_execution` does each start check them.
    static bool is_enough_for(job_config const& c) { return c.monitor_execution; }

private:
    node_stat stat(node_version v) const {
        return {.created = at, .modified = at, .version = v, .children_changed = at};
    }
};

} // namespace elasticjob
#endif // ELASTICJOB_SHARDING_FOUNDING_HPP
