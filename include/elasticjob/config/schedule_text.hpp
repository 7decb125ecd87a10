// SPDX-License-Identifier: Apache-2.0
/// \file \brief The text of the node `ext/schedule`: the schedules of a configuration besides the cron expression.
#ifndef ELASTICJOB_CONFIG_SCHEDULE_TEXT_HPP
#define ELASTICJOB_CONFIG_SCHEDULE_TEXT_HPP

#include <elasticjob/config/instant_text.hpp>
#include <elasticjob/config/job_config.hpp>
#include <elasticjob/config/text.hpp>
#include <elasticjob/core/algorithm.hpp> // count
#include <elasticjob/core/chrono.hpp>
#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/result.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace elasticjob {

namespace detail {

inline constexpr std::string_view schedule_header = "elasticjob schedule 1\n";
inline constexpr std::array<std::string_view, 2> gap_names{"skip", "shift"};
inline constexpr std::array<std::string_view, 3> overlap_names{"first", "last", "both"};
inline constexpr std::array<std::string_view, 3> round_end_names{"completed", "failed", "ended"};

bool read_span(std::string_view word, std::chrono::milliseconds& into);

std::string_view take_word(std::string_view& text);

template <class Enum, std::size_t N>
bool read_word(std::string_view word, std::array<std::string_view, N> const& names, Enum& into) {
    for (std::size_t i = 0; i < N; ++i) {
        if (names[i] != word) continue;
        into = static_cast<Enum>(i);
        return true;
    }
    return false;
}

std::string followed_text(job_schedule const& s);
bool read_followed(std::string_view text, job_schedule& into);

std::string civil_rule_text(civil_rule const& rule);

/// Parses one line without its line end. Returns false if that fails.
bool read_schedule_line(std::string_view line, job_config& config);

} // namespace detail

/// One line for each value, which begins with a word; times in milliseconds (since 1970, UTC). Empty if all members
/// have their defaults. Precondition: no text contains a line break, as in a valid configuration. O(size).
std::string to_schedule_text(job_config const& config);

/// The maximum number of lines that `with_schedule_text` accepts: more than a valid configuration has.
inline constexpr std::size_t schedule_lines_max = schedules_max + exclusions_max + 100;

/// The configuration with exactly the schedules of the text. An unknown line is an error, because a member that
/// understood a schedule only partly would run jobs at wrong times. Does not check expressions: see `validate`. Errors:
/// malformed_data, which names the line, or if there are more than `schedule_lines_max`.
result<job_config> with_schedule_text(job_config config, std::string_view text);

} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/config/schedule_text.ipp>
#endif
#endif // ELASTICJOB_CONFIG_SCHEDULE_TEXT_HPP
