// SPDX-License-Identifier: Apache-2.0
/// \file \brief How an instance leaves a job in order: its items are handed over in the same transaction.
#ifndef ELASTICJOB_SHARDING_LEAVE_HPP
#define ELASTICJOB_SHARDING_LEAVE_HPP

#include <elasticjob/core/algorithm.hpp>
#include <elasticjob/core/chrono.hpp>
#include <elasticjob/core/deferred.hpp>
#include <elasticjob/election/elector.hpp>
#include <elasticjob/registry/read_all.hpp>
#include <elasticjob/sharding/assignment.hpp>

#include <optional>
#include <utility>
#include <vector>

namespace elasticjob {

namespace detail {

/// What an instance has to take away with it, as read just now.
template <class Node>
struct departing {
    std::optional<Node> instance, leader, necessary, assignment, first_item, traits;
};

template <class Node, class Assignment = assignment>
deferred<transaction, Node> departure(registry_limits const& limits, departing<Node> const& now, job_layout const& at,
                                      instance_id const& self, session_view const& session, bool releases_items) {
    deferred<transaction, Node> t{session.generation};
    if (leads(now.leader ? &*now.leader : nullptr, self, session)) t.remove(at.leader_instance());
    if (now.instance && now.instance->stat.owner == session.id) t.remove(at.instance(self));
    if (now.traits && now.traits->stat.owner == session.id) t.remove(at.traits_of(self));
    if (t.empty()) return t; // nothing of ours is left
    if (!now.necessary) t.create(at.sharding_necessary(), {});
    if (!releases_items || !now.assignment || !now.first_item) return t;
    if (now.assignment->stat.modified != now.first_item->stat.modified) {
        // Not in force; unless it was written between the two readings: then this is refused.
        t.check(at.assignment(), now.assignment->stat.version);
        t.check(at.item_instance(0), now.first_item->stat.version);
        return t;
    }
    auto written = Assignment::parse(now.assignment->data);
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

} // namespace detail

/// Removes the instance's node, its leadership and its name from the items that it owns, and asks for a sharding, all at
/// once. A Java member takes a vanished instance for a crash and runs its items at once, unless it finds none that name
/// it (D-1). Decided on what is read now, not on what a view shows: a node that the view has not seen yet would stay for
/// as long as the session lives. Precondition: none of its items runs any more.
/// `has_traits` if it may have said something of itself when it joined.
/// Tried again while the nodes keep changing or replies are lost. Errors: those of the registry; version_conflict if
/// `deadline` came first.
template <registry Registry>
task<result<void>> leave(Registry& r, job_layout at, instance_id self, session_generation g, mono_time deadline,
                         bool has_traits = false) {
    for (int refusals = 0;;) {
        auto const session = r.session();
        if (session.generation != g || session.id == 0) co_return success(); // all of ours has gone with its session
        deferred<std::vector<node_path>, Registry> paths{at.instance(self), at.leader_instance(),
                                                         at.sharding_necessary(), at.assignment(), at.item_instance(0)};
        if (has_traits) paths.push_back(at.traits_of(self));
        auto reading = co_await read_all(r, std::move(paths));
        if (reading) {
            auto& n = *reading;
            n.resize(6);
            detail::departing<deferred<node, Registry>> const now{std::move(n[0]), std::move(n[1]), std::move(n[2]),
                                                                  std::move(n[3]), std::move(n[4]), std::move(n[5])};
            auto t = detail::departure(r.limits(), now, at, self, session, refusals < 3);
            if (t.empty()) co_return success();
            auto const reply = co_await r.commit(std::move(t));
            if (reply && *reply) co_return success();
            // Somebody has written meanwhile, who may be leaving too: of many who leave at once, each has its turn.
            bool const is_overtaken = reply && reply->refused->why != errc::no_node;
            if (is_overtaken && r.loop().now() < deadline) continue;
            if (reply) ++refusals; // if it is items' nodes that somebody has removed, the leader sees to the items
            if (!reply && reply.error() == errc::no_auth) co_return reply.error();
        } else if (reading.error() == errc::closed || reading.error() == errc::no_auth) {
            co_return std::move(reading).error();
        }
        if (r.loop().now() >= deadline)
            co_return error{errc::version_conflict,
                            "this instance could not leave in time: the job's nodes kept "
                            "changing, or the registry did not answer",
                            at.root().str()};
        auto const edition = r.session_changed().edition();
        auto const pause = std::min(deadline, r.loop().now() + std::chrono::milliseconds{100});
        co_await r.session_changed().newer_than(edition, pause);
    }
}

} // namespace elasticjob
#endif // ELASTICJOB_SHARDING_LEAVE_HPP
