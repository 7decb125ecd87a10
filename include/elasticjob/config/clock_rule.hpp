// SPDX-License-Identifier: Apache-2.0
/// \file \brief What an instance does whose clock is wrong.
#ifndef ELASTICJOB_CONFIG_CLOCK_RULE_HPP
#define ELASTICJOB_CONFIG_CLOCK_RULE_HPP

#include <cstdint>

namespace elasticjob {

/// What follows when this instance's clock differs from the registry's by more than `max_time_diff_seconds`. Each is told
/// as `events::trouble`.
enum class clock_rule : std::uint8_t {
    skip,       ///< its items do not run until the clock is right; then, what was missed is what it is to `misfire_policy`
    report,     ///< nothing more: they run, as with Java members
    stand_down, ///< it leaves the job in order, and others run its items
};

} // namespace elasticjob
#endif // ELASTICJOB_CONFIG_CLOCK_RULE_HPP
