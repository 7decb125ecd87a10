// SPDX-License-Identifier: Apache-2.0
/// \file \brief What a scheduler knows of one of its jobs at a moment.
#ifndef ELASTICJOB_SCHEDULER_JOB_STATUS_HPP
#define ELASTICJOB_SCHEDULER_JOB_STATUS_HPP

#include <elasticjob/core/clock.hpp> // wall_time
#include <elasticjob/core/identity.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace elasticjob {

/// What an instance is to a job.
enum class job_state : std::uint8_t {
    joining,      ///< it has not registered yet
    active,       ///< its items run when they are due
    disabled,     ///< an operator has taken its server out of the job, or that is not known
    disconnected, ///< its session is suspended or over; nothing begins until it has registered again
    leaving,      ///< nothing begins any more
};

constexpr std::string_view name_of(job_state state) noexcept {
    switch (state) {
    case job_state::joining:
        return "joining";
    case job_state::active:
        return "active";
    case job_state::disabled:
        return "disabled";
    case job_state::disconnected:
        return "disconnected";
    case job_state::leaving:
        return "leaving";
    }
    return "unknown";
}

/// One job, as this instance sees it. No request was made for it.
struct job_status {
    std::string job{};                 ///< the job's name
    std::string instance{};            ///< the id of this instance
    job_state state{};                 ///< what this instance is to the job
    bool is_leader = false;            ///< whether this instance leads the job
    std::vector<item_index> items{};   ///< that this instance owns, in order
    std::vector<item_index> running{}; ///< items whose runs have begun here and not ended, in order

    /// When all items are due next by the clock, jitter not counted, by the configuration in force; the items of a
    /// disabled instance do not run then. Nothing: never, or by no clock, as with a fixed delay or after another job.
    std::optional<wall_time> next_due{};
};

} // namespace elasticjob
#endif // ELASTICJOB_SCHEDULER_JOB_STATUS_HPP
