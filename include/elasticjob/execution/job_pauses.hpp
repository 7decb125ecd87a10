// SPDX-License-Identifier: Apache-2.0
/// \file \brief The pauses of a job: the content of the node `ext/orders/pause`.
#ifndef ELASTICJOB_EXECUTION_JOB_PAUSES_HPP
#define ELASTICJOB_EXECUTION_JOB_PAUSES_HPP

#include <elasticjob/core/chrono.hpp>
#include <elasticjob/core/clock.hpp>
#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/result.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace elasticjob {

/// One pause, of the whole job or of one server of it.
struct job_pause {
    std::string server{};             ///< its address; empty: the whole job
    wall_time since{};                ///< when it began
    std::optional<wall_time> until{}; ///< when it ended; nothing: it is in force
};

/// While a job is paused, no run of it begins, and its items keep their owners. Pauses that are over are kept, so that
/// every instance knows the due instants that fell into them, also one that joins later. A text of lines:
///
///     job 1732400000000 -
///     server 1732400000000 1732403600000 10.0.0.7
///
/// Times are milliseconds since 1970.
class job_pauses {
public:
    /// Errors: malformed_data for another text, a second pause of the same server, or more than `pauses_max` lines.
    static result<job_pauses> parse(std::string_view text);

    std::string to_text() const;

    std::vector<job_pause> const& all() const noexcept { return all_; }

    /// The pause that prevents runs on that server; null if there is none. A pause of the whole job comes first.
    job_pause const* in_force(std::string_view server) const;

    /// The last end of a pause that applied to that server. Due instants up to then are not made up for.
    std::optional<wall_time> last_end(std::string_view server) const;

    /// Begins a pause. An empty `server` is the whole job. False if it is paused already. If there is no room, drops
    /// the pause that ended first. Errors: too_large if `pauses_max` pauses are in force.
    result<bool> pause(std::string_view server, wall_time now);

    /// Ends a pause. False if there is none. If the whole job is paused too, the server waits for the end of both.
    bool resume(std::string_view server, wall_time now);

    static constexpr std::size_t pauses_max = 1000;

private:
    std::vector<job_pause>::iterator find(std::string_view server);

    std::vector<job_pause> all_;
};

} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/execution/job_pauses.ipp>
#endif
#endif // ELASTICJOB_EXECUTION_JOB_PAUSES_HPP
