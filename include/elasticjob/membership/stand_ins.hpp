// SPDX-License-Identifier: Apache-2.0
/// \file \brief Persistent nodes in the place of ephemeral ones, which belong to no process.
#ifndef ELASTICJOB_MEMBERSHIP_STAND_INS_HPP
#define ELASTICJOB_MEMBERSHIP_STAND_INS_HPP

#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/error.hpp>
#include <elasticjob/core/identity.hpp>
#include <elasticjob/core/path.hpp>
#include <elasticjob/registry/node.hpp>
#include <elasticjob/registry/transaction.hpp>

#include <map>
#include <optional>
#include <vector>

namespace elasticjob {

/// Tells which registered instances are alive (EL-8). The names below `instances` are not enough: tools that copy or
/// restore nodes leave persistent ones there, and so does a command of Java's console to an instance that has just
/// gone. Facts in, decisions out.
class known_instances {
public:
    /// The listed instances whose owner has not been read. Forgets instances that are not listed.
    std::vector<instance_id> unchecked(std::vector<instance_id> const& listed);

    void note(instance_id const& id, bool is_live) { is_live_[id] = is_live; }
    void forget(instance_id const& id) { is_live_.erase(id); }

    /// Keeps only the instances whose owner has been read and that are alive.
    void keep_live(std::vector<instance_id>& instances) const;

private:
    std::map<instance_id, bool> is_live_;
};

/// Whether the node belongs to no session, and so to no process.
inline bool is_stand_in(std::optional<node_stat> const& found) noexcept { return found && found->owner == 0; }

/// For reports: the node has been removed, or must be removed by hand because of `why`.
error stand_in_removed(node_path const& path);
error stand_in_stays(node_path const& path, error const& why);

} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/membership/stand_ins.ipp>
#endif
#endif // ELASTICJOB_MEMBERSHIP_STAND_INS_HPP
