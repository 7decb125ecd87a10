// SPDX-License-Identifier: Apache-2.0
/// \file \brief The rule of a zone in POSIX form, `EST5EDT,M3.2.0,M11.1.0`: the value of TZ, and the last line of a
/// TZif file.
#ifndef ELASTICJOB_CRON_POSIX_ZONE_HPP
#define ELASTICJOB_CRON_POSIX_ZONE_HPP

#include <elasticjob/cron/civil.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace elasticjob::detail {

/// A day of each year, and a time on that day.
struct posix_date {
    enum class form : std::uint8_t {
        day_without_leap, ///< `J60` is always the 1st of March
        day,              ///< `59` is the 29th of February or the 1st of March
        weekday,          ///< `M3.2.0` is the second Sunday of March; the fifth is the last
    };

    form written{};
    std::uint32_t month{};
    std::uint32_t week{};
    std::uint32_t day{};
    std::int32_t time{7200}; ///< seconds since midnight; from -167 to 167 hours

    /// Precondition: not before 1970. \return seconds since 1970 on the wall clock.
    constexpr std::int64_t in_year(std::int32_t year) const noexcept { return day_in(year) * seconds_per_day + time; }

private:
    constexpr std::int32_t day_in(std::int32_t year) const noexcept {
        auto const first = day_of({year, written == form::weekday ? month : 1, 1});
        if (written == form::day) return first + static_cast<std::int32_t>(day);
        if (written == form::day_without_leap)
            return first + static_cast<std::int32_t>(day) - (is_leap(year) && day >= 60 ? 0 : 1);
        auto const ahead = (day + 7 - weekday_of(first)) % 7 + 7 * (week - 1);
        return first + static_cast<std::int32_t>(ahead < days_in_month(year, month) ? ahead : ahead - 7);
    }
};

/// Offsets are seconds to add to UTC (the text has the opposite sign).
struct posix_zone {
    struct summer {
        std::int32_t offset;
        posix_date begin; ///< on the clock of the standard time
        posix_date end;   ///< on the clock of the summer time
    };

    std::int32_t offset{};
    std::optional<summer> saving{};
};

/// A parser for the form in RFC 8536, section 3.3. If there is a second name, the rule must be explicit.
class posix_zone_parser {
public:
    constexpr explicit posix_zone_parser(std::string_view text) noexcept : text_{text} {}

    constexpr std::optional<posix_zone> parse() noexcept {
        posix_zone zone;
        if (!read_name() || !read_offset(zone.offset)) return std::nullopt;
        if (text_.empty()) return zone;
        typename posix_zone::summer saving{zone.offset + 3600, {}, {}};
        if (!read_name()) return std::nullopt;
        if (peek() != ',' && !read_offset(saving.offset)) return std::nullopt;
        if (!read_date(saving.begin) || !read_date(saving.end) || !text_.empty()) return std::nullopt;
        zone.saving = saving;
        return zone;
    }

private:
    constexpr char peek() const noexcept { return text_.empty() ? '\0' : text_.front(); }

    constexpr bool accept(char c) noexcept {
        if (peek() != c || text_.empty()) return false;
        text_.remove_prefix(1);
        return true;
    }

    /// `EST`, `<+0330>`.
    constexpr bool read_name() noexcept {
        bool const quoted = accept('<');
        std::size_t length = 0;
        auto const is_of_name = [&](char c) {
            return ('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z') ||
                   (quoted && (('0' <= c && c <= '9') || c == '+' || c == '-'));
        };
        while (length < text_.size() && is_of_name(text_[length])) ++length;
        text_.remove_prefix(length);
        return length >= 3 && (!quoted || accept('>'));
    }

    constexpr bool read_number(std::uint32_t low, std::uint32_t high, std::uint32_t& number) noexcept {
        if (peek() < '0' || peek() > '9') return false;
        for (number = 0; '0' <= peek() && peek() <= '9' && number <= high; text_.remove_prefix(1))
            number = number * 10 + static_cast<std::uint32_t>(peek() - '0');
        return low <= number && number <= high;
    }

    /// `[+-]h[h[h]][:mm[:ss]]`, in seconds.
    constexpr bool read_time(std::uint32_t hours_max, std::int32_t& seconds) noexcept {
        bool const negative = accept('-');
        if (!negative) accept('+');
        std::uint32_t hour = 0, minute = 0, second = 0;
        if (!read_number(0, hours_max, hour)) return false;
        if (accept(':') && !read_number(0, 59, minute)) return false;
        if (accept(':') && !read_number(0, 59, second)) return false;
        seconds = static_cast<std::int32_t>((hour * 60 + minute) * 60 + second);
        if (negative) seconds = -seconds;
        return true;
    }

    /// In this text, offsets to the west are positive.
    constexpr bool read_offset(std::int32_t& offset) noexcept {
        if (!read_time(24, offset)) return false;
        offset = -offset;
        return true;
    }

    constexpr bool read_date(posix_date& date) noexcept {
        using enum posix_date::form;
        if (!accept(',')) return false;
        if (accept('M')) {
            date.written = weekday;
            if (!read_number(1, 12, date.month) || !accept('.') || !read_number(1, 5, date.week) || !accept('.') ||
                !read_number(0, 6, date.day))
                return false;
        } else {
            date.written = accept('J') ? day_without_leap : day;
            if (!read_number(date.written == day ? 0 : 1, 365, date.day)) return false;
        }
        return !accept('/') || read_time(167, date.time);
    }

    std::string_view text_;
};

} // namespace elasticjob::detail
#endif // ELASTICJOB_CRON_POSIX_ZONE_HPP
