// SPDX-License-Identifier: Apache-2.0
/// \file \brief The rule for an instance whose clock is wrong.
#ifndef ELASTICJOB_CONFIG_CLOCK_RULE_HPP
#define ELASTICJOB_CONFIG_CLOCK_RULE_HPP

#include <cstdint>

namespace elasticjob {

/// The rule for an instance whose clock differs from the registry's by more than `max_time_diff_seconds`. In each case
/// the sink receives `events::trouble`.
enum class clock_rule : std::uint8_t {
    skip,       ///< its items wait until the clock is right; `misfire_policy` decides about the missed instants
    report,     ///< its items run all the same, as on Java members
    stand_down, ///< it leaves the job in order, and other instances run its items
};

} // namespace elasticjob
#endif // ELASTICJOB_CONFIG_CLOCK_RULE_HPP
