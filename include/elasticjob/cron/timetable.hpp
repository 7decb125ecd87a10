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

#include <array>
#include <cstddef>
#include <cstdint>
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

    /// A search is given up after about so many looks: at an exclusion, at a month, or at the eighth part of a
    /// schedule's next due time. This bounds the work that a timetable can ask for, whoever wrote it, to one or two
    /// milliseconds.
    static constexpr std::uint64_t looks_max = 200'000;

    /// What a search has found, and what it took.
    struct finding {
        std::optional<wall_time> due{}; ///< nothing when there is none, or the search was given up
        bool is_given_up = false;
        wall_time reached{}; ///< if given up: nothing is due up to here
        std::uint64_t looks = 0;
    };

    /// The first instant strictly after `after` that is due, not counting `delays`; nothing when there is none up to the
    /// year 2225, or none could be found with `looks_max` looks. O(schedules + exclusions), and O(exclusions) more for
    /// each due time that is excluded on the way, where a whole day counts once; no heap.
    template <time_zone Zone>
    finding find_next(wall_time after, Zone const& zone) const;
    template <time_zone Zone>
    std::optional<wall_time> next(wall_time after, Zone const& zone) const {
        return find_next(after, zone).due;
    }

    /// When the shortest of `delays` is over that begins at `ended`, and behind what is excluded then.
    template <time_zone Zone>
    finding find_next_after_end(wall_time ended, Zone const& zone) const;
    template <time_zone Zone>
    std::optional<wall_time> next_after_end(wall_time ended, Zone const& zone) const {
        return find_next_after_end(ended, zone).due;
    }

    friend bool operator==(timetable const&, timetable const&) = default;

private:
    /// The next fires of so many crons are remembered while a search passes over exclusions; of others they are
    /// searched for at each step.
    static constexpr std::size_t fires_kept = 128;

    /// No calendar of ours goes further.
    wall_time last() const;
    static wall_time floored(wall_time t) { return std::chrono::floor<milliseconds>(t); }

    /// The first instant of a rate strictly after `after`; wall_time::max() if that is beyond the clock's range.
    wall_time next_of_rate(milliseconds span, wall_time after) const;

    /// `t`, or the end of what is excluded around it as far as one look at each exclusion shows. Later, at the end of
    /// that, there may be more.
    template <time_zone Zone>
    wall_time included_from(wall_time t, Zone const& zone) const;
};

template <time_zone Zone>
auto timetable::find_next(wall_time after, Zone const& zone) const -> finding {
    finding f;
    after = floored(std::max(after, wall_time{} - detail::zone_margin));
    if (starts > after) after = std::max(after, starts - milliseconds{1});
    std::array<wall_time, fires_kept> fires; // of the first crons; those up to `after` are out of date
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
        // Beyond the turn of a clock it shows something else.
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
