// SPDX-License-Identifier: Apache-2.0
/// \file \brief What a schedule does when the clocks of its zone are turned.
#ifndef ELASTICJOB_CRON_CIVIL_POLICY_HPP
#define ELASTICJOB_CRON_CIVIL_POLICY_HPP

#include <cstdint>

namespace elasticjob {

/// Clocks are put forward, and a due time is never shown: drop it, or fire once when the gap ends, however many due
/// times were in it.
enum class gap_rule : std::uint8_t { skip, shift };

/// Clocks are put back, and a due time is shown twice: fire at the first pass, the last one, or both.
enum class overlap_rule : std::uint8_t { first, last, both };

struct civil_rule {
    gap_rule gap;
    overlap_rule overlap;

    friend constexpr bool operator==(civil_rule const&, civil_rule const&) = default;
};

/// One rule for schedules that name their hours ("at half past two"), one for those that fire in every hour ("each five
/// minutes"). The default is what people mean by them: a daily job runs once on every day, a frequent one keeps its
/// pace.
struct civil_policy {
    civil_rule named_hours{gap_rule::shift, overlap_rule::first};
    civil_rule every_hour{gap_rule::skip, overlap_rule::both};

    friend constexpr bool operator==(civil_policy const&, civil_policy const&) = default;
};

/// What Quartz does: due times in a gap are lost, and even a schedule of every second stops for the first pass of an
/// overlap.
inline constexpr civil_policy quartz_compatible{{gap_rule::skip, overlap_rule::last},
                                                {gap_rule::skip, overlap_rule::last}};

} // namespace elasticjob
#endif // ELASTICJOB_CRON_CIVIL_POLICY_HPP
