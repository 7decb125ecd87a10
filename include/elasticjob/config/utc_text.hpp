// SPDX-License-Identifier: Apache-2.0
/// \file \brief Instants as texts for people and other programs: `2026-01-01T00:00:00.025Z`.
#ifndef ELASTICJOB_CONFIG_UTC_TEXT_HPP
#define ELASTICJOB_CONFIG_UTC_TEXT_HPP

#include <elasticjob/core/clock.hpp>
#include <elasticjob/core/decl.hpp>

#include <charconv>
#include <chrono> // the calendar
#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>

namespace elasticjob::detail {

/// Appends a decimal number with at least that many digits, with leading zeros.
inline void append_number(std::string& out, std::integral auto number, std::size_t digits = 0) {
    char text[24];
    auto const end = std::to_chars(text, text + sizeof text, number).ptr;
    auto const length = static_cast<std::size_t>(end - text);
    if (length < digits) out.append(digits - length, '0');
    out.append(text, length);
}

/// Appends UTC with milliseconds: `2026-01-01T00:00:00.025Z`. With `separator` ' ' and an empty `end`, this is the form
/// of SQL.
void append_instant(std::string& out, wall_time t, char separator = 'T', std::string_view end = "Z");
std::string format_instant(wall_time t, char separator = 'T', std::string_view end = "Z");

/// Reads an instant of RFC 3339 from 1970 to 2225, with up to three decimal places after the seconds, and with `Z` or
/// an offset. Returns false for anything else.
bool read_utc(std::string_view text, wall_time& into);

} // namespace elasticjob::detail

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/config/utc_text.ipp>
#endif
#endif // ELASTICJOB_CONFIG_UTC_TEXT_HPP
