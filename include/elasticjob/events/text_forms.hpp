// SPDX-License-Identifier: Apache-2.0
/// \file \brief How events are written down: instants, and text from anywhere made fit for a log or a database.
#ifndef ELASTICJOB_EVENTS_TEXT_FORMS_HPP
#define ELASTICJOB_EVENTS_TEXT_FORMS_HPP

#include <elasticjob/config/text.hpp>
#include <elasticjob/core/clock.hpp>

#include <chrono> // the calendar
#include <cstddef>
#include <cstdio>
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
    for_each_character(text, [&](std::string_view character) {
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

/// UTC with milliseconds: `2026-01-01T00:00:00.025Z`; with `' '` and nothing, as SQL writes it.
inline std::string format_instant(wall_time t, char separator = 'T', std::string_view end = "Z") {
    using namespace std::chrono;
    auto const ms = floor<milliseconds>(t);
    auto const day = floor<days>(ms);
    year_month_day const date{day};
    hh_mm_ss const time{ms - day};
    char text[64];
    std::snprintf(text, sizeof text, "%04d-%02u-%02u%c%02d:%02d:%02d.%03d", static_cast<int>(date.year()),
                  static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), separator,
                  static_cast<int>(time.hours().count()), static_cast<int>(time.minutes().count()),
                  static_cast<int>(time.seconds().count()), static_cast<int>(time.subseconds().count()));
    return std::string{text}.append(end);
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_EVENTS_TEXT_FORMS_HPP
