// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_SHARDING_ITEM_DOUBTS_IPP
#define ELASTICJOB_IMPL_SHARDING_ITEM_DOUBTS_IPP

#include <elasticjob/sharding/item_doubts.hpp>

namespace elasticjob {

ELASTICJOB_DECL void item_doubts::note_sharding(result<void> const& done, job_layout const& at) {
    is_reply_missing_ = !done && !is_conflict(done.error().code);
    if (done) {
        may_differ_ = is_damaged_ = false;
        return;
    }
    // A refusal may concern another node, such as an assignment that a leaving instance has just written. Then it says
    // nothing about the items, and the view will show the change by itself.
    bool const spares_items = is_conflict(done.error().code) && !done.error().where.starts_with(at.sharding().str());
    may_differ_ = is_damaged_ || !spares_items;
}

ELASTICJOB_DECL void item_doubts::note_audit(item_nodes const& read, assignment const& in_force) {
    for (item_index i = 0; i < in_force.items() && !is_damaged_; ++i)
        is_damaged_ = !read.has_owner_node(i) || read.owner(i) != in_force.owner_id(i).str();
    may_differ_ |= is_damaged_;
    has_cut_items_ |= read.end() > in_force.items();
}

} // namespace elasticjob
#endif // ELASTICJOB_IMPL_SHARDING_ITEM_DOUBTS_IPP
