// SPDX-License-Identifier: Apache-2.0
/// \file \brief The decisions of one instance's election, without a registry.
#ifndef ELASTICJOB_ELECTION_ELECTION_HPP
#define ELASTICJOB_ELECTION_ELECTION_HPP

#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/path.hpp>
#include <elasticjob/core/result.hpp>
#include <elasticjob/registry/job_layout.hpp>
#include <elasticjob/registry/node.hpp>
#include <elasticjob/registry/transaction.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace elasticjob {

/// The next request of an election to the registry, or the end of the election.
struct election_step {
    enum class kind : std::uint8_t {
        create_candidate, ///< creates an ephemeral sequential node at `path`; reply to `candidate_created`
        read_queue,       ///< reads the names below `path`; reply to `queue_read`
        read_leader,      ///< reads whether `path` exists; reply to `leader_read`
        await_change,     ///< waits until the node at `path` changes or is absent; reply to `front_changed`
        read_parents,     ///< reads `election::queue_paths`; reply to `parents_read`
        commit,           ///< commits `changes`; reply to `committed`
        remove_candidate, ///< removes the node at `path`; reply to `candidate_removed`
        finished,         ///< the result is `outcome`
    };
    kind what = kind::finished;
    node_path path{};
    transaction changes{session_generation::current()};
    result<void> outcome = success();
};

/// Stands for election in the queue of Curator's LeaderLatch, which Java members use too. A candidate is an ephemeral
/// sequential node `_c_<uuid>-latch-<number>`. The first candidate makes itself leader; every other candidate watches
/// only its predecessor. A single transaction makes the first candidate leader: it checks the candidate's node, creates
/// the leader's node and removes the candidate's node. So it cannot take effect after the candidate's session has ended
/// (D-44).
///
/// A value: `stand` and `withdraw` begin. Pass each reply of the registry to the function that the step names; each
/// call returns the next step. Only one step is pending at a time. After dropping a step without its reply, call
/// `withdraw` next. Threads: one at a time.
class election {
public:
    enum class phase : std::uint8_t {
        absent,        ///< no candidate of ours is in the queue
        joining,       ///< the creation of our candidate is pending
        making_queue,  ///< the queue does not exist: looks for its missing nodes and creates them
        ranking,       ///< in the queue: reads our position, and whether the job has a leader
        waiting,       ///< in the queue, behind another candidate
        taking_office, ///< first in the queue: the transaction that makes us leader is pending
        catching_up,   ///< withdrawing; the candidate may not exist: writes first, see `withdraw`
        searching,     ///< withdrawing: looks for the candidate by its name
        removing,      ///< withdrawing: removes the candidate
        stranded,      ///< an error has ended the last call; the candidate may be in the queue
    };

    election(job_layout at, instance_id self);

    /// Begins to stand. Ends when the job has a leader, this instance or another. Creates the queue if it is missing.
    /// Preconditions: not `is_standing()`; `uuid` is new. Errors: no_node if the job or our candidate has been removed;
    /// those of the registry.
    election_step stand(session_generation g, std::string_view uuid);

    /// Begins to remove our candidate from the queue, where it would block all candidates behind it as long as our
    /// session lives. If the reply to its creation was lost, its path is unknown, and a read must find it. But the
    /// server that answers the read may be behind. So a write goes first: after answering it, that server shows all
    /// earlier writes. Errors: those of the registry; after unknown_outcome and not_sent, call it again.
    election_step withdraw(session_generation g);

    // ---- Replies.

    election_step candidate_created(result<node_path> created);
    election_step parents_read(result<std::vector<std::optional<node>>> nodes);
    election_step queue_read(result<std::vector<std::string>> names);
    election_step leader_read(result<bool> is_there);
    election_step front_changed(result<void> watched);
    election_step committed(result<commit_reply> reply);
    election_step candidate_removed(result<void> removed);

    /// Call it if the session is over, which has also removed the candidate, and no step is pending.
    void forget() noexcept;

    phase where() const noexcept { return phase_; }

    /// Whether a candidate of ours may be in the queue.
    bool is_standing() const noexcept { return phase_ != phase::absent && phase_ != phase::making_queue; }

    /// The prefix of our candidate's path, if one may be in the queue.
    std::optional<node_path> place() const;

    /// The path of our candidate, if it is known.
    std::optional<node_path> const& candidate() const noexcept { return candidate_; }

    /// The candidate in front of ours, while ours is in the queue and its position is known.
    std::optional<node_path> const& front() const noexcept { return front_; }

    /// The parents of the queue, followed by the queue.
    std::vector<node_path> queue_paths() const;

    /// The invariants after every call: see the fields.
    bool holds() const noexcept;

    /// A description of the state for people: "removing; 2 attempts left". Two elections of one job with the same text,
    /// `candidate` and `front` make the same decisions.
    friend std::string to_string(election const& e);

private:
    election_step join();
    election_step rank();
    election_step begin_to_withdraw();
    election_step withdrawn();
    election_step fail(error e);

    /// Ends with the error, except if it means that our candidate is gone.
    election_step cannot_withdraw(error e);

    job_layout at_;
    instance_id self_;
    session_generation generation_{};
    phase phase_ = phase::absent;
    std::uint8_t joins_left_ = 0;        ///< since `stand`; never more than `joins_max`
    std::string name_;                   ///< the prefix of our candidate's name; empty while absent
    std::optional<node_path> candidate_; ///< our candidate, once its path is known
    std::optional<node_path> front_;     ///< the candidate in front of ours: only while ranking or waiting

    static constexpr std::uint8_t joins_max = 3;
};

std::string to_string(election const& e);

namespace detail {

inline constexpr std::string_view latch_suffix = "latch-";

/// Candidates are ordered by the text after the last `latch-` of their names. A name without `latch-` counts as a
/// whole.
std::string_view latch_key(std::string_view name) noexcept;

} // namespace detail

} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/election/election.ipp>
#endif
#endif // ELASTICJOB_ELECTION_ELECTION_HPP
