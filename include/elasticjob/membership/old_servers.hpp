// SPDX-License-Identifier: Apache-2.0
/// \file \brief Finds the nodes `servers/<ip>` and `ext/hosts/<ip>` that machines have left behind.
#ifndef ELASTICJOB_MEMBERSHIP_OLD_SERVERS_HPP
#define ELASTICJOB_MEMBERSHIP_OLD_SERVERS_HPP

#include <elasticjob/core/clock.hpp>
#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/identity.hpp>
#include <elasticjob/registry/job_layout.hpp>
#include <elasticjob/registry/transaction.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace elasticjob {

/// Each instance creates the node of its server, and nothing else removes the node. A server whose node is empty or
/// missing is enabled. Therefore the leader may remove an empty node that no instance needs (SV-6).
/// Facts in, decisions out.
class old_servers {
public:
    /// The maximum number of servers in one read and one removal.
    static constexpr std::size_t batch_max = 200;

    /// The nodes to read now: those of the next batch of listed servers without an instance, each followed by the node
    /// of its host name. After the last server it starts again at the beginning.
    std::vector<node_path> pick(job_layout const& at, std::vector<std::string> listed,
                                std::vector<instance_id> const& instances);

    /// Removes the servers' nodes that are empty and were last written before `written_before`, with the nodes of their
    /// host names. Checks that this session's instance leads, that each server's node is unchanged since it was read,
    /// and that no instance has joined since the assignment was written: an instance that joins requests a sharding.
    /// Empty if there is nothing to remove.
    /// Precondition: `read` holds the nodes at the paths that `pick` returned.
    transaction removal(job_layout const& at, session_generation g, node_version assignment,
                        std::vector<std::optional<node>> const& read, wall_time written_before) const;

private:
    std::vector<node_path> picked_;
    std::string last_; ///< the last name picked
};

} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/membership/old_servers.ipp>
#endif
#endif // ELASTICJOB_MEMBERSHIP_OLD_SERVERS_HPP
