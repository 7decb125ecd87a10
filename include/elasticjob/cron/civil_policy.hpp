// SPDX-License-Identifier: Apache-2.0
/// \file \brief The behaviour of a schedule at clock changes of its zone.
#ifndef ELASTICJOB_CRON_CIVIL_POLICY_HPP
#define ELASTICJOB_CRON_CIVIL_POLICY_HPP

#include <cstdint>

namespace elasticjob {

/// For a due time that the clock skips when it is put forward: drop it, or fire once when the gap ends, however many
/// due times are in the gap.
enum class gap_rule : std::uint8_t { skip, shift };

/// For a due time that the clock shows twice when it is put back: fire at the first pass, at the last one, or at both.
enum class overlap_rule : std::uint8_t { first, last, both };

struct civil_rule {
    gap_rule gap;
    overlap_rule overlap;

    friend constexpr bool operator==(civil_rule const&, civil_rule const&) = default;
};

/// One rule for schedules that name their hours ("at half past two"), and one for schedules that fire in every hour
/// ("every five minutes"). With the defaults, a daily job runs once on every day, and a frequent job keeps its pace.
struct civil_policy {
    civil_rule named_hours{gap_rule::shift, overlap_rule::first};
    civil_rule every_hour{gap_rule::skip, overlap_rule::both};

    friend constexpr bool operator==(civil_policy const&, civil_policy const&) = default;
};

/// Quartz's rules: due times in a gap are lost, and even a schedule that fires every second stops for the first pass of
/// an overlap.
inline constexpr civil_policy quartz_compatible{{gap_rule::skip, overlap_rule::last},
                                                {gap_rule::skip, overlap_rule::last}};

} // namespace elasticjob
#endif // ELASTICJOB_CRON_CIVIL_POLICY_HPP
