// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_CONSOLE_SECRET_TEXT_IPP
#define ELASTICJOB_IMPL_CONSOLE_SECRET_TEXT_IPP

#include <elasticjob/console/secret_text.hpp>

#include <array>
#include <cstddef>

#include <sys/random.h>

namespace elasticjob::detail {

ELASTICJOB_DECL std::optional<std::string> random_token() {
    std::array<unsigned char, 32> bytes;
    if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) return std::nullopt;
    constexpr char hex[] = "0123456789abcdef";
    std::string token;
    for (auto const b : bytes) token.append({hex[b >> 4], hex[b & 15]});
    return token;
}

ELASTICJOB_DECL bool is_same_secret(std::string_view a, std::string_view b) {
    if (a.size() != b.size()) return false;
    unsigned difference = 0;
    for (std::size_t i = 0; i < a.size(); ++i) difference |= static_cast<unsigned char>(a[i] ^ b[i]);
    return difference == 0;
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_IMPL_CONSOLE_SECRET_TEXT_IPP
