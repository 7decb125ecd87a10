// SPDX-License-Identifier: Apache-2.0
/// \file \brief The values that a cron expression matches: one set of bits for each field.
#ifndef ELASTICJOB_CRON_FIELDS_HPP
#define ELASTICJOB_CRON_FIELDS_HPP

#include <array>
#include <cstdint>

namespace elasticjob::detail {

enum class cron_field : std::uint8_t { seconds, minutes, hours, day_of_month, month, day_of_week, year };

inline constexpr std::int32_t cron_year_first = 1970;
inline constexpr std::int32_t cron_year_last = 2225;

/// The five weeks of a month, seven bits each: bit 7k + w stands for the (k + 1)th weekday w (Sunday = 0) of the month.
/// So a plain weekday is the same as all five of its occurrences.
using month_weeks = std::uint64_t;

/// Seven bits for the weekdays, repeated in each of the five weeks.
constexpr month_weeks every_week(std::uint32_t weekdays) noexcept { return weekdays * month_weeks{0x1020'4081}; }

inline constexpr std::uint32_t all_hours = 0xff'ffff;
inline constexpr std::uint32_t all_days = 0xffff'fffe;

/// A date matches if its month and its year match and any of the day sets contains its day. A time of day matches if
/// all three of its sets match. The sets of time, month and year are not empty; the day sets are empty if their field
/// is `?`. Expressions with equal sets are due at the same instants. 88 bytes, no heap memory.
struct cron_fields {
    std::uint64_t seconds{};              ///< bit 0 to 59
    std::uint64_t minutes{};              ///< bit 0 to 59
    std::uint32_t hours{};                ///< bit 0 to 23
    std::uint32_t months{};               ///< bit 1 to 12
    std::array<std::uint64_t, 4> years{}; ///< bit 0 is cron_year_first
    std::uint32_t days{};                 ///< bit 1 to 31
    std::uint32_t days_from_end{};        ///< bit 31 - n is `L-n`: shifted by 31 - length, it is the day
    std::uint32_t nearest_weekdays{};     ///< bit n is `nW`
    std::uint32_t nearest_from_end{};     ///< bit 31 - n is `L-nW`
    month_weeks weekdays{};               ///< `MON` and `MON#2`
    std::uint32_t last_weekdays{};        ///< bit w is the last weekday w of the month, Sunday = 0

    friend constexpr bool operator==(cron_fields const&, cron_fields const&) = default;

    /// Precondition: the year is one of the schedule's, cron_year_first to cron_year_last.
    constexpr bool has_year(std::int32_t year) const noexcept {
        auto const at = static_cast<std::uint32_t>(year - cron_year_first);
        return years[at / 64] >> at % 64 & 1;
    }

    /// Adds a value as it is written: weekdays count from 1. Precondition: the value is valid for the field.
    constexpr void add(cron_field field, std::uint32_t value) noexcept {
        auto const bit = std::uint64_t{1} << value % 64;
        switch (field) {
        case cron_field::seconds:
            seconds |= bit;
            break;
        case cron_field::minutes:
            minutes |= bit;
            break;
        case cron_field::hours:
            hours |= static_cast<std::uint32_t>(bit);
            break;
        case cron_field::day_of_month:
            days |= static_cast<std::uint32_t>(bit);
            break;
        case cron_field::month:
            months |= static_cast<std::uint32_t>(bit);
            break;
        case cron_field::day_of_week:
            weekdays |= every_week(static_cast<std::uint32_t>(bit >> 1));
            break;
        case cron_field::year: {
            auto const at = value - static_cast<std::uint32_t>(cron_year_first);
            years[at / 64] |= std::uint64_t{1} << at % 64;
        }
        }
    }

    /// If all days of the month or all days of the week are there, gives the expression the bits of `*` as the day of
    /// the month. Any other days, as in `*,15W`, then add nothing.
    constexpr void normalise() noexcept {
        if (days != all_days && weekdays != every_week(0x7f)) return;
        days = all_days;
        days_from_end = nearest_weekdays = nearest_from_end = last_weekdays = 0;
        weekdays = 0;
    }
};

} // namespace elasticjob::detail
#endif // ELASTICJOB_CRON_FIELDS_HPP
