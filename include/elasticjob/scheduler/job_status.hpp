// SPDX-License-Identifier: Apache-2.0
/// \file \brief The status of a job as its scheduler sees it.
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

/// The state of an instance in a job.
enum class job_state : std::uint8_t {
    joining,      ///< it has not registered yet
    active,       ///< its items run at their due instants
    paused,       ///< it keeps its items, and no run of them begins
    disabled,     ///< its server is disabled, or its server's node has not been read
    disconnected, ///< its session is suspended or over; no run begins until it is registered again
    leaving,      ///< no run begins any more
};

constexpr std::string_view name_of(job_state state) noexcept {
    switch (state) {
    case job_state::joining:
        return "joining";
    case job_state::active:
        return "active";
    case job_state::paused:
        return "paused";
    case job_state::disabled:
        return "disabled";
    case job_state::disconnected:
        return "disconnected";
    case job_state::leaving:
        return "leaving";
    }
    return "unknown";
}

/// One job, as this instance sees it without a request.
struct job_status {
    std::string job{};                 ///< the job's name
    std::string instance{};            ///< the id of this instance
    job_state state{};                 ///< the state of this instance in the job
    bool is_leader = false;            ///< whether this instance leads the job
    std::vector<item_index> items{};   ///< the items that this instance owns, in order
    std::vector<item_index> running{}; ///< the items that run here, in order

    /// The next due instant of all items by the configuration in force, without jitter. The items of a disabled or
    /// paused instance do not run then. Nothing: never, or not known in advance, as with a fixed delay or after another
    /// job.
    std::optional<wall_time> next_due{};
};

} // namespace elasticjob
#endif // ELASTICJOB_SCHEDULER_JOB_STATUS_HPP
