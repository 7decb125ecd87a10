// SPDX-License-Identifier: Apache-2.0
/// \file \brief How an instance leaves a job in order: its items are handed over in the same transaction.
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

/// What an instance has to take away with it, as read just now.
struct departing {
    std::optional<node> instance, leader, traits;
    std::optional<node> necessary, assignment, first_item; ///< only read while the items are released too
};

/// How an instance takes its leave: what it removes, and when it gives up. Facts in, decisions out.
class departure_plan {
public:
    explicit departure_plan(bool has_java_members) noexcept : releases_left_{has_java_members ? java_releases : 1} {}

    /// Whether the next transaction is to release the items, and not only to remove what is the instance's own. Of many
    /// that leave at once each writes the whole assignment; so who has been overtaken leaves its items to the leader,
    /// which shards anyway. Java members would take such an instance for one that crashed, so beside them it is tried
    /// more often.
    bool releases_items() const noexcept { return releases_left_ > 0; }

    /// A transaction has been refused, because somebody has written one of its nodes. Gives whether to try again at
    /// once.
    bool note_refusal(errc why) noexcept;

    /// A write of this session has been answered, so what is read from now on shows everything that it has written. Only
    /// then nothing being there means that nothing is left: a follower that is behind may not show a node yet whose
    /// creation had no reply.
    void note_write() noexcept { has_written_ = true; }
    bool shows_all() const noexcept { return has_written_; }

private:
    static constexpr int java_releases = 20;
    static constexpr int refusals_max = 30; ///< nodes of our own only ever go, so it takes three of them at most

    int releases_left_;
    int refusals_ = 0;
    bool has_written_ = false;
};

/// What the instance has to remove in one transaction; empty if nothing of it is left.
transaction departure(registry_limits const& limits, departing const& now, job_layout const& at,
                      instance_id const& self, session_view const& session, bool releases_items);

/// What the registry has to remove for an instance that could not do so itself.
abandoned_nodes left_behind(job_layout const& at, instance_id const& self, session_generation g,
                            std::optional<node_path> candidate);

} // namespace detail

/// Removes the instance's node, its leadership and its name from the items that it owns, and asks for a sharding, all at
/// once. If somebody else writes meanwhile, it removes only the instance's own nodes, and the leader sees to the items.
/// A Java member takes a vanished instance for a crash and runs its items at once, unless it finds none that name it
/// (D-1); so with `has_java_members` the whole is tried more often. Decided on what is read now, not on what a view
/// shows: a node that the view has not seen yet would stay for as long as the session lives. Precondition: none of its
/// items runs any more. `has_traits` if it may have said something of itself when it joined. Tried again while replies
/// are lost. Errors: those of the registry; version_conflict if `deadline` came first.
template <registry Registry>
task<result<void>> leave(Registry& r, job_layout at, instance_id self, session_generation g, mono_time deadline,
                         bool has_traits = false, bool has_java_members = false) {
    for (detail::departure_plan plan{has_java_members};;) {
        auto const session = r.session();
        if (session.generation != g || session.id == 0) co_return success(); // all of ours has gone with its session
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
