// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_CONFIG_RETRY_POLICY_IPP
#define ELASTICJOB_IMPL_CONFIG_RETRY_POLICY_IPP

#include <elasticjob/config/retry_policy.hpp>

namespace elasticjob {

ELASTICJOB_DECL std::chrono::milliseconds pause_before(retry_policy const& policy, std::uint32_t attempt,
                                                       std::uint64_t seed) {
    auto pause = std::min(policy.pause, policy.pause_max);
    for (std::uint32_t n = 2; n < attempt && n < 66 && pause < policy.pause_max; ++n)
        pause = pause > policy.pause_max / policy.factor ? policy.pause_max : pause * policy.factor;
    auto const most = static_cast<std::uint64_t>(pause.count()) / 100 * policy.spread_percent;
    auto const cut = detail::mix_bits(seed + attempt) % (most + 1);
    return pause - std::chrono::milliseconds{cut};
}

} // namespace elasticjob
#endif // ELASTICJOB_IMPL_CONFIG_RETRY_POLICY_IPP
