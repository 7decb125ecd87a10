// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_CORE_RANDOM_IPP
#define ELASTICJOB_IMPL_CORE_RANDOM_IPP

#include <elasticjob/core/hash.hpp>
#include <elasticjob/core/random.hpp>

namespace elasticjob {

ELASTICJOB_DECL std::uint64_t random_source::machine_seed() noexcept {
    std::uint64_t seed = 0;
    if (getentropy(&seed, sizeof seed) == 0) return seed;
    return static_cast<std::uint64_t>(getpid()) << 32U ^ static_cast<std::uint64_t>(std::time(nullptr));
}

ELASTICJOB_DECL std::uint64_t random_source::next() noexcept {
    state_ += 0x9e3779b97f4a7c15U;
    return detail::mix_bits(state_);
}

ELASTICJOB_DECL std::string random_source::uuid() {
    auto const high = (next() & ~std::uint64_t{0xf000}) | 0x4000U;
    auto const low = (next() & ~(std::uint64_t{0xc} << 60U)) | (std::uint64_t{0x8} << 60U);
    char text[40];
    std::snprintf(text, sizeof text, "%08x-%04x-%04x-%04x-%012llx", static_cast<unsigned>(high >> 32U),
                  static_cast<unsigned>((high >> 16U) & 0xffffU), static_cast<unsigned>(high & 0xffffU),
                  static_cast<unsigned>(low >> 48U), static_cast<unsigned long long>(low & 0xffff'ffff'ffffU));
    return text;
}

} // namespace elasticjob
#endif // ELASTICJOB_IMPL_CORE_RANDOM_IPP
