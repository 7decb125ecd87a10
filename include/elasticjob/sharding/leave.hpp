// SPDX-License-Identifier: Apache-2.0
/// \file \brief Removes an instance from a job in order: the same transaction hands over its items.
#ifndef ELASTICJOB_SHARDING_LEAVE_HPP
#define ELASTICJOB_SHARDING_LEAVE_HPP

#include <elasticjob/core/algorithm.hpp>
#include <elasticjob/core/chrono.hpp>
#include <elasticjob/core/decl.hpp>
#include <elasticjob/election/elector.hpp>
#include <elasticjob/registry/abandoned_nodes.hpp>
#include <elasticjob/registry/catch_up.hpp>
#include <elasticjob/registry/read_all.hpp>
#include <elasticjob/sharding/assignment.hpp>

#include <optional>
#include <utility>
#include <vector>

namespace elasticjob {

namespace detail {

/// The nodes that an instance has to remove, as just read.
struct departing {
    std::optional<node> instance, leader, traits;
    std::optional<node> necessary, assignment, first_item; ///< only read if the items are released too
};

/// Decides what an instance removes when it leaves, and when it gives up. Facts in, decisions out.
class departure_plan {
public:
    explicit departure_plan(bool has_java_members) noexcept : releases_left_{has_java_members ? java_releases : 1} {}

    /// Whether the next transaction also releases the items, beside the removal of the instance's own nodes. If many
    /// instances leave at once, each writes the whole assignment. So an instance that loses this race leaves its items
    /// to the leader, which shards anyway. Java members would take such an instance for a crashed one, so beside Java
    /// members it tries more often.
    bool releases_items() const noexcept { return releases_left_ > 0; }

    /// Call it after a transaction was refused because another client has written one of its nodes. Returns whether to
    /// try again at once.
    bool note_refusal(errc why) noexcept;

    /// Call it after a write of this session has been answered: later reads show everything that the session has
    /// written. Only then does the absence of nodes mean that nothing is left. A follower that is behind may not show a
    /// node whose creation had no reply.
    void note_write() noexcept { has_written_ = true; }
    bool shows_all() const noexcept { return has_written_; }

private:
    static constexpr int java_releases = 20;
    static constexpr int refusals_max = 30; ///< others can only remove our own nodes, so those cause at most three

    int releases_left_;
    int refusals_ = 0;
    bool has_written_ = false;
};

/// The removals for one transaction; empty if nothing of the instance is left.
transaction departure(registry_limits const& limits, departing const& now, job_layout const& at,
                      instance_id const& self, session_view const& session, bool releases_items);

/// The nodes that the registry has to remove for an instance that could not do so itself.
abandoned_nodes left_behind(job_layout const& at, instance_id const& self, session_generation g,
                            std::optional<node_path> candidate);

} // namespace detail

/// Removes the instance's node, its leadership and its name from its items, and requests a sharding, in one
/// transaction. If another client writes meanwhile, it removes only the instance's own nodes, and the leader reassigns
/// the items. A Java member takes a vanished instance for a crash and runs its items at once, unless no item names it
/// (D-1). So with `has_java_members` the whole transaction is tried more often. It decides on a fresh read instead of a
/// view: a node that the view has not seen yet would stay as long as the session lives. Pass `has_traits` if the
/// instance may have published traits when it joined. Repeated while replies are lost. Precondition: none of its items
/// runs any more. Errors: those of the registry; version_conflict if `deadline` came first.
/// are lost. Errors: those of the registry; version_conflict if `deadline` came first.
template <registry Registry>
task<result<void>> leave(Registry& r, job_layout at, instance_id self, session_generation g, mono_time deadline,
                         bool has_traits = false, bool has_java_members = false) {
    for (detail::departure_plan plan{has_java_members};;) {
        auto const session = r.session();
        if (session.generation != g || session.id == 0) co_return success(); // our nodes have gone with the session
        std::vector<node_path> paths{at.instance(self), at.leader_instance(), at.traits_of(self)};
        if (!has_traits) paths.pop_back();
        if (plan.releases_items())
            for (auto const& path : {at.sharding_necessary(), at.assignment(), at.item_instance(0)})
                paths.push_back(path);
        auto reading = co_await read_all(r, std::move(paths));
        bool is_overtaken = false;
        if (reading) {
            auto& n = *reading;
            if (!has_traits) n.insert(n.begin() + 2, std::nullopt);
            n.resize(6);
            detail::departing const now{std::move(n[0]), std::move(n[1]), std::move(n[2]),
                                        std::move(n[3]), std::move(n[4]), std::move(n[5])};
            auto t = detail::departure(r.limits(), now, at, self, session, plan.releases_items());
            bool const finds_nothing = t.empty();
            if (finds_nothing && plan.shows_all()) co_return success();
            if (finds_nothing) t = catch_up_write(g, at.config());
            auto const reply = co_await r.commit(std::move(t));
            if (reply) plan.note_write();
            if (reply && finds_nothing) continue;
            if (reply && *reply) co_return success();
            if (reply) is_overtaken = plan.note_refusal(reply->refused->why);
            if (!reply && reply.error() == errc::no_auth) co_return reply.error();
        } else if (reading.error() == errc::closed || reading.error() == errc::no_auth) {
            co_return std::move(reading).error();
        }
        if (r.loop().now() >= deadline)
            co_return error{errc::version_conflict,
                            "this instance could not leave in time: the job's nodes kept "
                            "changing, or the registry did not answer",
                            at.instance(self).str()};
        if (is_overtaken) continue;
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
