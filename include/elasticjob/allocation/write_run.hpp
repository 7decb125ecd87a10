// SPDX-License-Identifier: Apache-2.0
/// \file \brief Writes equal or consecutive numbers at the speed of memory.
#ifndef ELASTICJOB_ALLOCATION_WRITE_RUN_HPP
#define ELASTICJOB_ALLOCATION_WRITE_RUN_HPP

#include <cstddef>
#include <cstdint>
#include <cstring>     // memcpy
#include <type_traits> // is_constant_evaluated

namespace elasticjob::detail {

/// A block that every 64-bit processor can store at once.
struct narrow {
    using block [[gnu::vector_size(16)]] = std::uint32_t;
    static constexpr block ascending{0, 1, 2, 3};
};

/// Writes numbers block by block.
///
/// Written by hand, because g++ 12 does not vectorize loops at -O2, which would make them three to five times slower.
/// All functions are inlined into the caller, because the caller determines the processor for which they are compiled:
/// see `in_widest_blocks`.
template <class Width>
struct blocks {
    using block = typename Width::block;
    static constexpr std::size_t size = sizeof(block) / sizeof(std::uint32_t); ///< numbers

    /// Writes `first`, `first + step`, `first + 2 * step`, ... to out[0, count), and nothing beyond. O(count).
    [[gnu::always_inline]] static constexpr void write_run(std::uint32_t* out, std::size_t count, std::uint32_t first,
                                                           std::uint32_t step) noexcept {
        if (std::is_constant_evaluated() || count < blocks<narrow>::size) {
            for (std::size_t i = 0; i != count; ++i) out[i] = first + step * static_cast<std::uint32_t>(i);
            return;
        }
        if constexpr (size > blocks<narrow>::size)
            if (count < size) return blocks<narrow>::write_run(out, count, first, step);
        block const start = first + step * Width::ascending;
        auto const stride = step * static_cast<std::uint32_t>(size);
        block values = start;
        std::size_t const last = count - size; // the position of the last block
        std::size_t i = 0;
        if (count >= 8 * size) { // worth aligning, because a store across two cache lines counts as two
            std::memcpy(out, &start, sizeof start);
            i = size - reinterpret_cast<std::uintptr_t>(out) / sizeof *out % size;
            values += step * static_cast<std::uint32_t>(i);
        }
        for (; i + size < last; i += 2 * size) { // two at a time, because processors have two store ports
            block const next = values + stride;
            std::memcpy(out + i, &values, sizeof values);
            std::memcpy(out + i + size, &next, sizeof next);
            values = next + stride;
        }
        if (i < last) std::memcpy(out + i, &values, sizeof values);
        // The last block may overlap the previous one, and then writes the same numbers again. This is cheaper than
        // single stores for the rest.
        values = start + step * static_cast<std::uint32_t>(last);
        std::memcpy(out + last, &values, sizeof values);
    }

    /// Writes `runs` runs of `length` equal numbers each, starting at `out`. The first run consists of `first`; the
    /// number of each further run is greater by `step`. Returns the end of the runs. May also overwrite the memory
    /// between there and `limit`, so the caller must write that afterwards. O(runs * length). Precondition: there is
    /// room before `limit`.
    [[gnu::always_inline]] static constexpr std::uint32_t* write_runs(std::uint32_t* out, std::uint32_t const* limit,
                                                                      std::size_t runs, std::size_t length,
                                                                      std::uint32_t first, std::uint32_t step) noexcept {
        if (length == 1) {
            write_run(out, runs, first, step);
            return out + runs;
        }
        if (!std::is_constant_evaluated()) switch ((length + size - 1) / size) {
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

private:
    /// `write_runs` for runs that end in the last of this number of blocks. Stores all blocks of each run, for any
    /// length, because the next run overwrites the excess. Two runs share a block if that saves one. Stops at the first
    /// run without enough room before `limit`.
    template <std::size_t Blocks>
    [[gnu::always_inline]] static std::uint32_t* write_short_runs(std::uint32_t* out, std::uint32_t const* limit,
                                                                  std::size_t& runs, std::size_t length,
                                                                  std::uint32_t& first, std::uint32_t step) noexcept {
        constexpr auto one = static_cast<std::ptrdiff_t>(Blocks * size);
        constexpr auto two = static_cast<std::ptrdiff_t>((2 * Blocks - 1) * size);
        block values = first + block{};
        auto const rest = length - (Blocks - 1) * size;
        if (rest <= size / 2) {
            block shared{}; // greater by `step` where the second run has begun
            for (std::size_t i = 1; i != size; ++i) shared[i] = i < rest ? 0 : step;
            for (; runs > 1 && limit - out >= two; runs -= 2, out += 2 * length) {
                block const both = values + shared;
                block const next = values + step;
                for (std::size_t i = 0; i != Blocks - 1; ++i) {
                    std::memcpy(out + i * size, &values, sizeof values);
                    std::memcpy(out + (Blocks + i) * size, &next, sizeof next);
                }
                std::memcpy(out + (Blocks - 1) * size, &both, sizeof both);
                values = next + step;
            }
        }
        for (; runs != 0 && limit - out >= one; --runs, out += length) {
            for (std::size_t i = 0; i != Blocks; ++i) std::memcpy(out + i * size, &values, sizeof values);
            values += step;
        }
        first = values[0];
        return out;
    }
};

using narrow_blocks = blocks<narrow>;

// The work is a separate function: if it is inlined where registers are scarce, g++ 12 keeps the counter of its inner
// loop in memory, which takes three times as long.

template <class Work>
[[gnu::noinline]] constexpr void in_narrow_blocks(Work const& work) {
    work(narrow_blocks{});
}

#if defined(__x86_64__)
/// A block that nearly all processors of this kind can store at once: those with AVX2.
struct wide {
    using block [[gnu::vector_size(32)]] = std::uint32_t;
    static constexpr block ascending{0, 1, 2, 3, 4, 5, 6, 7};
};

template <class Work>
[[gnu::noinline, gnu::target("avx2")]] void in_wide_blocks(Work const& work) {
    work(blocks<wide>{});
}
#endif

/// Calls work(blocks<...>{}), which writes `count` numbers, with the widest blocks that this processor can store at
/// once. A program compiled for all processors of a kind detects this at run time. For few numbers it uses narrow
/// blocks, because wide ones do not help. `work` must be inlined into its caller.
template <class Work>
[[gnu::always_inline]] constexpr void in_widest_blocks(std::size_t count, Work const& work) {
#if defined(__x86_64__)
    if (!std::is_constant_evaluated() && count >= 512 && __builtin_cpu_supports("avx2")) return in_wide_blocks(work);
#endif
    in_narrow_blocks(work);
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_ALLOCATION_WRITE_RUN_HPP
