// SPDX-License-Identifier: Apache-2.0
/// \file \brief Which rounds of another job a job is due for: what stands in the node `ext/after`.
#ifndef ELASTICJOB_CONFIG_FOLLOWED_ROUNDS_HPP
#define ELASTICJOB_CONFIG_FOLLOWED_ROUNDS_HPP

#include <elasticjob/config/instant_text.hpp>
#include <elasticjob/config/job_schedule.hpp>
#include <elasticjob/config/schedule_text.hpp> // read_followed
#include <elasticjob/config/text.hpp>
#include <elasticjob/core/algorithm.hpp>
#include <elasticjob/core/chrono.hpp>
#include <elasticjob/core/clock.hpp>
#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/result.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace elasticjob {

/// One round of the job that is followed.
struct followed_round {
    wall_time due{}; ///< when the job that follows is due for it
    wall_time of{};  ///< the due instant of the round

    friend bool operator==(followed_round const&, followed_round const&) = default;
};

/// Written by the leader of the job that follows, each time against the version that it has read: so each round stands
/// here once at most, whoever leads. `last` outlives what is followed: no instant is given twice. A value; its functions
/// only keep it in shape.
struct followed_rounds {
    std::string job{};           ///< that is followed; empty: none
    round_end after{};           ///< which of its rounds count
    wall_time seen{};            ///< of the rounds due up to here, all that count have been written down
    wall_time last{};            ///< the instants to come are later than this
    std::vector<followed_round> rounds{}; ///< the last of them, ascending in both times

    static constexpr std::size_t rounds_max = 100;
    /// The most lines of a text that is read: far more than is ever written.
    static constexpr std::size_t lines_max = 500;

    bool is_of(job_schedule const* s) const { return s ? job == s->job && after == s->after : job.empty(); }

    /// From now on another job is followed, or none, or another end counts. What it was due for by another job is
    /// nobody's business any more.
    void follow(job_schedule const* s);

    /// A round is over that counts. Precondition: `of` is later than `seen`.
    void add(wall_time of, wall_time due);

    std::string to_text() const;

    /// Errors: malformed_data, naming the line; or if there are more than `lines_max`. Lines of a later version's
    /// kinds are passed over.
    static result<followed_rounds> parse(std::string_view text);

    friend bool operator==(followed_rounds const&, followed_rounds const&) = default;

private:
    static constexpr std::string_view header = "elasticjob after 1\n";

    static bool read_line(std::string_view rest, followed_rounds& into);
};

} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/config/followed_rounds.ipp>
#endif
#endif // ELASTICJOB_CONFIG_FOLLOWED_ROUNDS_HPP
