// SPDX-License-Identifier: Apache-2.0
/// \file \brief How an instance leaves a job in order: its items are handed over in the same transaction.
#ifndef ELASTICJOB_SHARDING_LEAVE_HPP
#define ELASTICJOB_SHARDING_LEAVE_HPP

#include <elasticjob/core/algorithm.hpp>
#include <elasticjob/core/chrono.hpp>
#include <elasticjob/core/decl.hpp>
#include <elasticjob/election/elector.hpp>
#include <elasticjob/registry/read_all.hpp>
#include <elasticjob/sharding/assignment.hpp>

#include <optional>
#include <utility>
#include <vector>

namespace elasticjob {

namespace detail {

/// What an instance has to take away with it, as read just now.
struct departing {
    std::optional<node> instance, leader, necessary, assignment, first_item, traits;
};

transaction departure(registry_limits const& limits, departing const& now, job_layout const& at,
                      instance_id const& self, session_view const& session, bool releases_items);

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
        std::vector<node_path> paths{at.instance(self), at.leader_instance(), at.sharding_necessary(), at.assignment(),
                                     at.item_instance(0)};
        if (has_traits) paths.push_back(at.traits_of(self));
        auto reading = co_await read_all(r, std::move(paths));
        if (reading) {
            auto& n = *reading;
            n.resize(6);
            detail::departing const now{std::move(n[0]), std::move(n[1]), std::move(n[2]),
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

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/sharding/leave.ipp>
#endif
#endif // ELASTICJOB_SHARDING_LEAVE_HPP
