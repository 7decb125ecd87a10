// SPDX-License-Identifier: Apache-2.0
/// \file \brief What becomes of a due instant that could not be run in time.
#ifndef ELASTICJOB_CONFIG_MISFIRE_POLICY_HPP
#define ELASTICJOB_CONFIG_MISFIRE_POLICY_HPP

#include <elasticjob/core/chrono.hpp>

#include <cstdint>

namespace elasticjob {

/// What becomes of a due instant that was missed.
enum class misfire_rule : std::uint8_t {
    skip, ///< it is dropped
    once, ///< one run makes up for all that were missed, as soon as the item is free; it is told the last of them
    all,  ///< each is made up for, oldest first, but only the last `runs_max`
};

/// An instant is missed while the item still runs for an earlier one, or when nobody could start it for a minute.
struct misfire_policy {
    misfire_rule rule = misfire_rule::once; ///< which of the missed instants are made up for

    /// How many missed instants `all` makes up for at most; the older ones are dropped.
    std::uint32_t runs_max = 10;

    /// What is later than this is dropped, whatever the rule; 0 is no limit.
    std::chrono::milliseconds max_lateness{0};

    friend bool operator==(misfire_policy const&, misfire_policy const&) = default;
};

} // namespace elasticjob
#endif // ELASTICJOB_CONFIG_MISFIRE_POLICY_HPP
