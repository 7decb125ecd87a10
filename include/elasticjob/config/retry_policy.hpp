// SPDX-License-Identifier: Apache-2.0
/// \file \brief The rules by which a failed run is retried.
#ifndef ELASTICJOB_CONFIG_RETRY_POLICY_HPP
#define ELASTICJOB_CONFIG_RETRY_POLICY_HPP

#include <elasticjob/core/algorithm.hpp> // min
#include <elasticjob/core/chrono.hpp>
#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/hash.hpp>

#include <cstdint>

namespace elasticjob {

/// The rules by which a failed run is retried. While an item waits for a retry, it counts as running: instants that
/// become due meanwhile are misfires. A run that fails for good becomes a dead letter.
struct retry_policy {
    /// The maximum number of attempts for a due instant, including attempts whose instance died or that the library
    /// stopped. 1: no retries.
    std::uint32_t attempts_max = 1;

    /// The pause between the first failure and the second attempt. Each further pause is `factor` times as long, up to
    /// `pause_max`.
    std::chrono::milliseconds pause{1'000};
    std::uint32_t factor = 2;                     ///< see `pause`
    std::chrono::milliseconds pause_max{300'000}; ///< see `pause`

    /// Each pause is shortened by up to this percentage, so that items that failed together are not retried together.
    /// The percentage depends on the item and the attempt.
    std::uint32_t spread_percent = 20;

    /// The maximum number of retries that an instance makes in an hour for one job; 0: no limit. If all runs of a job
    /// fail, this keeps retries from multiplying them. Further failures are final.
    std::uint32_t hourly_max = 0;

    friend bool operator==(retry_policy const&, retry_policy const&) = default;
};

/// The number of attempts after which an interrupted run is not repeated by failover. Without this limit, a job that
/// kills its process would kill one instance after another, even if failed runs are not retried.
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
