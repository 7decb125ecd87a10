// SPDX-License-Identifier: Apache-2.0
/// \file \brief Text functions that several parts of the library need.
#ifndef ELASTICJOB_CONFIG_TEXT_HPP
#define ELASTICJOB_CONFIG_TEXT_HPP

#include <elasticjob/core/decl.hpp>

#include <charconv>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace elasticjob::detail {

constexpr bool is_digit(char c) noexcept { return '0' <= c && c <= '9'; }

/// Splits at each separator. Like Java's `String.split`, drops empty pieces at the end, but not elsewhere, and returns
/// a text without a separator as one piece, even if the text is empty.
std::vector<std::string_view> split(std::string_view text, std::string_view separator);

/// With small letters for the capital ones of ASCII, whatever the locale.
std::string in_lower_case(std::string_view text);

/// The text without blanks and control characters at both ends, as Java's `String.trim` returns it.
constexpr std::string_view trim(std::string_view text) noexcept {
    auto const is_blank = [](char c) { return static_cast<unsigned char>(c) <= ' '; };
    while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
    while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
    return text;
}

/// Stores the number and returns true if the whole text is a decimal number; only a minus sign may precede it.
template <class Number>
bool read_number(std::string_view text, Number& number) noexcept {
    auto const end = text.data() + text.size();
    auto const [stop, code] = std::from_chars(text.data(), end, number);
    return stop == end && code == std::errc{};
}

/// The number that `read_number` stores, or nothing.
template <class Number>
std::optional<Number> parse_number(std::string_view text) noexcept {
    Number number{};
    if (!read_number(text, number)) return std::nullopt;
    return number;
}

/// The FNV-1a hash of the text, in hexadecimal digits.
std::string hash_text(std::string_view text);

} // namespace elasticjob::detail

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/config/text.ipp>
#endif
#endif // ELASTICJOB_CONFIG_TEXT_HPP
