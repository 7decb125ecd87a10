// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_CONFIG_TEXT_IPP
#define ELASTICJOB_IMPL_CONFIG_TEXT_IPP

#include <elasticjob/config/text.hpp>

namespace elasticjob::detail {

ELASTICJOB_DECL std::vector<std::string_view> split(std::string_view text, std::string_view separator) {
    std::vector<std::string_view> pieces;
    auto end = text.find(separator);
    if (end == text.npos) return {text};
    for (; end != text.npos; end = text.find(separator)) {
        pieces.push_back(text.substr(0, end));
        text.remove_prefix(end + separator.size());
    }
    pieces.push_back(text);
    while (!pieces.empty() && pieces.back().empty()) pieces.pop_back();
    return pieces;
}

ELASTICJOB_DECL std::string in_quotes(std::string_view text) {
    constexpr std::size_t length_max = 200;
    constexpr char hex[] = "0123456789abcdef";
    std::string line{"'"};
    while (!text.empty() && line.size() <= length_max) {
        auto const length = utf8_length(text);
        auto const byte = static_cast<unsigned char>(text.front());
        if (length == 0 || byte < ' ' || byte == 0x7f)
            line.append({'\\', 'x', hex[byte >> 4], hex[byte & 15]});
        else
            line.append(text.substr(0, length));
        text.remove_prefix(length == 0 ? 1 : length);
    }
    return line.append(text.empty() ? "'" : "...'");
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_IMPL_CONFIG_TEXT_IPP
