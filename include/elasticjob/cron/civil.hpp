// SPDX-License-Identifier: Apache-2.0
/// \file \brief Days and dates of the Gregorian calendar, without a clock and without a zone.
#ifndef ELASTICJOB_CRON_CIVIL_HPP
#define ELASTICJOB_CRON_CIVIL_HPP

#include <cstdint>

namespace elasticjob::detail {

// A day is a number: 0 is 1970-01-01. A weekday counts from Sunday = 0. Source of both conversions: C. Neri and L.
// Schneider, "Euclidean affine functions and their application to calendar algorithms" (2022). They are valid for every
// day from 0000-03-01 to far beyond the years of a schedule.
inline constexpr std::int64_t seconds_per_day = 86'400;
inline constexpr std::int32_t day_zero_since_0000_03_01 = 719'468;

struct civil_date {
    std::int32_t year;
    std::uint32_t month; ///< 1 to 12
    std::uint32_t day;   ///< 1 to 31

    friend constexpr bool operator==(civil_date const&, civil_date const&) = default;
};

constexpr bool is_leap(std::int32_t year) noexcept { return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0); }

constexpr std::uint32_t days_in_month(std::int32_t year, std::uint32_t month) noexcept {
    if (month == 2) return is_leap(year) ? 29 : 28;
    return 30 | (month ^ month >> 3); // 31 days: the odd months up to July, the even ones from August
}

/// Precondition: the day is not before 0000-03-01.
constexpr civil_date date_of(std::int32_t day) noexcept {
    auto const shifted = static_cast<std::uint32_t>(day + day_zero_since_0000_03_01);
    auto const in_centuries = 4 * shifted + 3;
    auto const century = in_centuries / 146'097;
    auto const in_years = 4 * (in_centuries % 146'097 / 4) + 3;
    auto const product = std::uint64_t{2'939'745} * in_years;
    auto const year = 100 * century + static_cast<std::uint32_t>(product >> 32);
    auto const day_of_year = static_cast<std::uint32_t>(product) / 2'939'745 / 4; // 0 is the 1st of March
    auto const in_months = 2'141 * day_of_year + 197'913;
    auto const month = in_months >> 16;
    bool const next_year = day_of_year >= 306;
    return {static_cast<std::int32_t>(next_year ? year + 1 : year), next_year ? month - 12 : month,
            (in_months & 0xffff) / 2'141 + 1};
}

/// Precondition: the date exists and is not before 0000-03-01.
constexpr std::int32_t day_of(civil_date const& date) noexcept {
    bool const previous_year = date.month <= 2;
    auto const year = static_cast<std::uint32_t>(previous_year ? date.year - 1 : date.year);
    auto const month = previous_year ? date.month + 12 : date.month;
    auto const century = year / 100;
    auto const days = 1'461 * year / 4 - century + century / 4 + (979 * month - 2'919) / 32 + date.day - 1;
    return static_cast<std::int32_t>(days) - day_zero_since_0000_03_01;
}

/// Precondition: the day is not before 1970 (the 1st of January 1970 was a Thursday).
constexpr std::uint32_t weekday_of(std::int32_t day) noexcept { return (static_cast<std::uint32_t>(day) + 4) % 7; }

} // namespace elasticjob::detail
#endif // ELASTICJOB_CRON_CIVIL_HPP
