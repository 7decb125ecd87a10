// SPDX-License-Identifier: Apache-2.0
/// \file \brief What an instance does next for the leadership of its job.
#ifndef ELASTICJOB_SCHEDULER_LEADER_DUTY_HPP
#define ELASTICJOB_SCHEDULER_LEADER_DUTY_HPP

#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/error.hpp>
#include <elasticjob/registry/node.hpp>

#include <cstdint>
#include <optional>

namespace elasticjob::detail {

/// The facts on which `duty_of` decides.
struct leadership {
    bool is_member = false;   ///< registered under the current session, and not leaving
    bool is_standing = false; ///< an election has failed and left a candidate of ours in the queue
    bool leads = false;
    bool is_enabled = false, is_disabled = false; ///< our server; both false: its node has not been read
    node const* leader = nullptr;
};

enum class leader_duty : std::uint8_t {
    none,
    withdraw,        ///< removes our candidate, which would block all others
    resign,          ///< removes the leader's node (EL-6)
    keep_sharded,    ///< keeps the assignment up to date and makes the periodic checks (SH-1, RC-1)
    remove_stand_in, ///< removes a persistent node in the place of the leader's, which belongs to no process (EL-8)
    stand,           ///< stands for election (EL-4, EL-5)
};

leader_duty duty_of(leadership const& now) noexcept;

/// Which failures of elections to report: those that do not pass by themselves, each kind once until an election
/// succeeds. Facts in, decisions out.
class failed_elections {
public:
    /// Returns the report, if this failure needs one: the second of its kind in a row.
    std::optional<error> note(error const& e);

    void note_success() noexcept { failed_ = reported_ = 0; }

private:
    std::uint64_t failed_ = 0, reported_ = 0; ///< a bit for each kind of error
};

} // namespace elasticjob::detail

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/scheduler/leader_duty.ipp>
#endif
#endif // ELASTICJOB_SCHEDULER_LEADER_DUTY_HPP
