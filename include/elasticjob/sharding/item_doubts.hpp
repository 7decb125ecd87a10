// SPDX-License-Identifier: Apache-2.0
/// \file \brief Notes the reasons for which the leader cannot rely on the items' nodes.
#ifndef ELASTICJOB_SHARDING_ITEM_DOUBTS_HPP
#define ELASTICJOB_SHARDING_ITEM_DOUBTS_HPP

#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/result.hpp>
#include <elasticjob/registry/job_layout.hpp>
#include <elasticjob/sharding/assignment.hpp>
#include <elasticjob/sharding/item_nodes.hpp>

namespace elasticjob {

/// Normally the items' nodes agree with the assignment in force, and a sharding reads none of them. This class notes
/// every sign that they may disagree. Facts in, decisions out.
class item_doubts {
public:
    /// Whether a sharding must read the items' nodes first.
    bool must_read(assignment const* in_force) const noexcept {
        return !in_force || !in_force->is_published() || may_differ_;
    }

    /// Whether a write must precede that read. The reply to our last write was lost, and a server that is behind may
    /// not show the effect of that write. The read would then show nodes that no longer exist, and no check in the plan
    /// would detect them.
    bool must_catch_up() const noexcept { return is_reply_missing_; }

    /// Whether the nodes disagree with the assignment in force. If so, the leader shards again.
    bool is_damaged() const noexcept { return is_damaged_; }

    /// Whether nodes of items that the job no longer has may exist.
    bool has_cut_items() const noexcept { return has_cut_items_; }
    void suspect_cut_items() noexcept { has_cut_items_ = true; }
    void note_removal(bool has_removed_all) noexcept { has_cut_items_ = !has_removed_all; }

    /// Call it with the outcome of the transactions that replace the assignment.
    void note_sharding(result<void> const& done, job_layout const& at);

    /// Call it with the items' nodes, just read, and the assignment that was in force before and after.
    void note_audit(item_nodes const& read, assignment const& in_force);

private:
    bool may_differ_ = false;
    bool is_damaged_ = false;       ///< implies `may_differ_`
    bool is_reply_missing_ = false; ///< to the last write
    bool has_cut_items_ = false;
};

} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/sharding/item_doubts.ipp>
#endif
#endif // ELASTICJOB_SHARDING_ITEM_DOUBTS_HPP
