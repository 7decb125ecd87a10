// SPDX-License-Identifier: Apache-2.0
/// \file \brief Parses the schedules of a configuration.
#ifndef ELASTICJOB_CONFIG_READ_TIMETABLE_HPP
#define ELASTICJOB_CONFIG_READ_TIMETABLE_HPP

#include <elasticjob/config/job_config.hpp>
#include <elasticjob/config/text.hpp>
#include <elasticjob/core/algorithm.hpp> // any_of
#include <elasticjob/core/chrono.hpp>
#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/identity.hpp> // job_name
#include <elasticjob/core/line_text.hpp>
#include <elasticjob/core/result.hpp>
#include <elasticjob/cron/timetable.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace elasticjob {

/// The longest span of a schedule.
inline constexpr std::chrono::hours schedule_span_max{24 * 366};
inline constexpr std::chrono::hours jitter_max{24};

/// The maximum length of a time zone's name, or of a POSIX rule in its place.
inline constexpr std::size_t time_zone_bytes_max = 1'000;

namespace detail {

/// The schedules that could be parsed, and the problems of the others: `where` names the member of `job_config`.
struct timetable_reading {
    timetable table{};
    std::vector<error> problems{};
};

/// The seconds that an exclusion excludes: `2026-12-25`, `SAT,SUN`, or a cron expression. Errors: invalid_cron.
result<cron_expression> parse_exclusion(std::string_view text);

/// The reason why a job with this configuration cannot follow another; empty if it can.
std::string problem_of_following(job_config const& config, job_schedule const& s);

/// Whether the instant is an end of the clock's range, which means no limit.
inline bool is_unlimited(wall_time t) noexcept {
    return t <= wall_time::min() + std::chrono::milliseconds{1} || t == wall_time::max();
}

/// The instant as the registry stores it.
inline wall_time whole_milliseconds(wall_time t) noexcept {
    return is_unlimited(t) ? t : wall_time{std::chrono::floor<std::chrono::milliseconds>(t)};
}

/// Whether the instant is in the years that schedules know, 1970 to 2225.
bool is_schedulable(wall_time t) noexcept;

inline auto read_timetable(job_config const& config) {
    timetable_reading reading;
    auto& table = reading.table;
    auto const report = [&](errc code, std::string what, std::string where) {
        reading.problems.push_back({code, std::move(what), std::move(where)});
    };
    auto const add_cron = [&](auto& to, auto const& expression, std::string_view text, std::string where) {
        if (expression) return to.push_back(*expression);
        auto const& e = expression.error();
        report(e.code, e.what + " (" + e.where + (e.where.empty() ? "in " : " of ") + in_quotes(text) + ")",
               std::move(where));
    };
    auto const add_span = [&](auto& to, std::chrono::milliseconds span, std::string where) {
        if (span > std::chrono::milliseconds{0} && span <= schedule_span_max) return to.push_back(span);
        report(errc::invalid_config, "must be 1 ms to 366 days, but is " + std::to_string(span.count()) + " ms",
               std::move(where));
    };

    auto const check_instant = [&](wall_time t, std::string where) {
        bool const fits = is_schedulable(t);
        if (!fits) report(errc::invalid_config, "must be from 1970 to 2225", std::move(where));
        return fits;
    };

    if (!config.cron.empty() && !(config.cron == no_cron && !config.schedules.empty()))
        add_cron(table.crons, parse_cron(config.cron), config.cron, "cron");
    else if (config.schedules.empty())
        report(errc::invalid_cron, "must not be empty, unless there are other schedules", "cron");

    // If there are too many schedules, none is parsed.
    auto const are_few = [&](std::size_t size, std::size_t most, char const* where) {
        if (size > most)
            report(errc::invalid_config,
                   "must be at most " + std::to_string(most) + ", but are " + std::to_string(size), where);
        return size <= most;
    };
    bool const reads_schedules = are_few(config.schedules.size(), schedules_max, "schedules");
    for (std::size_t i = 0; reads_schedules && i < config.schedules.size(); ++i) {
        auto const& s = config.schedules[i];
        auto const where = "schedules[" + std::to_string(i) + "]";
        switch (s.is) {
        case job_schedule::kind::cron:
            add_cron(table.crons, parse_cron(s.expression), s.expression, where);
            break;
        case job_schedule::kind::fixed_rate:
            add_span(table.rates, s.span, where);
            break;
        case job_schedule::kind::fixed_delay:
            add_span(table.delays, s.span, where);
            break;
        case job_schedule::kind::once_at:
            if (check_instant(s.at, where)) table.once.push_back(whole_milliseconds(s.at));
            break;
        case job_schedule::kind::once_now:
            if (!config.monitor_execution)
                report(errc::invalid_config,
                       "once_now needs monitor_execution: otherwise nobody knows which items have run", where);
            break;
        case job_schedule::kind::after_job:
            if (auto const problem = problem_of_following(config, s); !problem.empty())
                report(errc::invalid_config, problem, where);
        }
    }
    bool const reads_exclusions = are_few(config.excluded.size(), exclusions_max, "excluded");
    for (std::size_t i = 0; reads_exclusions && i < config.excluded.size(); ++i) {
        auto const& text = config.excluded[i];
        add_cron(table.excluded, parse_exclusion(text), text, "excluded[" + std::to_string(i) + "]");
    }

    table.policy = config.on_clock_change;
    table.starts = whole_milliseconds(config.starts);
    table.ends = whole_milliseconds(config.ends);
    if (!is_unlimited(config.starts)) check_instant(config.starts, "starts");
    if (!is_unlimited(config.ends)) check_instant(config.ends, "ends");
    if (table.starts > table.ends)
        report(errc::invalid_config, "must not be before `starts`: nothing would ever be due", "ends");
    if (config.jitter < std::chrono::milliseconds{0} || config.jitter > jitter_max)
        report(errc::invalid_config, "must be 0 to 24 hours, but is " + std::to_string(config.jitter.count()) + " ms",
               "jitter");
    auto const is_blank = [](char c) { return static_cast<unsigned char>(c) <= ' '; };
    auto const& zone = config.time_zone;
    if (zone.size() > time_zone_bytes_max || std::any_of(zone.begin(), zone.end(), is_blank))
        report(errc::invalid_config, "must be a name like Europe/Berlin, but is " + in_quotes(zone), "time_zone");
    return reading;
}

} // namespace detail

} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/config/read_timetable.ipp>
#endif
#endif // ELASTICJOB_CONFIG_READ_TIMETABLE_HPP
