// SPDX-License-Identifier: Apache-2.0
/// \file \brief Unique names, from a random source that a simulation can seed.
#ifndef ELASTICJOB_CORE_RANDOM_HPP
#define ELASTICJOB_CORE_RANDOM_HPP

#include <elasticjob/core/decl.hpp>

#include <unistd.h> // getentropy, getpid

#include <cstdint>
#include <cstdio>
#include <ctime>
#include <string>

namespace elasticjob {

/// A small generator with 64 bits of state: SplitMix64 by Sebastiano Vigna (public domain), which passes BigCrush. Do
/// not use it for secrets. Threads: one.
class random_source {
public:
    explicit random_source(std::uint64_t seed) noexcept : state_{seed} {}

    /// A seed that differs between processes. (std::random_device would work too, but its header takes ten times as
    /// long to compile as ours.)
    static std::uint64_t machine_seed() noexcept;

    std::uint64_t next() noexcept;

    /// A random UUID, version 4, in lower case (RFC 9562).
    std::string uuid();

private:
    std::uint64_t state_;
};

} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/core/random.ipp>
#endif
#endif // ELASTICJOB_CORE_RANDOM_HPP
