// SPDX-License-Identifier: Apache-2.0
/// \file \brief Who leads a job: Curator's latch, so that Java members stand in the same queue.
#ifndef ELASTICJOB_ELECTION_ELECTOR_HPP
#define ELASTICJOB_ELECTION_ELECTOR_HPP

#include <elasticjob/core/algorithm.hpp>
#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/random.hpp>
#include <elasticjob/registry/job_layout.hpp>
#include <elasticjob/registry/read_all.hpp>
#include <elasticjob/registry/registry.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace elasticjob {

/// The leader's node is only true while the session that owns it lives: the same id may stand there from an earlier
/// session of ours.
bool leads(node const* leader, instance_id const& self, session_view const& session);

namespace detail {

inline constexpr std::string_view latch_suffix = "latch-";

/// Candidates are served in the order of what stands behind the last `latch-` of their names; a name without it counts
/// as a whole.
std::string_view latch_key(std::string_view name) noexcept;

} // namespace detail

/// Stands for election. A candidate is an ephemeral sequential node `_c_<uuid>-latch-<number>`; the first one makes
/// itself leader, and the others each watch the one before them, not the crowd. Winning is one transaction that checks
/// the candidate's own node, creates the leader's and removes the candidate's, so it cannot outlive the session that
/// stood (D-44). Threads: the loop's.
template <registry Registry>
class elector {

public:
    elector(Registry& r, job_layout at, instance_id self, random_source& random);

    /// Returns once the job has a leader, this instance or another; which of them, the leader's node tells. Waits as
    /// long as other candidates are before it. Makes the queue anew if that is missing. Errors: no_node if the job, or our
    /// candidate, has been removed; those of the registry. Whatever happened, `withdraw` cleans up.
    task<result<void>> elect(session_generation g);

    /// Whether a candidate of ours may be in the queue.
    bool is_standing() const noexcept { return standing_.has_value(); }

    /// Takes our candidate out of the queue, where it would block everybody behind it for as long as our session lives.
    /// No effect if there is none. Errors: unknown_outcome, not_sent: call again; the session's end settles it too.
    task<result<void>> withdraw(session_generation g);

    /// The same until it is certain, however long the connection is down. Errors: those that no repetition mends.
    task<result<void>> withdraw_for_certain(session_generation g);

private:
    task<result<void>> stand(session_generation g);

    task<result<void>> join_queue(session_generation g);

    /// Curator makes the queue's node, and its parents that are missing, as containers, which the server removes once they
    /// are empty. Ours are persistent. A job that is removed meanwhile gets none. Errors: no_node if the job is gone.
    task<result<void>> make_queue(session_generation g);

    task<result<void>> take_office(session_generation g);

    /// An ephemeral node of a session that is over needs no removal.
    result<void> settle(error const& e);

    void forget() noexcept;

    Registry& registry_;
    job_layout at_;
    instance_id self_;
    random_source& random_;
    std::optional<std::string> standing_; ///< how the name of our candidate begins, once it may exist
    std::optional<node_path> candidate_;  ///< its path, once that is known
};

template <registry Registry>
elector<Registry>::elector(Registry& r, job_layout at, instance_id self, random_source& random)
    : registry_{r},
      at_{std::move(at)},
      self_{std::move(self)},
      random_{random} {}

template <registry Registry>
task<result<void>> elector<Registry>::elect(session_generation g) {
    ELASTICJOB_CO_CHECK(co_await stand(g));
    for (;;) {
        ELASTICJOB_CO_TRY(auto candidates, co_await registry_.children(at_.election_latch()));
        std::sort(candidates.begin(), candidates.end(),
                  [](std::string_view a, std::string_view b) { return detail::latch_key(a) < detail::latch_key(b); });
        auto const own = std::find(candidates.begin(), candidates.end(), candidate_->name());
        if (own == candidates.end()) {
            candidate_.reset();
            co_return error{errc::no_node, "our candidate has been removed", at_.election_latch().str()};
        }
        ELASTICJOB_CO_TRY(auto const leader, co_await registry_.exists(at_.leader_instance()));
        if (leader) co_return co_await withdraw(g);
        if (own == candidates.begin()) co_return co_await take_office(g);
        node_path const before_us = at_.election_latch() / *(own - 1);
        node_watch<typename Registry::loop_type> gone{registry_.loop()};
        auto const watched = co_await registry_.get(before_us, &gone);
        if (watched)
            co_await gone.fired();
        else if (!(watched.error() == errc::no_node))
            co_return watched.error();
    }
}

template <registry Registry>
task<result<void>> elector<Registry>::withdraw(session_generation g) {
    if (!standing_) co_return success();
    if (!candidate_) {
        // The reply to its creation was lost. Its name tells whether it is there.
        auto const candidates = co_await registry_.children(at_.election_latch());
        bool const is_there = candidates || !(candidates.error() == errc::no_node);
        if (!candidates && is_there) co_return settle(candidates.error());
        if (candidates)
            for (auto const& name : *candidates)
                if (name.starts_with(*standing_)) candidate_ = at_.election_latch() / name;
    }
    if (candidate_) {
        node_path const own = *candidate_;
        auto const removed = co_await registry_.remove(own, any_version, g);
        if (!removed && !(removed.error() == errc::no_node)) co_return settle(removed.error());
    }
    forget();
    co_return success();
}

template <registry Registry>
task<result<void>> elector<Registry>::withdraw_for_certain(session_generation g) {
    for (;;) {
        auto const done = co_await withdraw(g);
        if (done || !is_connection(done.error().code)) co_return done;
        auto const session = co_await connected_session(registry_, g);
        if (session) continue;
        forget(); // it has gone with its session
        co_return success();
    }
}

template <registry Registry>
task<result<void>> elector<Registry>::stand(session_generation g) {
    ELASTICJOB_CO_CHECK(co_await withdraw(g));
    for (int attempt = 0; attempt < 3; ++attempt) {
        auto joined = co_await join_queue(g);
        if (joined || !(joined.error() == errc::no_node)) co_return joined;
        ELASTICJOB_CO_CHECK(co_await make_queue(g));
    }
    co_return error{errc::no_node, "the node of the election's queue, which must exist, kept disappearing",
                    at_.election_latch().str()};
}

template <registry Registry>
task<result<void>> elector<Registry>::join_queue(session_generation g) {
    standing_ = "_c_" + random_.uuid() + "-";
    node_path const name = at_.election_latch() / (*standing_ + std::string{detail::latch_suffix});
    auto created = co_await registry_.create(name, {}, create_mode::ephemeral_sequential, g);
    if (created)
        candidate_ = *std::move(created);
    else if (!(created.error() == errc::unknown_outcome))
        forget();
    if (!created) co_return std::move(created).error();
    co_return success();
}

template <registry Registry>
task<result<void>> elector<Registry>::make_queue(session_generation g) {
    std::vector<node_path> const paths{at_.leader(), at_.election(), at_.election_latch()};
    ELASTICJOB_CO_TRY(auto const nodes, co_await read_all(registry_, paths));
    transaction t{g};
    t.check(at_.config());
    for (std::size_t i = 0; i < paths.size(); ++i)
        if (!nodes[i]) t.create(paths[i], {});
    ELASTICJOB_CO_TRY(auto const reply, co_await registry_.commit(std::move(t)));
    if (!reply && reply.refused->operation == 0)
        co_return error{errc::no_node, "nobody is elected, because the job has no configuration: it has been removed",
                        at_.config().str()};
    co_return success(); // if it was refused for a parent, that one has just come or gone
}

template <registry Registry>
task<result<void>> elector<Registry>::take_office(session_generation g) {
    transaction t{g};
    t.check(*candidate_).create(at_.leader_instance(), self_.str(), create_mode::ephemeral).remove(*candidate_);
    ELASTICJOB_CO_TRY(auto const reply, co_await registry_.commit(std::move(t)));
    if (!reply) co_return co_await withdraw(g); // somebody is leader after all
    forget();
    co_return success();
}

template <registry Registry>
result<void> elector<Registry>::settle(error const& e) {
    if (!(e == errc::session_lost)) return e;
    forget();
    return success();
}

template <registry Registry>
void elector<Registry>::forget() noexcept {
    standing_.reset();
    candidate_.reset();
}

} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/election/elector.ipp>
#endif
#endif // ELASTICJOB_ELECTION_ELECTOR_HPP
