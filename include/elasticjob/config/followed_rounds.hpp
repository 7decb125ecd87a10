// SPDX-License-Identifier: Apache-2.0
/// \file \brief The rounds of another job for which a job is due: the content of the node `ext/after`.
#ifndef ELASTICJOB_CONFIG_FOLLOWED_ROUNDS_HPP
#define ELASTICJOB_CONFIG_FOLLOWED_ROUNDS_HPP

#include <elasticjob/config/instant_text.hpp>
#include <elasticjob/config/job_schedule.hpp>
#include <elasticjob/config/schedule_text.hpp> // read_followed
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

/// One round of the followed job.
struct followed_round {
    wall_time due{}; ///< when the following job is due for it
    wall_time of{};  ///< the due instant of the round

    friend bool operator==(followed_round const&, followed_round const&) = default;
};

/// The leader of the following job writes this node, but only if the node still has the version that the leader has
/// read. So the node contains each round at most once, even if the leader changes. `last` stays if the job follows
/// another job, so that no instant is used twice. A value; its functions only preserve its invariants.
struct followed_rounds {
    std::string job{};                    ///< the followed job; empty: none
    round_end after{};                    ///< the end by which a round counts
    wall_time seen{};                     ///< all rounds that count and are due until then have been added
    wall_time last{};                     ///< the latest `due` so far; later ones are greater
    std::vector<followed_round> rounds{}; ///< the latest ones, ascending in both times

    static constexpr std::size_t rounds_max = 100;
    /// The maximum number of lines that `parse` accepts, which is far more than `to_text` writes.
    static constexpr std::size_t lines_max = 500;

    bool is_of(job_schedule const* s) const { return s ? job == s->job && after == s->after : job.empty(); }

    /// Changes the followed job, or the end by which a round counts. Null: the job follows none. Drops the rounds of
    /// another job.
    void follow(job_schedule const* s);

    /// Adds a round that counts. Precondition: `of` is later than `seen`.
    void add(wall_time of, wall_time due);

    std::string to_text() const;

    /// Errors: malformed_data, which names the line, or if there are more than `lines_max`. Ignores lines of unknown
    /// kinds, which later versions may write.
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
