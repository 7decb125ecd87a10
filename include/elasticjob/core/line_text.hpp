// SPDX-License-Identifier: Apache-2.0
/// \file \brief Makes any text fit into one line of a log.
#ifndef ELASTICJOB_CORE_LINE_TEXT_HPP
#define ELASTICJOB_CORE_LINE_TEXT_HPP

#include <elasticjob/core/decl.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace elasticjob::detail {

/// The number of bytes in the UTF-8 character at the front of the text, or 0 if the text does not begin with a valid
/// character. Overlong forms, surrogates and values beyond U+10FFFF are invalid.
constexpr std::size_t utf8_length(std::string_view text) noexcept {
    auto const byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
    auto const within = [&](std::size_t i, unsigned low, unsigned high) { return low <= byte(i) && byte(i) <= high; };
    unsigned const lead = byte(0);
    if (text.empty()) return 0;
    if (lead < 0x80) return 1;
    if (lead < 0xc2 || lead > 0xf4) return 0;
    if (lead < 0xe0) return within(1, 0x80, 0xbf) ? 2 : 0;
    // For some lead bytes the second byte has a narrower range; other values would make an overlong form, a surrogate
    // or too large a value.
    unsigned const low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
    unsigned const high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
    if (!within(1, low, high) || !within(2, 0x80, 0xbf)) return 0;
    if (lead < 0xf0) return 3;
    return within(3, 0x80, 0xbf) ? 4 : 0;
}

inline constexpr std::string_view replacement_character = "\xef\xbf\xbd"; ///< U+FFFD

/// Calls `f(piece)` with each valid character in turn, and with U+FFFD for each invalid byte.
template <class F>
void for_each_character(std::string_view text, F&& f) {
    while (!text.empty()) {
        auto const length = utf8_length(text);
        f(length == 0 ? replacement_character : text.substr(0, length));
        text.remove_prefix(length == 0 ? 1 : length);
    }
}

/// The first `bytes_max` bytes of the text, without the beginning of a character that does not fit.
constexpr std::string_view whole_characters(std::string_view text, std::size_t bytes_max) noexcept {
    if (text.size() <= bytes_max) return text;
    auto const continues = [&](std::size_t i) { return (static_cast<unsigned char>(text[i]) & 0xc0U) == 0x80U; };
    auto end = bytes_max;
    for (int n = 0; n < 3 && end > 0 && continues(end); ++n) --end; // a character has four bytes at most
    return text.substr(0, end);
}

/// Whether this UTF-8 character is a control character: C0, DEL, or C1.
constexpr bool is_control(std::string_view character) noexcept {
    auto const byte = [&](std::size_t i) { return static_cast<unsigned char>(character[i]); };
    if (character.size() == 1) return byte(0) < 0x20 || byte(0) == 0x7f;
    return character.size() == 2 && byte(0) == 0xc2 && byte(1) < 0xa0;
}

/// Whether a log must escape this UTF-8 character. It may end a line, move a terminal's cursor, or reverse the
/// direction of text: control characters (C0, DEL, C1), U+2028, U+2029, and the marks of bidirectional text.
constexpr bool is_unfit_for_line(std::string_view character) noexcept {
    auto const byte = [&](std::size_t i) { return static_cast<unsigned char>(character[i]); };
    if (is_control(character) || character == "\xd8\x9c") return true;
    if (character.size() != 3 || byte(0) != 0xe2) return false;
    if (byte(1) == 0x80) return byte(2) == 0x8e || byte(2) == 0x8f || (0xa8 <= byte(2) && byte(2) <= 0xae);
    return byte(1) == 0x81 && 0xa6 <= byte(2) && byte(2) <= 0xa9;
}

/// Appends a UTF-8 character of at most three bytes as an escape such as `\u2028`.
void append_code_point(std::string& out, std::string_view character);

/// Appends the text on one line and as valid UTF-8. Writes an escape such as `\x1b` for an unfit ASCII character and
/// for a byte that belongs to no character, and one such as `\u2028` for any other unfit character. Appends about
/// `bytes_max` bytes at most, and returns false if it left out a part of the text.
bool append_line_text(std::string& out, std::string_view text, std::size_t bytes_max = std::string::npos);

/// The text for one line of a log: shortened to about 200 bytes, and escaped as by `append_line_text`.
std::string cut_short(std::string_view text);

/// The result of `cut_short` between single quotes.
std::string in_quotes(std::string_view text);

} // namespace elasticjob::detail

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/core/line_text.ipp>
#endif
#endif // ELASTICJOB_CORE_LINE_TEXT_HPP
