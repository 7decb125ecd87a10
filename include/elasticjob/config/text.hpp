// SPDX-License-Identifier: Apache-2.0
/// \file \brief Small questions about text that several parts of a configuration ask.
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

/// Cuts at each separator. Like Java's `String.split`, it drops empty pieces at the end but not elsewhere, and gives a
/// text without any separator back whole, even if it is empty.
std::vector<std::string_view> split(std::string_view text, std::string_view separator);

/// Without blanks and control characters at both ends, which is what Java's `String.trim` takes for white space.
constexpr std::string_view trim(std::string_view text) noexcept {
    auto const is_blank = [](char c) { return static_cast<unsigned char>(c) <= ' '; };
    while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
    while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
    return text;
}

/// Whether the whole text is a number, which it then stores: decimal, with a sign if it is negative.
template <class Number>
bool read_number(std::string_view text, Number& number) noexcept {
    auto const end = text.data() + text.size();
    auto const [stop, code] = std::from_chars(text.data(), end, number);
    return stop == end && code == std::errc{};
}

/// The same number, or nothing.
template <class Number>
std::optional<Number> parse_number(std::string_view text) noexcept {
    Number number{};
    if (!read_number(text, number)) return std::nullopt;
    return number;
}

/// How many bytes the UTF-8 character at the front takes, or 0 if there is none: overlong forms, surrogates and what is
/// beyond U+10FFFF are none.
constexpr std::size_t utf8_length(std::string_view text) noexcept {
    auto const byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
    auto const within = [&](std::size_t i, unsigned low, unsigned high) { return low <= byte(i) && byte(i) <= high; };
    unsigned const lead = byte(0);
    if (text.empty()) return 0;
    if (lead < 0x80) return 1;
    if (lead < 0xc2 || lead > 0xf4) return 0;
    if (lead < 0xe0) return within(1, 0x80, 0xbf) ? 2 : 0;
    // The second byte has a narrower range where the first alone would allow the forms that are none.
    unsigned const low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
    unsigned const high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
    if (!within(1, low, high) || !within(2, 0x80, 0xbf)) return 0;
    if (lead < 0xf0) return 3;
    return within(3, 0x80, 0xbf) ? 4 : 0;
}

/// The text between single quotes, made fit for one line of a log: shortened, and without bytes that are not printable.
std::string in_quotes(std::string_view text);

} // namespace elasticjob::detail

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/config/text.ipp>
#endif
#endif // ELASTICJOB_CONFIG_TEXT_HPP
