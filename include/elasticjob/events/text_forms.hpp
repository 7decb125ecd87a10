// SPDX-License-Identifier: Apache-2.0
/// \file \brief How events are written down: instants, and text from anywhere made fit for a log or a database.
#ifndef ELASTICJOB_EVENTS_TEXT_FORMS_HPP
#define ELASTICJOB_EVENTS_TEXT_FORMS_HPP

#include <elasticjob/config/text.hpp>
#include <elasticjob/core/algorithm.hpp> // find_if_not
#include <elasticjob/core/clock.hpp>

#include <charconv>
#include <chrono> // the calendar
#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>

namespace elasticjob::detail {

inline constexpr std::string_view replacement_character = "\xef\xbf\xbd"; // U+FFFD

/// `f(piece)` with each character in turn; with U+FFFD for each byte that belongs to none.
template <class F>
void for_each_character(std::string_view text, F&& f) {
    while (!text.empty()) {
        auto const length = utf8_length(text);
        f(length == 0 ? replacement_character : text.substr(0, length));
        text.remove_prefix(length == 0 ? 1 : length);
    }
}

/// Appends what JSON and logfmt want between quotes: `"`, `\` and control characters escaped, everything valid UTF-8.
inline void append_escaped(std::string& out, std::string_view text) {
    constexpr std::string_view special = "\"\\\n\r\t", letters = "\"\\nrt";
    constexpr char hex[] = "0123456789abcdef";
    auto const is_plain = [](char c) { return c >= ' ' && c < 0x7f && c != '"' && c != '\\'; };
    auto const plain = static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), is_plain) - text.begin());
    out.append(text.substr(0, plain)); // most often all of it
    for_each_character(text.substr(plain), [&](std::string_view character) {
        auto const byte = static_cast<unsigned char>(character.front());
        if (auto const at = special.find(character.front()); at != special.npos)
            out.append({'\\', letters[at]});
        else if (byte < 0x20 || byte == 0x7f)
            out.append("\\u00").append({hex[byte >> 4], hex[byte & 15]});
        else
            out.append(character);
    });
}

/// At most so many UTF-16 code units, valid UTF-8 and without NUL, which no database wants in a text.
inline std::string clean_text(std::string_view text, std::size_t utf16_units_max) {
    std::string out;
    std::size_t units = 0;
    for_each_character(text, [&](std::string_view character) {
        units += character.size() == 4 ? 2 : 1;
        if (units <= utf16_units_max) out.append(character.front() == '\0' ? replacement_character : character);
    });
    return out;
}

/// In decimal, with zeros in front up to that many digits.
inline void append_number(std::string& out, std::integral auto number, std::size_t digits = 0) {
    char text[24];
    auto const end = std::to_chars(text, text + sizeof text, number).ptr;
    auto const length = static_cast<std::size_t>(end - text);
    if (length < digits) out.append(digits - length, '0');
    out.append(text, length);
}

/// UTC with milliseconds: `2026-01-01T00:00:00.025Z`; with `' '` and nothing, as SQL writes it.
inline void append_instant(std::string& out, wall_time t, char separator = 'T', std::string_view end = "Z") {
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
inline std::string format_instant(wall_time t, char separator = 'T', std::string_view end = "Z") {
    std::string text;
    append_instant(text, t, separator, end);
    return text;
}

/// Seconds with six digits behind the point: `1.250000`.
inline void append_seconds(std::string& out, std::chrono::nanoseconds span) {
    auto micros = std::chrono::round<std::chrono::microseconds>(span).count();
    if (micros < 0) out += '-';
    if (micros < 0) micros = -micros;
    append_number(out, micros / 1'000'000);
    append_number(out += '.', micros % 1'000'000, 6);
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_EVENTS_TEXT_FORMS_HPP
