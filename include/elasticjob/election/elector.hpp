// SPDX-License-Identifier: Apache-2.0
/// \file \brief Elects the leader of a job through the registry.
#ifndef ELASTICJOB_ELECTION_ELECTOR_HPP
#define ELASTICJOB_ELECTION_ELECTOR_HPP

#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/random.hpp>
#include <elasticjob/election/election.hpp>
#include <elasticjob/registry/catch_up.hpp>
#include <elasticjob/registry/job_layout.hpp>
#include <elasticjob/registry/read_all.hpp>
#include <elasticjob/registry/registry.hpp>

#include <optional>
#include <utility>

namespace elasticjob {

/// Whether we lead. The leader's node counts only while the session that owns it lives: an earlier session of ours may
/// have left the same id.
bool leads(node const* leader, instance_id const& self, session_view const& session);

/// Removes the leader's node if it is ours (EL-6). Another instance may lead by now, although the caller's view does
/// not show it yet, and the version of its node is the same. So a write goes first, and the read after it shows the
/// present leader. If that is us, only this session can remove the node. Errors: those of the registry.
template <registry Registry>
task<result<void>> resign(Registry& r, job_layout at, instance_id self, session_generation g) {
    ELASTICJOB_CO_TRY(auto const caught_up, co_await r.commit(catch_up_write(g, at.config())));
    (void)caught_up; // a refused write also makes the server catch up
    auto const leader = co_await r.get(at.leader_instance());
    if (!leader && !(leader.error() == errc::no_node)) co_return leader.error();
    if (!leader || !leads(&*leader, self, r.session())) co_return success();
    co_return co_await r.remove(at.leader_instance(), any_version, g);
}

/// Carries out the decisions of `election` on a registry. Threads: the loop's.
template <registry Registry>
class elector {
public:
    elector(Registry& r, job_layout at, instance_id self, random_source& random);

    /// Returns once the job has a leader, this instance or another; the leader's node names it. Waits as long as other
    /// candidates are in front. Creates the queue if it is missing. Errors: those of `election::stand`, and not_empty
    /// if a persistent node with children stands in front. Call `withdraw` after any outcome to clean up.
    task<result<void>> elect(session_generation g);

    /// Returns, once, a persistent node that an election found in front of our candidate and removed. No process owns
    /// such a node, and it would block the queue forever (EL-8).
    std::optional<node_path> take_removed() { return std::exchange(removed_, std::nullopt); }

    /// Whether a candidate of ours may be in the queue.
    bool is_standing() const noexcept { return election_.is_standing(); }

    /// The prefix of our candidate's path, if one may be in the queue.
    std::optional<node_path> place() const { return election_.place(); }

    /// Removes our candidate from the queue. No effect if there is none. Errors: unknown_outcome and not_sent: call it
    /// again, unless the session ends, which also removes the candidate; other errors of the registry.
    task<result<void>> withdraw(session_generation g) { return run(election_.withdraw(g), g); }

    /// Repeats `withdraw` until the candidate is certainly gone, however long the connection is down. Errors: those of
    /// the registry that a repetition cannot resolve.
    task<result<void>> withdraw_for_certain(session_generation g);

private:
    task<result<void>> run(election_step step, session_generation g);

    /// Waits until the node changes or is absent. Removes it if it is persistent.
    task<result<void>> change_of(node_path path);

    Registry& registry_;
    random_source& random_;
    election election_;
    std::optional<node_path> removed_;
};

template <registry Registry>
elector<Registry>::elector(Registry& r, job_layout at, instance_id self, random_source& random)
    : registry_{r},
      random_{random},
      election_{std::move(at), std::move(self)} {}

template <registry Registry>
task<result<void>> elector<Registry>::elect(session_generation g) {
    ELASTICJOB_CO_CHECK(co_await withdraw(g)); // it may have left a candidate in an earlier call
    co_return co_await run(election_.stand(g, random_.uuid()), g);
}

template <registry Registry>
task<result<void>> elector<Registry>::run(election_step step, session_generation g) {
    for (;;) {
        switch (step.what) {
        case election_step::kind::create_candidate:
            step = election_.candidate_created(
                co_await registry_.create(step.path, {}, create_mode::ephemeral_sequential, g));
            break;
        case election_step::kind::read_queue:
            step = election_.queue_read(co_await registry_.children(step.path));
            break;
        case election_step::kind::read_leader: {
            auto const stat = co_await registry_.exists(step.path);
            step = election_.leader_read(stat ? result<bool>{stat->has_value()} : stat.error());
            break;
        }
        case election_step::kind::await_change:
            step = election_.front_changed(co_await change_of(step.path));
            break;
        case election_step::kind::read_parents:
            step = election_.parents_read(co_await read_all(registry_, election_.queue_paths()));
            break;
        case election_step::kind::commit:
            step = election_.committed(co_await registry_.commit(std::move(step.changes)));
            break;
        case election_step::kind::remove_candidate:
            step = election_.candidate_removed(co_await registry_.remove(step.path, any_version, g));
            break;
        case election_step::kind::finished:
            co_return std::move(step.outcome);
        }
    }
}

template <registry Registry>
task<result<void>> elector<Registry>::change_of(node_path path) {
    event_watch<typename Registry::loop_type> changed{registry_.loop()};
    auto const watched = co_await registry_.get(path, &changed);
    if (watched && watched->stat.owner == 0) {
        transaction t{session_generation::current()};
        t.remove_persistent(path, watched->stat.version);
        ELASTICJOB_CO_TRY(auto const reply, co_await registry_.commit(std::move(t)));
        if (reply) removed_ = std::move(path);
        if (!reply && reply.refused->why == errc::not_empty)
            co_return error{errc::not_empty,
                            "a persistent node stands in front of this candidate and has children: remove it",
                            path.str()};
    } else if (watched)
        co_await changed.fired();
    else if (!(watched.error() == errc::no_node))
        co_return watched.error();
    co_return success();
}

template <registry Registry>
task<result<void>> elector<Registry>::withdraw_for_certain(session_generation g) {
    for (;;) {
        auto const done = co_await withdraw(g);
        if (done || !is_connection(done.error().code)) co_return done;
        auto const session = co_await connected_session(registry_, g);
        if (session) continue;
        election_.forget(); // the candidate has gone with its session
        co_return success();
    }
}

} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/election/elector.ipp>
#endif
#endif // ELASTICJOB_ELECTION_ELECTOR_HPP
