// SPDX-License-Identifier: Apache-2.0
/// \file \brief How one instance stands for election: the decisions, without a registry.
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

/// What an election asks of the registry next, or that it has ended.
struct election_step {
    enum class kind : std::uint8_t {
        create_candidate, ///< at `path`, ephemeral and sequential; the answer goes to `candidate_created`
        read_queue,       ///< the names below `path`: `queue_read`
        read_leader,      ///< whether `path` exists: `leader_read`
        await_change,     ///< until the node at `path` changes or goes; at once if it is absent: `front_changed`
        read_parents,     ///< of the queue, and the queue itself, see `election::queue_paths`: `parents_read`
        commit,           ///< `changes`: `committed`
        remove_candidate, ///< at `path`: `candidate_removed`
        finished,         ///< with `outcome`
    };
    kind what = kind::finished;
    node_path path{};
    transaction changes{session_generation::current()};
    result<void> outcome = success();
};

/// Stands for election in the queue of Curator's LeaderLatch, in which Java members stand too. A candidate is an ephemeral
/// sequential node `_c_<uuid>-latch-<number>`. The first one makes itself leader; each other one watches the one in front
/// of it, not the crowd. Winning is one transaction that checks the candidate's own node, creates the leader's and removes
/// the candidate's, so it cannot outlive the session that stood (D-44).
///
/// A value: `stand` and `withdraw` begin, each answer of the registry is handed to the function that the step names, and
/// each call returns the next step. One step is under way at a time; whoever drops it without an answer calls `withdraw`
/// next. Threads: any one.
class election {
public:
    enum class phase : std::uint8_t {
        absent,        ///< no candidate of ours is in the queue
        joining,       ///< its creation is under way
        making_queue,  ///< the queue does not exist: its missing nodes are looked for and created
        ranking,       ///< in the queue: reads who stands in front, and whether the job has a leader
        waiting,       ///< in the queue, behind another candidate
        taking_office, ///< first in the queue: the transaction that makes us leader is under way
        catching_up,   ///< withdraws, and nobody knows whether the candidate exists: first a write, see `withdraw`
        searching,     ///< withdraws: looks for the candidate by its name
        removing,      ///< withdraws: removes the candidate
        stranded,      ///< an error has ended the last call; the candidate may be in the queue
    };

    election(job_layout at, instance_id self);

    /// Begins to stand. It ends when the job has a leader, this instance or another. Makes the queue if it is missing.
    /// Preconditions: not `is_standing()`; `uuid` is new. Errors: no_node if the job or our candidate has been removed;
    /// those of the registry.
    election_step stand(session_generation g, std::string_view uuid);

    /// Begins to take our candidate out of the queue, where it would block everybody behind it for as long as our session
    /// lives. Nobody knows the candidate's path if the reply to its creation was lost. Then a read must show it, but a
    /// follower of the ensemble may be a little behind. So a write goes first: whatever answers to that shows everything
    /// that came before. Errors: those of the registry; unknown_outcome and not_sent ask for another call.
    election_step withdraw(session_generation g);

    // ---- The answers.

    election_step candidate_created(result<node_path> created);
    election_step parents_read(result<std::vector<std::optional<node>>> nodes);
    election_step queue_read(result<std::vector<std::string>> names);
    election_step leader_read(result<bool> is_there);
    election_step front_changed(result<void> watched);
    election_step committed(result<commit_reply> reply);
    election_step candidate_removed(result<void> removed);

    /// Call it when the session is over, and its candidate with it, and no step is under way.
    void forget() noexcept;

    phase where() const noexcept { return phase_; }

    /// Whether a candidate of ours may be in the queue.
    bool is_standing() const noexcept { return phase_ != phase::absent && phase_ != phase::making_queue; }

    /// How the path of our candidate begins, if one may be in the queue.
    std::optional<node_path> place() const;

    /// Of our candidate, if it is known.
    std::optional<node_path> const& candidate() const noexcept { return candidate_; }

    /// The parents of the queue, and the queue.
    std::vector<node_path> queue_paths() const;

    /// What holds after every call: see the fields.
    bool holds() const noexcept;

    /// What it does, for a person: "removing; 2 attempts left". Two elections of one job that give the same text and know
    /// the same candidates decide the same.
    friend std::string to_string(election const& e);

private:
    election_step join();
    election_step rank();
    election_step begin_to_withdraw();
    election_step withdrawn();
    election_step fail(error e);

    /// Ends with the error, unless the error says that our candidate is gone.
    election_step cannot_withdraw(error e);

    job_layout at_;
    instance_id self_;
    session_generation generation_{};
    phase phase_ = phase::absent;
    std::uint8_t joins_left_ = 0;        ///< since `stand`; never more than `joins_max`
    std::string name_;                   ///< how our candidate's name begins; not while absent
    std::optional<node_path> candidate_; ///< our candidate, once its path is known
    std::optional<node_path> front_;     ///< the candidate in front of ours: only while ranking or waiting

    static constexpr std::uint8_t joins_max = 3;
};

std::string to_string(election const& e);

namespace detail {

inline constexpr std::string_view latch_suffix = "latch-";

/// Candidates are served in the order of what stands behind the last `latch-` of their names; a name without it counts
/// as a whole.
std::string_view latch_key(std::string_view name) noexcept;

} // namespace detail

} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/election/election.ipp>
#endif
#endif // ELASTICJOB_ELECTION_ELECTION_HPP
