// SPDX-License-Identifier: Apache-2.0
/// \file \brief Numbers that look random and follow from names: the same on every machine, for ever.
#ifndef ELASTICJOB_ALLOCATION_NAME_HASH_HPP
#define ELASTICJOB_ALLOCATION_NAME_HASH_HPP

#include <cstdint>
#include <string_view>

namespace elasticjob::detail {

/// A bijection of 64 bits in which every bit of the result depends on every bit of the argument.
/// Source: the finalizer of SplitMix64 (Steele, Lea, Flood 2014, with Stafford's constants).
constexpr std::uint64_t mix_bits(std::uint64_t x) noexcept {
    x = (x ^ (x >> 30)) * 0xBF58'476D'1CE4'E5B9ULL;
    x = (x ^ (x >> 27)) * 0x94D0'49BB'1331'11EBULL;
    return x ^ (x >> 31);
}

/// FNV-1a of the bytes, mixed, because its own upper bits are poor for short texts. 1 ns a byte.
constexpr std::uint64_t hash_name(std::string_view text) noexcept {
    std::uint64_t hash = 14'695'981'039'346'656'037ULL;
    for (char const c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1'099'511'628'211ULL;
    return mix_bits(hash);
}

/// How much two things attract each other, each given by its hash.
constexpr std::uint64_t attraction(std::uint64_t a, std::uint64_t b) noexcept { return mix_bits(a ^ b); }

} // namespace elasticjob::detail
#endif // ELASTICJOB_ALLOCATION_NAME_HASH_HPP
