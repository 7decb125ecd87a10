// SPDX-License-Identifier: Apache-2.0
/// \file \brief Finds the first local time that the fields of a cron expression match.
#ifndef ELASTICJOB_CRON_SEARCH_HPP
#define ELASTICJOB_CRON_SEARCH_HPP

#include <elasticjob/cron/civil.hpp>
#include <elasticjob/cron/fields.hpp>

#include <bit> // countr_zero
#include <cstdint>

namespace elasticjob::detail {

/// Seconds on a wall clock since 1970-01-01 00:00:00 on that clock.
using local_seconds = std::int64_t;

/// Midnight after the last day of a schedule.
inline constexpr local_seconds schedule_end = day_of({cron_year_last + 1, 1, 1}) * seconds_per_day;

/// Later than every local time of a schedule, and far enough from the limits of the type for additions.
inline constexpr local_seconds no_match = local_seconds{1} << 62;

/// The data of a month that the day sets need.
struct month_shape {
    std::int32_t first_day;
    std::uint32_t first_weekday;
    std::uint32_t length;

    constexpr month_shape(std::int32_t year, std::uint32_t month, std::int32_t first) noexcept
        : first_day{first}, first_weekday{weekday_of(first)}, length{days_in_month(year, month)} {}

    /// Bits 1 to length.
    constexpr std::uint32_t all() const noexcept { return ~std::uint32_t{1} & ~std::uint32_t{0} >> (31 - length); }

    /// The days of these weekdays in these weeks. Each week of seven bits is rotated, so that it begins with the
    /// weekday of the 1st instead of Sunday. May contain days beyond the month's length.
    constexpr std::uint32_t days_of(month_weeks weeks) const noexcept {
        auto const low = every_week(0x7fu >> first_weekday);
        auto const rotated = (weeks >> first_weekday & low) | (weeks << (7 - first_weekday) & every_week(0x7f) & ~low);
        return static_cast<std::uint32_t>(rotated << 1);
    }

    /// The last of each of these weekdays in the month: the same rotation, for the week that ends with the month.
    constexpr std::uint32_t days_of_last(std::uint32_t weekdays) const noexcept {
        auto const turn = (first_weekday + length) % 7;
        return ((weekdays >> turn | weekdays << (7 - turn)) & 0x7f) << (length - 6);
    }

    /// Moves each day to the nearest day from Monday to Friday in this month. Precondition: `days` are in it.
    constexpr std::uint32_t nearest_weekdays(std::uint32_t days) const noexcept {
        auto const first = std::uint32_t{1} << 1;
        auto const last = std::uint32_t{1} << length;
        auto const saturdays = days & days_of(every_week(1u << 6));
        auto const sundays = days & days_of(every_week(1u << 0));
        return (days & ~saturdays & ~sundays) | (saturdays & ~first) >> 1 | (saturdays & first) << 2 |
               (sundays & ~last) << 1 | (sundays & last) >> 2;
    }
};

/// The days of a month that match, bit 1 to its length. No loops: every set of days is shifted into place.
constexpr std::uint32_t matching_days(cron_fields const& f, month_shape const& month) noexcept {
    auto const from_end = 31 - month.length;
    auto days = f.days | f.days_from_end >> from_end;
    if (f.weekdays) days |= month.days_of(f.weekdays);
    if (f.last_weekdays) days |= month.days_of_last(f.last_weekdays);
    if (auto const nominal = (f.nearest_weekdays | f.nearest_from_end >> from_end) & month.all())
        days |= month.nearest_weekdays(nominal);
    return days & month.all();
}

/// The first matching time of any day, in seconds since midnight.
constexpr std::int32_t first_time(cron_fields const& f) noexcept {
    return (std::countr_zero(f.hours) * 60 + std::countr_zero(f.minutes)) * 60 + std::countr_zero(f.seconds);
}

/// The first matching time of day at or after `from`, both in seconds since midnight; -1 if there is none left on that
/// day.
constexpr std::int32_t first_time(cron_fields const& f, std::int32_t from) noexcept {
    auto const second = from % 60;
    auto const minute = from / 60 % 60;
    auto const hour = from / 3600;
    if (f.hours >> hour & 1) {
        auto const seconds_left = f.seconds >> second;
        if ((f.minutes >> minute & 1) && seconds_left) return from + std::countr_zero(seconds_left);
        if (auto const minutes_left = f.minutes >> minute >> 1)
            return (hour * 60 + minute + 1 + std::countr_zero(minutes_left)) * 60 + std::countr_zero(f.seconds);
    }
    auto const hours_left = f.hours >> hour >> 1;
    if (!hours_left) return -1;
    return ((hour + 1 + std::countr_zero(hours_left)) * 60 + std::countr_zero(f.minutes)) * 60 +
           std::countr_zero(f.seconds);
}

/// The first matching year at or after `from`; cron_year_last + 1 if there is none. Precondition: `from` is not before
/// cron_year_first.
constexpr std::int32_t first_year(cron_fields const& f, std::int32_t from) noexcept {
    auto const at = static_cast<std::uint32_t>(from - cron_year_first);
    auto shift = at % 64;
    for (auto word = at / 64; word < f.years.size(); ++word, shift = 0)
        if (auto const left = f.years[word] >> shift)
            return cron_year_first + static_cast<std::int32_t>(word * 64 + shift) + std::countr_zero(left);
    return cron_year_last + 1;
}

/// The first matching day, as a day number: of the months in `months` (bits 1 to 12) of this year, or else of all later
/// years; -1 if there is none. If `looks` is given, adds the number of examined months to it.
constexpr std::int32_t first_day(cron_fields const& f, std::int32_t year, std::uint32_t months,
                                 std::uint64_t* looks = nullptr) noexcept {
    for (; year <= cron_year_last; year = first_year(f, year + 1), months = f.months) {
        for (; months; months &= months - 1) {
            if (looks) ++*looks;
            auto const month = static_cast<std::uint32_t>(std::countr_zero(months));
            month_shape const shape{year, month, day_of({year, month, 1})};
            if (auto const days = matching_days(f, shape)) return shape.first_day + std::countr_zero(days) - 1;
        }
    }
    return -1;
}

/// The first matching local time at or after `from`, from 1970 to the end of 2225, or no_match. Takes constant time,
/// plus the time for skipped months and years without a matching day. If `looks` is given, adds the number of these
/// months to it. Precondition: the time sets are not empty.
constexpr local_seconds first_match(cron_fields const& f, local_seconds from, std::uint64_t* looks = nullptr) noexcept {
    if (from < 0) from = 0;
    if (from >= schedule_end) return no_match;
    auto day = static_cast<std::int32_t>(from / seconds_per_day);
    auto const date = date_of(day);
    auto const month_days_before = static_cast<std::int32_t>(date.day) - 1;
    auto year = date.year;
    auto months = f.months;
    if (f.has_year(year)) {
        if (f.months >> date.month & 1) {
            month_shape const shape{year, date.month, day - month_days_before};
            auto const days_left = matching_days(f, shape) >> date.day;
            if (days_left & 1)
                if (auto const time = first_time(f, static_cast<std::int32_t>(from % seconds_per_day)); time >= 0)
                    return day * seconds_per_day + time;
            if (auto const later = days_left >> 1)
                return (day + 1 + std::countr_zero(later)) * seconds_per_day + first_time(f);
        }
        months = f.months >> date.month >> 1 << 1 << date.month;
    } else {
        year = first_year(f, year);
    }
    day = first_day(f, year, months, looks);
    return day < 0 ? no_match : day * seconds_per_day + first_time(f);
}

/// The parts of a local time, computed once and compared with many expressions. Precondition: the time is not before
/// 1970, and is before schedule_end.
struct local_moment {
    civil_date date;
    month_shape month;
    std::int32_t time; ///< seconds since midnight

    explicit constexpr local_moment(local_seconds t) noexcept
        : local_moment{static_cast<std::int32_t>(t / seconds_per_day), static_cast<std::int32_t>(t % seconds_per_day)} {
    }

    /// The same as `first_match(f, t) == t`, in constant time.
    constexpr bool is_named_by(cron_fields const& f) const noexcept {
        return (f.seconds >> time % 60 & 1) && (f.minutes >> time / 60 % 60 & 1) && (f.hours >> time / 3600 & 1) &&
               (f.months >> date.month & 1) && f.has_year(date.year) && (matching_days(f, month) >> date.day & 1);
    }

private:
    constexpr local_moment(std::int32_t day, std::int32_t second) noexcept
        : date{date_of(day)},
          month{date.year, date.month, day - static_cast<std::int32_t>(date.day) + 1},
          time{second} {}
};

} // namespace elasticjob::detail
#endif // ELASTICJOB_CRON_SEARCH_HPP
