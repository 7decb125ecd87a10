// SPDX-License-Identifier: Apache-2.0
/// \file \brief Recognizes times on record that a wrong clock has written.
#ifndef ELASTICJOB_EXECUTION_CLOCK_SLACK_HPP
#define ELASTICJOB_EXECUTION_CLOCK_SLACK_HPP

#include <elasticjob/core/clock.hpp>

namespace elasticjob::detail {

/// An instant further in the future than this was written by a wrong clock.
inline constexpr std::chrono::hours clock_slack{1};

/// `t`, which somebody has written before the time `wall`, or `wall` if the writer's clock was wrong.
constexpr wall_time believable(wall_time t, wall_time wall) { return t > wall + clock_slack ? wall : t; }

} // namespace elasticjob::detail
#endif // ELASTICJOB_EXECUTION_CLOCK_SLACK_HPP
