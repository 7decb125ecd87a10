// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_CONFIG_UTC_TEXT_IPP
#define ELASTICJOB_IMPL_CONFIG_UTC_TEXT_IPP

#include <elasticjob/config/text.hpp>
#include <elasticjob/config/utc_text.hpp>
#include <elasticjob/core/algorithm.hpp>
#include <elasticjob/cron/civil.hpp>

#include <cstdint>

namespace elasticjob::detail {

ELASTICJOB_DECL void append_instant(std::string& out, wall_time t, char separator, std::string_view end) {
    using namespace std::chrono;
    auto const ms = floor<milliseconds>(t);
    auto const day = floor<days>(ms);
    year_month_day const date{day};
    hh_mm_ss const time{ms - day};
    append_number(out, static_cast<int>(date.year()), 4);
    append_number(out += '-', static_cast<unsigned>(date.month()), 2);
    append_number(out += '-', static_cast<unsigned>(date.day()), 2);
    append_number(out += separator, time.hours().count(), 2);
    append_number(out += ':', time.minutes().count(), 2);
    append_number(out += ':', time.seconds().count(), 2);
    append_number(out += '.', time.subseconds().count(), 3);
    out.append(end);
}

ELASTICJOB_DECL std::string format_instant(wall_time t, char separator, std::string_view end) {
    std::string text;
    append_instant(text, t, separator, end);
    return text;
}

ELASTICJOB_DECL bool read_utc(std::string_view text, wall_time& into) {
    auto const take = [&](std::size_t digits, int low, int high, int& number) {
        auto const word = text.substr(0, digits);
        bool const is_number = word.size() == digits && std::all_of(word.begin(), word.end(), is_digit) &&
                               read_number(word, number) && low <= number && number <= high;
        if (is_number) text.remove_prefix(digits);
        return is_number;
    };
    auto const skip = [&](char c) {
        bool const is_there = text.starts_with(c);
        if (is_there) text.remove_prefix(1);
        return is_there;
    };
    int year = 0, month = 0, day = 0, hours = 0, minutes = 0, seconds = 0;
    if (!take(4, 1970, 2225, year) || !skip('-') || !take(2, 1, 12, month) || !skip('-') || !take(2, 1, 31, day) ||
        !skip('T') || !take(2, 0, 23, hours) || !skip(':') || !take(2, 0, 59, minutes) || !skip(':') ||
        !take(2, 0, 59, seconds))
        return false;
    auto const number_of_month = static_cast<std::uint32_t>(month), number_of_day = static_cast<std::uint32_t>(day);
    if (number_of_day > days_in_month(year, number_of_month)) return false;
    int milliseconds = 0;
    if (skip('.')) {
        auto const end = std::min<std::size_t>(text.find_first_not_of("0123456789"), text.size());
        if (end < 1 || end > 3 || !take(end, 0, 999, milliseconds)) return false;
        for (auto i = end; i < 3; ++i) milliseconds *= 10;
    }
    int offset = 0;
    if (!skip('Z')) {
        bool const is_east = text.starts_with('+');
        int offset_hours = 0, offset_minutes = 0;
        if (!(skip('+') || skip('-')) || !take(2, 0, 23, offset_hours) || !skip(':') || !take(2, 0, 59, offset_minutes))
            return false;
        offset = (offset_hours * 60 + offset_minutes) * (is_east ? 60 : -60);
    }
    if (!text.empty()) return false;
    auto const since_1970 = day_of({year, number_of_month, number_of_day}) * seconds_per_day + hours * 3'600 +
                            minutes * 60 + seconds - offset;
    into = wall_time{std::chrono::seconds{since_1970} + std::chrono::milliseconds{milliseconds}};
    return true;
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_IMPL_CONFIG_UTC_TEXT_IPP
