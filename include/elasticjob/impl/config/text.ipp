// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_CONFIG_TEXT_IPP
#define ELASTICJOB_IMPL_CONFIG_TEXT_IPP

#include <elasticjob/config/text.hpp>
#include <elasticjob/core/hash.hpp>

#include <array>

namespace elasticjob::detail {

ELASTICJOB_DECL std::string in_lower_case(std::string_view text) {
    std::string lower{text};
    for (auto& c : lower)
        if ('A' <= c && c <= 'Z') c = static_cast<char>(c | 0x20);
    return lower;
}

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

ELASTICJOB_DECL std::string hash_text(std::string_view text) {
    std::array<char, 16> digits{};
    auto const end = std::to_chars(digits.data(), digits.data() + digits.size(), fnv_1a(text), 16).ptr;
    return {digits.data(), end};
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_IMPL_CONFIG_TEXT_IPP
