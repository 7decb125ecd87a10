// SPDX-License-Identifier: Apache-2.0
/// \file \brief Writes equal or consecutive numbers at the speed of memory.
#ifndef ELASTICJOB_ALLOCATION_WRITE_RUN_HPP
#define ELASTICJOB_ALLOCATION_WRITE_RUN_HPP

#include <cstddef>
#include <cstdint>
#include <cstring>     // memcpy
#include <type_traits> // is_constant_evaluated

namespace elasticjob::detail {

/// Writes `first`, `first + Step`, `first + 2 * Step`, ... to out[0, count), and nothing beyond. O(count).
///
/// At -O2 g++ 12 does not turn such loops into vector stores, which costs a factor of three to five. So 16 bytes, which
/// every 64-bit target has, are stored at a time by hand.
template <std::uint32_t Step>
constexpr void write_run(std::uint32_t* out, std::size_t count, std::uint32_t first) noexcept {
    using block [[gnu::vector_size(16)]] = std::uint32_t;
    constexpr std::size_t lanes = sizeof(block) / sizeof(std::uint32_t);

    if (std::is_constant_evaluated() || count < lanes) {
        for (std::size_t i = 0; i != count; ++i) out[i] = first + Step * static_cast<std::uint32_t>(i);
        return;
    }
    block const start = first + Step * block{0, 1, 2, 3};
    block values = start;
    std::size_t const last = count - lanes; // where the last block goes
    std::size_t i = 0;
    for (; i + lanes < last; i += 2 * lanes) { // Two at a time, because processors have two store ports.
        block const next = values + Step * static_cast<std::uint32_t>(lanes);
        std::memcpy(out + i, &values, sizeof values);
        std::memcpy(out + i + lanes, &next, sizeof next);
        values = next + Step * static_cast<std::uint32_t>(lanes);
    }
    if (i < last) std::memcpy(out + i, &values, sizeof values);
    // It may overlap the block before it, where it writes the same numbers again: cheaper than a rest of single stores.
    values = start + Step * static_cast<std::uint32_t>(last);
    std::memcpy(out + last, &values, sizeof values);
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_ALLOCATION_WRITE_RUN_HPP
