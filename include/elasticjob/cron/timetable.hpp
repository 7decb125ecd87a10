// SPDX-License-Identifier: Apache-2.0
/// \file \brief Combines all schedules of a job, and finds its next due instant.
#ifndef ELASTICJOB_CRON_TIMETABLE_HPP
#define ELASTICJOB_CRON_TIMETABLE_HPP

#include <elasticjob/core/algorithm.hpp>
#include <elasticjob/core/chrono.hpp>
#include <elasticjob/core/clock.hpp> // wall_time
#include <elasticjob/core/decl.hpp>
#include <elasticjob/cron/civil_policy.hpp>
#include <elasticjob/cron/expression.hpp>
#include <elasticjob/cron/next.hpp>
#include <elasticjob/cron/time_zone.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace elasticjob {

namespace detail {

/// The end of the continuous period that the fields match and that contains a matching local time: the end of its
/// second, or of its minute, hour or day if the fields match all of that.
constexpr local_seconds matched_until(cron_fields const& fields, local_seconds t) noexcept {
    constexpr std::uint64_t all_sixty = (std::uint64_t{1} << 60) - 1;
    auto const end_of = [&](std::int64_t unit) { return (t / unit + 1) * unit; };
    if (fields.seconds != all_sixty) return end_of(1);
    if (fields.minutes != all_sixty) return end_of(60);
    if (fields.hours != all_hours) return end_of(3'600);
    return end_of(seconds_per_day);
}

} // namespace detail

/// The schedules of a job, with its exclusions and limits. A value; times are whole milliseconds. An empty timetable is
/// never due.
struct timetable {
    using milliseconds = std::chrono::milliseconds;

    std::vector<cron_expression> crons{};
    std::vector<milliseconds> rates{};  ///< each more than 0
    std::vector<milliseconds> delays{}; ///< each more than 0
    std::vector<wall_time> once{};
    std::vector<cron_expression>
        excluded{}; ///< no instant is due while the wall clock shows a time that one of them names
    civil_policy policy{};
    wall_time starts = wall_time::min(); ///< no instant is due before this
    wall_time ends = wall_time::max();   ///< no instant is due after this

    /// A search gives up after about this many steps. A step examines an exclusion or a month; a look at a segment of
    /// the zone counts as eight. This limits the work for any timetable to one or two milliseconds.
    static constexpr std::uint64_t looks_max = 200'000;

    /// The result of a search and its cost.
    struct finding {
        std::optional<wall_time> due{}; ///< nothing if there is none, or if the search gave up
        bool is_given_up = false;
        wall_time reached{}; ///< if the search gave up: no instant is due up to here
        std::uint64_t looks = 0;
    };

    /// The first due instant strictly after `after`, ignoring `delays`. Nothing if there is none up to the year 2225,
    /// or if `looks_max` steps found none. O(schedules + exclusions), plus O(exclusions) for each excluded due time
    /// that is passed, where a whole excluded day counts once; no heap memory.
    template <time_zone Zone>
    finding find_next(wall_time after, Zone const& zone) const;
    template <time_zone Zone>
    std::optional<wall_time> next(wall_time after, Zone const& zone) const {
        return find_next(after, zone).due;
    }

    /// The end of the shortest of `delays` after `ended`, or the end of the exclusions at that time.
    template <time_zone Zone>
    finding find_next_after_end(wall_time ended, Zone const& zone) const;
    template <time_zone Zone>
    std::optional<wall_time> next_after_end(wall_time ended, Zone const& zone) const {
        return find_next_after_end(ended, zone).due;
    }

    friend bool operator==(timetable const&, timetable const&) = default;

private:
    /// A search that skips exclusions caches the next due times of this many crons. It computes those of the others at
    /// each step.
    static constexpr std::size_t fires_kept = 128;

    /// The latest instant at which the timetable may be due. The calendar functions do not support later ones.
    wall_time last() const;
    static wall_time floored(wall_time t) { return std::chrono::floor<milliseconds>(t); }

    /// The first instant of a rate strictly after `after`; wall_time::max() if that is beyond the clock's range.
    wall_time next_of_rate(milliseconds span, wall_time after) const;

    /// `t`, or the end of the exclusion that contains it, after one look at each exclusion. Another exclusion may begin
    /// there.
    template <time_zone Zone>
    wall_time included_from(wall_time t, Zone const& zone) const;
};

template <time_zone Zone>
auto timetable::find_next(wall_time after, Zone const& zone) const -> finding {
    finding f;
    after = floored(std::max(after, wall_time{} - detail::zone_margin));
    if (starts > after) after = std::max(after, starts - milliseconds{1});
    std::array<wall_time, fires_kept> fires; // of the first crons; values up to `after` are outdated
    bool has_fires = false;
    for (auto const end = last();;) {
        auto due = wall_time::max();
        auto const offer = [&](wall_time t) {
            if (t > after) due = std::min(due, t);
        };
        for (std::size_t i = 0; i < crons.size(); ++i) {
            if (has_fires && i < fires_kept && fires[i] > after) {
                offer(fires[i]);
                continue;
            }
            auto const fire =
                next_fire(crons[i], std::chrono::floor<std::chrono::seconds>(after), zone, policy, &f.looks);
            auto const t = fire ? wall_time{*fire} : wall_time::max();
            if (i < fires_kept) fires[i] = t;
            offer(t);
        }
        has_fires = true;
        for (auto const& span : rates) offer(next_of_rate(span, after));
        for (auto const& t : once) offer(t);
        f.looks += rates.size() + once.size() + excluded.size() + 1;
        if (due > end) return f;
        auto const free = included_from(due, zone);
        if (free == due) {
            f.due = due;
            return f;
        }
        after = f.reached = free - milliseconds{1};
        f.is_given_up = f.looks > looks_max;
        if (f.is_given_up) return f;
    }
}

template <time_zone Zone>
auto timetable::find_next_after_end(wall_time ended, Zone const& zone) const -> finding {
    finding f;
    auto const end = last();
    if (delays.empty() || ended > end) return f;
    auto const shortest = *std::min_element(delays.begin(), delays.end());
    auto const from = floored(std::max(ended, wall_time{} - detail::zone_margin));
    if (shortest > std::chrono::ceil<milliseconds>(end - from)) return f;
    for (auto due = std::max(from + shortest, starts); due <= end;) {
        f.looks += excluded.size() + 1;
        auto const free = included_from(due, zone);
        if (free == due) {
            f.due = due;
            return f;
        }
        due = free;
        f.reached = due - milliseconds{1};
        f.is_given_up = f.looks > looks_max;
        if (f.is_given_up) return f;
    }
    return f;
}

template <time_zone Zone>
wall_time timetable::included_from(wall_time t, Zone const& zone) const {
    if (excluded.empty()) return t;
    auto const second = std::chrono::floor<std::chrono::seconds>(t);
    auto const segment = zone.at(second);
    auto const local = detail::local_of(second, segment.offset);
    if (local < 0 || local >= detail::schedule_end) return t;
    detail::local_moment const moment{local};
    auto free = t;
    for (auto const& e : excluded) {
        if (!moment.is_named_by(e.fields())) continue;
        // After the segment's end the wall clock shows another time.
        auto const end = detail::sys_of(detail::matched_until(e.fields(), local), segment.offset);
        free = std::max<wall_time>(free, std::min(end, segment.end));
    }
    return free;
}

} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/cron/timetable.ipp>
#endif
#endif // ELASTICJOB_CRON_TIMETABLE_HPP
