// SPDX-License-Identifier: Apache-2.0
/// \file \brief The rules for due instants that could not be run in time.
#ifndef ELASTICJOB_CONFIG_MISFIRE_POLICY_HPP
#define ELASTICJOB_CONFIG_MISFIRE_POLICY_HPP

#include <elasticjob/core/chrono.hpp>

#include <cstdint>

namespace elasticjob {

/// The rule for missed due instants.
enum class misfire_rule : std::uint8_t {
    skip, ///< they are dropped
    once, ///< a single run for all of them, as soon as the item is free; its due instant is the last of them
    all,  ///< a run for each of the last `runs_max` of them, oldest first
};

/// An instant is missed if the item still runs for an earlier instant, or if no instance could start it within a
/// minute.
struct misfire_policy {
    misfire_rule rule = misfire_rule::once; ///< the missed instants that are run later

    /// The maximum number of missed instants that `all` runs later; older instants are dropped.
    std::uint32_t runs_max = 10;

    /// An instant that is later than this is dropped under any rule; 365 days at most. 0: no limit.
    std::chrono::milliseconds max_lateness{0};

    friend bool operator==(misfire_policy const&, misfire_policy const&) = default;
};

} // namespace elasticjob
#endif // ELASTICJOB_CONFIG_MISFIRE_POLICY_HPP
