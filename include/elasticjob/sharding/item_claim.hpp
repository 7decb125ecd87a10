// SPDX-License-Identifier: Apache-2.0
/// \file \brief The items that we own right now, with the node versions that prove it in a transaction.
#ifndef ELASTICJOB_SHARDING_ITEM_CLAIM_HPP
#define ELASTICJOB_SHARDING_ITEM_CLAIM_HPP

#include <elasticjob/core/chrono.hpp>
#include <elasticjob/core/decl.hpp>
#include <elasticjob/registry/read_all.hpp>
#include <elasticjob/sharding/item_nodes.hpp>
#include <elasticjob/sharding/job_view.hpp>

#include <utility>
#include <vector>

namespace elasticjob {

/// An instance's share at one moment.
struct item_claim {
    struct proof {
        node_path path;
        node_version version;
    };
    struct share {
        item_index item;
        std::vector<proof> own;  ///< checked when this item is started
        bool is_adopted = false; ///< another member's item: we only repeat a run that a dead instance has left
    };
    std::vector<share> shares; ///< by item, ascending
    std::vector<proof> common; ///< checked when any item is started
};

namespace detail {

template <registry Registry>
item_claim claim_from(assignment const& a, job_view<Registry> const& view, job_layout const& at,
                      instance_id const& self) {
    item_claim claim;
    for (auto const i : a.items_of(self)) claim.shares.push_back({i, {}});
    claim.common.reserve(3);
    claim.common.push_back({at.assignment(), view.assignment_node()->stat.version});
    // A Java leader creates this node again, with version 0; ours has been written at least once.
    claim.common.push_back({at.item_instance(0), view.first_item()->version});
    claim.common.push_back({at.config(), any_version}); // so a job that has been removed starts no runs
    return claim;
}

item_claim claim_from(item_nodes const& nodes, std::uint32_t count, job_layout const& at, instance_id const& self);

/// A Java leader shards at its own next firing. Until then the nodes of the items are unreliable.
template <registry Registry>
bool is_between_shardings(job_view<Registry> const& view, bool has_just_sharded) {
    bool const is_asked_for = view.sharding_is_necessary() && !has_just_sharded;
    return is_asked_for || view.sharding_is_in_progress() || !view.first_item();
}

} // namespace detail

template <registry Registry>
bool has_java_leader(job_view<Registry> const& view) {
    auto const* leader = view.leader();
    if (!leader) return false;
    auto const id = instance_id::parse(leader->data);
    return id && id->is_java();
}

/// Whether the members wait for a Java leader to make a requested sharding. While the job has no leader, a Java member
/// may become leader, so this holds then too. A Java leader shards at its next firing, before it runs any item.
template <registry Registry>
bool awaits_java_sharding(job_view<Registry> const& view) {
    if (!view.sharding_is_necessary() && !view.sharding_is_in_progress()) return false;
    return view.leader() ? has_java_leader(view) : view.has_java_members();
}

/// Whether another member has sharded since `ext/assignment` was written. The view cannot tell, because it receives the
/// two nodes one after the other. This reads the item's node between two reads of the assignment, and repeats that
/// while the assignment changes. One round trip each time. Errors: version_conflict if the assignment changes during
/// each of ten attempts; those of the registry.
template <registry Registry>
task<result<bool>> is_overruled(Registry& r, job_layout at) {
    std::vector<node_path> paths{at.assignment(), at.item_instance(0), at.assignment()};
    for (int attempt = 0; attempt < 10; ++attempt) {
        ELASTICJOB_CO_TRY(auto const now, co_await read_all(r, paths));
        if (now[0] != now[2]) continue; // written in between
        co_return !is_in_force(now[0], now[1]);
    }
    co_return error{errc::version_conflict, "the assignment keeps changing, so it is unknown whether it is in force",
                    at.assignment().str()};
}

/// The items that this instance owns. Reads nothing while an assignment of ours is in force under a leader of ours.
/// After a Java leader has sharded, reads the nodes of the items. While the job's first sharding is due or a Java
/// leader has to shard, waits, but at most until `deadline` (D-12: no firing is delayed forever). With
/// `has_just_sharded`, ignores that the next sharding has already been requested. Errors: timed_out, which names the
/// cause of the delay; those of `is_overruled` and of the registry.
template <registry Registry>
task<result<item_claim>> claim_items(Registry& r, job_view<Registry>& view, job_layout at, instance_id self,
                                     std::uint32_t count, mono_time deadline, bool has_just_sharded = false) {
    for (;;) {
        auto const seen = view.news().edition();
        bool is_in_force = view.assignment_in_force() != nullptr;
        if (is_in_force && has_java_leader(view)) { // the view may not show yet that it has just sharded
            ELASTICJOB_CO_TRY(auto const overruled, co_await is_overruled(r, at));
            is_in_force = !overruled && view.assignment_in_force();
        }
        if (is_in_force) co_return detail::claim_from(*view.assignment_in_force(), view, at, self);
        bool may_read = !detail::is_between_shardings(view, has_just_sharded);
        if (may_read && view.assignment_node()) {
            ELASTICJOB_CO_TRY(may_read, co_await is_overruled(r, at));
        }
        // An instance that leaves may have written the first item, and the view may not show its request for a sharding
        // yet.
        if (may_read && !has_just_sharded) {
            ELASTICJOB_CO_TRY(auto const asked, co_await r.exists(at.sharding_necessary()));
            may_read = !asked;
        }
        if (may_read) {
            ELASTICJOB_CO_TRY(auto const nodes, co_await read_item_nodes(r, at));
            // The nodes were read one by one, so the result is valid only if no sharding began meanwhile. The
            // transaction that starts a run checks the versions again.
            if (view.news().edition() == seen) co_return detail::claim_from(nodes, count, at, self);
            if (r.loop().now() < deadline) continue;
        } else if (co_await view.news().newer_than(seen, deadline)) {
            continue;
        }
        auto const* leader = view.leader();
        co_return error{errc::timed_out,
                        leader ? "the leader " + leader->data + " has not sharded the job yet"
                               : std::string{"the job has no leader, so nobody has sharded it yet"},
                        at.root().str()};
    }
}

} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/sharding/item_claim.ipp>
#endif
#endif // ELASTICJOB_SHARDING_ITEM_CLAIM_HPP
