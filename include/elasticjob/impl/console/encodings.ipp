// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_CONSOLE_ENCODINGS_IPP
#define ELASTICJOB_IMPL_CONSOLE_ENCODINGS_IPP

#include <elasticjob/console/encodings.hpp>

#include <cstddef>
#include <cstdint>

namespace elasticjob::detail {

inline constexpr std::string_view url_digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

ELASTICJOB_DECL std::string base64_url(std::string_view bytes) {
    std::string text;
    std::uint32_t bits = 0;
    int count = 0; // the number of bits that are not written yet
    for (char const c : bytes) {
        bits = (bits << 8) | static_cast<unsigned char>(c);
        for (count += 8; count >= 6; count -= 6) text += url_digits[(bits >> (count - 6)) & 63];
    }
    if (count > 0) text += url_digits[(bits << (6 - count)) & 63];
    return text;
}

ELASTICJOB_DECL std::string base64(std::string_view bytes) {
    auto text = base64_url(bytes);
    for (auto& c : text) c = c == '-' ? '+' : c == '_' ? '/' : c;
    text.append((4 - text.size() % 4) % 4, '=');
    return text;
}

ELASTICJOB_DECL std::optional<std::string> from_base64_url(std::string_view text) {
    std::string bytes;
    std::uint32_t bits = 0;
    int count = 0;
    for (char const c : text) {
        auto const digit = url_digits.find(c);
        if (digit == url_digits.npos) return std::nullopt;
        bits = (bits << 6) | static_cast<std::uint32_t>(digit);
        count += 6;
        if (count < 8) continue;
        count -= 8;
        bytes += static_cast<char>((bits >> count) & 255);
    }
    bool const is_whole = count < 6 && (bits & ((1U << count) - 1)) == 0; // the remaining bits are zeros
    return is_whole ? std::optional{std::move(bytes)} : std::nullopt;
}

ELASTICJOB_DECL std::string form_escaped(std::string_view text) {
    constexpr std::string_view hex = "0123456789ABCDEF";
    std::string escaped;
    for (char const c : text) {
        auto const byte = static_cast<unsigned char>(c);
        bool const is_plain = ('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z') || ('0' <= c && c <= '9') || c == '-' ||
                              c == '.' || c == '_' || c == '~';
        if (is_plain)
            escaped += c;
        else
            escaped.append({'%', hex[byte >> 4], hex[byte & 15]});
    }
    return escaped;
}

ELASTICJOB_DECL std::string html_escaped(std::string_view text) {
    std::string escaped;
    for (char const c : text) {
        if (c == '&')
            escaped += "&amp;";
        else if (c == '<')
            escaped += "&lt;";
        else if (c == '>')
            escaped += "&gt;";
        else if (c == '"')
            escaped += "&quot;";
        else
            escaped += c;
    }
    return escaped;
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_IMPL_CONSOLE_ENCODINGS_IPP
