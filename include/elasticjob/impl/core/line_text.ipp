// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_CORE_LINE_TEXT_IPP
#define ELASTICJOB_IMPL_CORE_LINE_TEXT_IPP

#include <elasticjob/core/algorithm.hpp>
#include <elasticjob/core/line_text.hpp>

namespace elasticjob::detail {

ELASTICJOB_DECL void append_code_point(std::string& out, std::string_view character) {
    constexpr char hex[] = "0123456789abcdef";
    auto const bits = [&](std::size_t i) { return static_cast<unsigned>(static_cast<unsigned char>(character[i])); };
    auto const code = character.size() == 1   ? bits(0)
                      : character.size() == 2 ? (bits(0) & 0x1fU) << 6 | (bits(1) & 0x3fU)
                                              : (bits(0) & 0xfU) << 12 | (bits(1) & 0x3fU) << 6 | (bits(2) & 0x3fU);
    out.append({'\\', 'u', hex[code >> 12 & 15], hex[code >> 8 & 15], hex[code >> 4 & 15], hex[code & 15]});
}

ELASTICJOB_DECL bool append_line_text(std::string& out, std::string_view text, std::size_t bytes_max) {
    constexpr char hex[] = "0123456789abcdef";
    auto const begin = out.size();
    auto const is_special = [](unsigned char byte) { return byte < 0x20 || byte >= 0x7f; };
    while (!text.empty() && out.size() - begin < bytes_max) {
        auto const plain = std::find_if(text.begin(), text.end(), is_special) - text.begin(); // mostly the whole text
        if (plain != 0) {
            auto const fits = std::min(static_cast<std::size_t>(plain), bytes_max - (out.size() - begin));
            out.append(text.substr(0, fits));
            text.remove_prefix(fits);
            continue;
        }
        auto const length = utf8_length(text);
        auto const byte = static_cast<unsigned char>(text.front());
        auto const character = text.substr(0, length == 0 ? 1 : length);
        if (length != 0 && !is_unfit_for_line(character))
            out.append(character);
        else if (length > 1)
            append_code_point(out, character);
        else
            out.append({'\\', 'x', hex[byte >> 4], hex[byte & 15]});
        text.remove_prefix(character.size());
    }
    return text.empty();
}

ELASTICJOB_DECL std::string cut_short(std::string_view text) {
    std::string line;
    bool const is_whole = append_line_text(line, text, 200);
    return is_whole ? line : line.append("...");
}

ELASTICJOB_DECL std::string in_quotes(std::string_view text) { return "'" + cut_short(text) + "'"; }

} // namespace elasticjob::detail
#endif // ELASTICJOB_IMPL_CORE_LINE_TEXT_IPP
