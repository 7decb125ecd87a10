// SPDX-License-Identifier: Apache-2.0
/// \file \brief Writes equal or consecutive numbers at the speed of memory.
#ifndef ELASTICJOB_ALLOCATION_WRITE_RUN_HPP
#define ELASTICJOB_ALLOCATION_WRITE_RUN_HPP

#include <cstddef>
#include <cstdint>
#include <cstring>     // memcpy
#include <type_traits> // is_constant_evaluated

namespace elasticjob::detail {

// At -O2 g++ 12 does not turn loops into vector stores, which costs a factor of three to five. So 16 bytes, which every
// 64-bit target has, are stored at a time by hand.
using block_of_numbers [[gnu::vector_size(16)]] = std::uint32_t;
inline constexpr std::size_t block_size = 4; ///< numbers

/// Writes `first`, `first + step`, `first + 2 * step`, ... to out[0, count), and nothing beyond. O(count).
[[gnu::always_inline]] constexpr void write_run(std::uint32_t* out, std::size_t count, std::uint32_t first,
                                                std::uint32_t step) noexcept {
    if (std::is_constant_evaluated() || count < block_size) {
        for (std::size_t i = 0; i != count; ++i) out[i] = first + step * static_cast<std::uint32_t>(i);
        return;
    }
    block_of_numbers const start = first + step * block_of_numbers{0, 1, 2, 3};
    auto const stride = step * static_cast<std::uint32_t>(block_size);
    auto values = start;
    std::size_t const last = count - block_size; // where the last block goes
    std::size_t i = 0;
    for (; i + block_size < last; i += 2 * block_size) { // Two at a time, because processors have two store ports.
        auto const next = values + stride;
        std::memcpy(out + i, &values, sizeof values);
        std::memcpy(out + i + block_size, &next, sizeof next);
        values = next + stride;
    }
    if (i < last) std::memcpy(out + i, &values, sizeof values);
    // It may overlap the block before it, where it writes the same numbers again: cheaper than a rest of single stores.
    values = start + step * static_cast<std::uint32_t>(last);
    std::memcpy(out + last, &values, sizeof values);
}

/// Writes so many runs of equal numbers from `out` on, the first one of `first` and each next one of `step` more, and
/// returns where they end. `Blocks` blocks are stored for each run, whatever its length, because the next run writes
/// over what was too much; two runs share a block where that saves one. Stops at the first run for which there is not as
/// much room before `limit`. Precondition: a run ends in the last of its blocks.
template <std::size_t Blocks>
std::uint32_t* write_short_runs(std::uint32_t* out, std::uint32_t const* limit, std::size_t& runs, std::size_t length,
                                std::uint32_t& first, std::uint32_t step) noexcept {
    auto const is_room_for = [&](std::size_t blocks) {
        return limit - out >= static_cast<std::ptrdiff_t>(blocks * block_size);
    };
    auto values = first + block_of_numbers{};
    auto const rest = length - (Blocks - 1) * block_size;
    if (rest <= block_size / 2) {
        auto const shared = step * block_of_numbers{0, rest == 1, 1, 1};
        for (; runs > 1 && is_room_for(2 * Blocks - 1); runs -= 2, out += 2 * length) {
            auto const both = values + shared;
            auto const next = values + step;
            for (std::size_t i = 0; i != Blocks - 1; ++i) {
                std::memcpy(out + i * block_size, &values, sizeof values);
                std::memcpy(out + (Blocks + i) * block_size, &next, sizeof next);
            }
            std::memcpy(out + (Blocks - 1) * block_size, &both, sizeof both);
            values = next + step;
        }
    }
    for (; runs != 0 && is_room_for(Blocks); --runs, out += length) {
        for (std::size_t i = 0; i != Blocks; ++i) std::memcpy(out + i * block_size, &values, sizeof values);
        values += step;
    }
    first = values[0];
    return out;
}

/// Writes `runs` runs of `length` equal numbers each from `out` on, the first one of `first` and each next one of `step`
/// more, and returns where they end. What is between there and `limit` may be written too, and is for the caller to
/// write afterwards. O(runs * length). Precondition: there is room before `limit`.
[[gnu::always_inline]] constexpr std::uint32_t* write_runs(std::uint32_t* out, std::uint32_t const* limit,
                                                           std::size_t runs, std::size_t length, std::uint32_t first,
                                                           std::uint32_t step) noexcept {
    if (length == 1) {
        write_run(out, runs, first, step);
        return out + runs;
    }
    if (!std::is_constant_evaluated()) switch ((length + block_size - 1) / block_size) {
        case 1:
            out = write_short_runs<1>(out, limit, runs, length, first, step);
            break;
        case 2:
            out = write_short_runs<2>(out, limit, runs, length, first, step);
            break;
        case 3:
            out = write_short_runs<3>(out, limit, runs, length, first, step);
            break;
        case 4:
            out = write_short_runs<4>(out, limit, runs, length, first, step);
            break;
        }
    for (; runs != 0; --runs, out += length, first += step) write_run(out, length, first, 0);
    return out;
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_ALLOCATION_WRITE_RUN_HPP
