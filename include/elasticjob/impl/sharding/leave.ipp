// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_SHARDING_LEAVE_IPP
#define ELASTICJOB_IMPL_SHARDING_LEAVE_IPP

#include <elasticjob/sharding/leave.hpp>

namespace elasticjob::detail {

ELASTICJOB_DECL bool departure_plan::note_refusal(errc why) noexcept {
    // If another client has removed nodes of items, they do not come back by themselves: the leader handles them.
    releases_left_ = why == errc::no_node ? std::min(releases_left_ - 1, 2) : releases_left_ - 1;
    return ++refusals_ < refusals_max;
}

ELASTICJOB_DECL abandoned_nodes left_behind(job_layout const& at, instance_id const& self, session_generation g,
                                            std::optional<node_path> candidate) {
    return {g, {{at.instance(self)}, {at.leader_instance(), self.str()}, {at.traits_of(self)}}, std::move(candidate)};
}

ELASTICJOB_DECL transaction departure(registry_limits const& limits, departing const& now, job_layout const& at,
                                      instance_id const& self, session_view const& session, bool releases_items) {
    transaction t{session.generation};
    if (leads(now.leader ? &*now.leader : nullptr, self, session)) t.remove(at.leader_instance());
    if (now.instance && now.instance->stat.owner == session.id) t.remove(at.instance(self));
    if (now.traits && now.traits->stat.owner == session.id) t.remove(at.traits_of(self));
    if (t.empty()) return t;       // none of our nodes is left
    if (!releases_items) return t; // the leader notices that the instance has gone
    if (!now.necessary) t.create(at.sharding_necessary(), {});
    if (!now.assignment || !now.first_item) return t;
    if (now.assignment->stat.modified != now.first_item->stat.modified) {
        // Not in force, unless it was written between the two reads; then this transaction is refused.
        t.check(at.assignment(), now.assignment->stat.version);
        t.check(at.item_instance(0), now.first_item->stat.version);
        return t;
    }
    auto written = assignment::parse(now.assignment->data);
    if (!written || !written->has(self)) return t;

    auto const mine = written->items_of(self);
    written->release(self);
    auto with_release = t;
    with_release.set(at.assignment(), written->to_text(), now.assignment->stat.version);
    with_release.set(at.item_instance(0), written->owner_id(0).str(), now.first_item->stat.version);
    for (auto const i : mine)
        if (i != 0) with_release.set(at.item_instance(i), {});
    return with_release.has_room(limits) ? with_release : t;
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_IMPL_SHARDING_LEAVE_IPP
