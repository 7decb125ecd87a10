// SPDX-License-Identifier: Apache-2.0
/// \file \brief Which `servers/<ip>` of a job are left over from machines that are gone.
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

/// Each instance creates the node of its server, and nothing else removes it. An empty one says that the server is
/// enabled, as does none; so the leader may remove one that nobody needs (SV-6). Facts in, decisions out.
class old_servers {
public:
    /// How many of them are looked at, and removed, at once.
    static constexpr std::size_t batch_max = 200;

    /// The nodes to read now: of the listed ones those that have no instance, a batch behind the last batch, and from the
    /// beginning again after the last of them.
    std::vector<node_path> pick(job_layout const& at, std::vector<std::string> listed,
                                std::vector<instance_id> const& instances);

    /// Removes those of the nodes that were last written before `written_before` and hold nothing. Checks that this
    /// session's instance leads, that each node is as it was read, and that no instance has joined since the assignment
    /// was written: whoever joins asks for a sharding. Empty if there is nothing to remove. Precondition: `read` is what
    /// stands at the paths that `pick` gave.
    transaction removal(job_layout const& at, session_generation g, node_version assignment,
                        std::vector<std::optional<node>> const& read, wall_time written_before) const;

private:
    std::vector<node_path> picked_;
    std::string last_; ///< the name that was picked last
};

} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/membership/old_servers.ipp>
#endif
#endif // ELASTICJOB_MEMBERSHIP_OLD_SERVERS_HPP
