// SPDX-License-Identifier: Apache-2.0
/// \file \brief Detects persistent nodes in places where only ephemeral ones belong; no process owns such a node.
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

/// Tells which registered instances are alive (EL-8). The names below `instances` are not enough, because persistent
/// nodes may be among them. Tools that copy or restore nodes leave such nodes, and Java's console creates one by a
/// command to an instance that has just ended. Facts in, decisions out.
class known_instances {
public:
    /// `self` is alive. It must outlive this object.
    explicit known_instances(instance_id const& self) noexcept : self_{self} {}

    /// The listed instances whose nodes' owners have not been read. Forgets instances that are not listed.
    std::vector<instance_id> unchecked(std::vector<instance_id> const& listed);

    void note(instance_id const& id, bool is_live) { is_live_[id] = is_live; }
    void forget(instance_id const& id) { is_live_.erase(id); }

    /// Keeps only instances whose nodes' owners have been read and that are alive.
    void keep_live(std::vector<instance_id>& instances) const;

private:
    instance_id const& self_;
    std::map<instance_id, bool> is_live_; ///< without `self`
};

/// Whether the node belongs to no session, and so to no process.
inline bool is_stand_in(std::optional<node_stat> const& found) noexcept { return found && found->owner == 0; }

/// Errors for reports. The library has removed the node, or an operator must remove it because of `why`.
error stand_in_removed(node_path const& path);
error stand_in_stays(node_path const& path, error const& why);

} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/membership/stand_ins.ipp>
#endif
#endif // ELASTICJOB_MEMBERSHIP_STAND_INS_HPP
