// SPDX-License-Identifier: Apache-2.0
/// \file \brief Finds the next instant at which a cron expression is due in a time zone.
#ifndef ELASTICJOB_CRON_NEXT_HPP
#define ELASTICJOB_CRON_NEXT_HPP

#include <elasticjob/core/algorithm.hpp> // clamp, max
#include <elasticjob/core/chrono.hpp>
#include <elasticjob/cron/civil_policy.hpp>
#include <elasticjob/cron/expression.hpp>
#include <elasticjob/cron/search.hpp>
#include <elasticjob/cron/time_zone.hpp>

#include <cassert>
#include <cstdint>
#include <optional>
#include <type_traits> // is_convertible_v

namespace elasticjob {

namespace detail {

/// More than any offset and any clock change. A clock change does not affect due times that are further away.
inline constexpr std::chrono::hours zone_margin{48};

/// A search in one segment takes about as long as this many steps through months or exclusions.
inline constexpr std::uint64_t looks_per_segment = 8;

constexpr local_seconds local_of(std::chrono::sys_seconds t, std::chrono::seconds offset) noexcept {
    return (t.time_since_epoch() + offset).count();
}

constexpr std::chrono::sys_seconds sys_of(local_seconds local, std::chrono::seconds offset) noexcept {
    return std::chrono::sys_seconds{std::chrono::seconds{local} - offset};
}

/// The first due time at or after `t`. Within a segment, wall clock and instant differ by a constant, so one search on
/// the wall clock is enough. Only near the ends of a segment, its neighbours matter too. Skips segments without a due
/// time. Returns `Time::max()` if there is none: g++ 12 would assemble an optional in memory on each exit of the loop
/// and then read it as a whole, which stalls for 5 to 10 ns. If `looks` is given, adds the number of steps to it.
template <time_zone Zone, class Time>
constexpr Time first_fire(cron_fields const& fields, Time t, Zone const& zone, civil_rule rule,
                          std::uint64_t* looks = nullptr) {
    using std::chrono::seconds;
    using std::chrono::sys_seconds;
    for (;;) {
        if (looks) *looks += looks_per_segment;
        auto const now = zone.at(t);
        auto from = local_of(t, now.offset);
        if (now.begin > t - zone_margin && now.begin != sys_seconds::min()) {
            // The time that the clock would show at `now.begin` without the clock change.
            auto const unturned = local_of(now.begin, zone.at(now.begin - seconds{1}).offset);
            auto const turned = local_of(now.begin, now.offset);
            if (t == now.begin && rule.gap == gap_rule::shift && first_match(fields, unturned, looks) < turned)
                return t;
            if (rule.overlap == overlap_rule::first) from = std::max(from, unturned);
        }
        auto const match = first_match(fields, from, looks);
        auto const fire = sys_of(match, now.offset);
        bool const due_here = match != no_match && fire < now.end;
        bool const comes_again = due_here && rule.overlap == overlap_rule::last && now.end <= fire + zone_margin &&
                                 match >= local_of(now.end, zone.at(now.end).offset);
        if (due_here && !comes_again) return fire;
        // Close to the end of the segment, do not skip the next one: the clock may be put back to a time that it has
        // already shown.
        if (comes_again || now.end <= t + zone_margin)
            t = now.end;
        else if (match == no_match)
            return Time::max();
        else
            t = std::max(now.end, sys_of(match, zone_margin));
    }
}

} // namespace detail

/// The first instant strictly after `after` at which the wall clock of `zone` shows a due time; nothing if there is
/// none up to the year 2225. `after` may be finer than a second, such as `std::chrono::system_clock::now()`.
///
/// | the clock is put | schedules that name hours                      | schedules with hour `*`   |
/// |------------------|------------------------------------------------|---------------------------|
/// | forward (gap)    | what was due in the gap fires once, at its end | the next due time follows |
/// | back (overlap)   | fire at the first pass                         | fire at both passes       |
///
/// `policy` changes that. If `looks` is given, adds the number of search steps to it: see `timetable::looks_max`. Time:
/// tens of nanoseconds, no heap memory; constexpr if the zone is.
template <time_zone Zone>
constexpr auto next_fire(cron_expression const& expression, std::chrono::sys_seconds after, Zone const& zone,
                         civil_policy policy = {}, std::uint64_t* looks = nullptr)
    -> std::optional<std::chrono::sys_seconds> {
    using std::chrono::seconds;
    // Beyond these bounds no wall clock shows a year of a schedule. Within them, arithmetic cannot overflow.
    constexpr std::chrono::sys_seconds earliest{-detail::zone_margin};
    constexpr auto latest = std::chrono::sys_seconds{seconds{detail::schedule_end}} + detail::zone_margin;
    auto const begin = std::clamp(after, earliest, latest) + seconds{1};
    auto const rule = expression.fires_in_every_hour() ? policy.every_hour : policy.named_hours;
    auto const fire = detail::first_fire(expression.fields(), begin, zone, rule, looks);
    if (fire == std::chrono::sys_seconds::max()) return std::nullopt;
    assert(fire > after);
    return fire;
}

template <time_zone Zone, class Duration>
    requires(!std::is_convertible_v<std::chrono::sys_time<Duration>, std::chrono::sys_seconds>)
constexpr auto next_fire(cron_expression const& expression, std::chrono::sys_time<Duration> after, Zone const& zone,
                         civil_policy policy = {}, std::uint64_t* looks = nullptr)
    -> std::optional<std::chrono::sys_seconds> {
    return next_fire(expression, std::chrono::floor<std::chrono::seconds>(after), zone, policy, looks);
}

} // namespace elasticjob
#endif // ELASTICJOB_CRON_NEXT_HPP
