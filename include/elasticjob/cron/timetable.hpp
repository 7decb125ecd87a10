// SPDX-License-Identifier: Apache-2.0
/// \file \brief All schedules of a job as one: when it is due next.
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

#include <cstddef>
#include <optional>
#include <vector>

namespace elasticjob {

namespace detail {

/// The local time up to which the fields match without a break, from one that they match: the end of its second, or of
/// its minute, hour or day where the fields name all that is in it.
constexpr local_seconds matched_until(cron_fields const& fields, local_seconds t) noexcept {
    constexpr std::uint64_t all_sixty = (std::uint64_t{1} << 60) - 1;
    auto const end_of = [&](std::int64_t unit) { return (t / unit + 1) * unit; };
    if (fields.seconds != all_sixty) return end_of(1);
    if (fields.minutes != all_sixty) return end_of(60);
    if (fields.hours != all_hours) return end_of(3'600);
    return end_of(seconds_per_day);
}

} // namespace detail

/// What makes a job due, and what keeps it from that. A value; times are whole milliseconds. With nothing in it nothing
/// is ever due.
struct timetable {
    using milliseconds = std::chrono::milliseconds;

    std::vector<cron_expression> crons{};
    std::vector<milliseconds> rates{};  ///< each more than 0
    std::vector<milliseconds> delays{}; ///< each more than 0
    std::vector<wall_time> once{};
    std::vector<cron_expression>
        excluded{}; ///< nothing is due while the wall clock shows a time that one of them names
    civil_policy policy{};
    wall_time starts = wall_time::min(); ///< nothing is due before
    wall_time ends = wall_time::max();   ///< nothing is due after

    /// Exclusions are given up on after so many steps. A step passes over a whole day where a day is excluded.
    static constexpr int steps_max = 100'000;

    /// The first instant strictly after `after` that is due, not counting `delays`; nothing when there is none up to the
    /// year 2225, or none could be found in `steps_max` steps. O(schedules + exclusions) for each due time that is
    /// excluded on the way; no heap.
    template <time_zone Zone>
    std::optional<wall_time> next(wall_time after, Zone const& zone) const {
        after = floored(std::max(after, wall_time{} - detail::zone_margin));
        if (starts != wall_time::min()) after = std::max(after, starts - milliseconds{1});
        for (int step = 0; step < steps_max; ++step) {
            auto const due = next_of_all(after, zone);
            if (!due || *due > last()) return std::nullopt;
            auto const free = included_from(*due, zone);
            if (free == *due) return due;
            after = free - milliseconds{1};
        }
        return std::nullopt;
    }

    /// When the shortest of `delays` is over that begins at `ended`, and behind what is excluded then.
    template <time_zone Zone>
    std::optional<wall_time> next_after_end(wall_time ended, Zone const& zone) const {
        if (delays.empty()) return std::nullopt;
        auto due = floored(ended) + *std::min_element(delays.begin(), delays.end());
        due = std::max(due, starts);
        for (int step = 0; step < steps_max; ++step) {
            if (due > last()) return std::nullopt;
            auto const free = included_from(due, zone);
            if (free == due) return due;
            due = free;
        }
        return std::nullopt;
    }

    friend bool operator==(timetable const&, timetable const&) = default;

private:
    /// No calendar of ours goes further.
    wall_time last() const;
    static wall_time floored(wall_time t) { return std::chrono::floor<milliseconds>(t); }

    template <time_zone Zone>
    std::optional<wall_time> next_of_all(wall_time after, Zone const& zone) const {
        std::optional<wall_time> first;
        auto const offer = [&](wall_time t) {
            if (t > after && (!first || t < *first)) first = t;
        };
        for (auto const& e : crons)
            if (auto const t = next_fire(e, std::chrono::floor<std::chrono::seconds>(after), zone, policy)) offer(*t);
        auto const begin = starts == wall_time::min() ? wall_time{} : starts;
        for (auto const& span : rates) offer(after < begin ? begin : begin + ((after - begin) / span + 1) * span);
        for (auto const& t : once) offer(t);
        return first;
    }

    /// `t`, or the end of what is excluded around it as far as one look shows. Later, at the end of that, there may be
    /// more.
    template <time_zone Zone>
    wall_time included_from(wall_time t, Zone const& zone) const {
        if (excluded.empty()) return t;
        auto const second = std::chrono::floor<std::chrono::seconds>(t);
        auto const segment = zone.at(second);
        auto const local = detail::local_of(second, segment.offset);
        auto free = t;
        for (auto const& e : excluded) {
            if (detail::first_match(e.fields(), local) != local) continue;
            // Beyond the turn of a clock it shows something else.
            auto const end = detail::sys_of(detail::matched_until(e.fields(), local), segment.offset);
            free = std::max<wall_time>(free, std::min(end, segment.end));
        }
        return free;
    }
};

} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/cron/timetable.ipp>
#endif
#endif // ELASTICJOB_CRON_TIMETABLE_HPP
