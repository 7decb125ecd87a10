// SPDX-License-Identifier: Apache-2.0
/// \file \brief Names that nobody else has, from a random source that a simulation can seed.
#ifndef ELASTICJOB_CORE_RANDOM_HPP
#define ELASTICJOB_CORE_RANDOM_HPP

#include <unistd.h> // getentropy, getpid

#include <cstdint>
#include <cstdio>
#include <ctime>
#include <string>

namespace elasticjob {

/// A small generator with a 64-bit state: SplitMix64 by Sebastiano Vigna (public domain), which passes BigCrush. Not for
/// secrets. Threads: one.
class random_source {
public:
    explicit random_source(std::uint64_t seed) noexcept : state_{seed} {}

    /// A seed that no other process has. (std::random_device would do, but its header costs as much as ten of ours.)
    static std::uint64_t machine_seed() noexcept {
        std::uint64_t seed = 0;
        if (getentropy(&seed, sizeof seed) == 0) return seed;
        return static_cast<std::uint64_t>(getpid()) << 32U ^ static_cast<std::uint64_t>(std::time(nullptr));
    }

    std::uint64_t next() noexcept {
        state_ += 0x9e3779b97f4a7c15U;
        auto z = state_;
        z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
        z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
        return z ^ (z >> 31U);
    }

    /// A random UUID, version 4, in lower case (RFC 9562).
    std::string uuid() {
        auto const high = (next() & ~std::uint64_t{0xf000}) | 0x4000U;
        auto const low = (next() & ~(std::uint64_t{0xc} << 60U)) | (std::uint64_t{0x8} << 60U);
        char text[40];
        std::snprintf(text, sizeof text, "%08x-%04x-%04x-%04x-%012llx", static_cast<unsigned>(high >> 32U),
                      static_cast<unsigned>((high >> 16U) & 0xffffU), static_cast<unsigned>(high & 0xffffU),
                      static_cast<unsigned>(low >> 48U), static_cast<unsigned long long>(low & 0xffff'ffff'ffffU));
        return text;
    }

private:
    std::uint64_t state_;
};

} // namespace elasticjob
#endif // ELASTICJOB_CORE_RANDOM_HPP
