// SPDX-License-Identifier: Apache-2.0
/// \file \brief What follows when a run fails: whether it is tried again, when, and how often.
#ifndef ELASTICJOB_CONFIG_RETRY_POLICY_HPP
#define ELASTICJOB_CONFIG_RETRY_POLICY_HPP

#include <elasticjob/core/algorithm.hpp> // min
#include <elasticjob/core/chrono.hpp>
#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/hash.hpp>

#include <cstdint>

namespace elasticjob {

/// An item that waits to be tried again counts as running: what becomes due meanwhile is a misfire. What fails for good is
/// a dead letter.
struct retry_policy {
    /// How often a due instant is tried, those attempts included whose instance died, or was made to stop. 1 never tries
    /// again what failed.
    std::uint32_t attempts_max = 1;

    /// From the first failure to the second attempt; each further pause is `factor` times as long, up to `pause_max`.
    std::chrono::milliseconds pause{1'000};
    std::uint32_t factor = 2;                     ///< see `pause`
    std::chrono::milliseconds pause_max{300'000}; ///< see `pause`

    /// By up to how many hundredths a pause is cut short, so that items that failed together do not come back together. By
    /// how many follows from item and attempt.
    std::uint32_t spread_percent = 20;

    /// How many runs of a job an instance tries again in an hour at most, so that a job of which everything fails does not
    /// fail all the more often; 0 is no limit. What exceeds it has failed for good.
    std::uint32_t hourly_max = 0;

    friend bool operator==(retry_policy const&, retry_policy const&) = default;
};

/// With failover: the attempt behind which an instance's death is the end of it. What kills its process each time it runs
/// must not go round the cluster for ever, even if what merely fails is not tried again at all.
constexpr std::uint32_t interruptions_survived(retry_policy const& policy) noexcept {
    return policy.attempts_max > 1 ? policy.attempts_max : 10;
}

/// The pause before an attempt, the second or a later one. O(attempt), and no more than 64 steps.
std::chrono::milliseconds pause_before(retry_policy const& policy, std::uint32_t attempt, std::uint64_t seed);

} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/config/retry_policy.ipp>
#endif
#endif // ELASTICJOB_CONFIG_RETRY_POLICY_HPP
