// SPDX-License-Identifier: Apache-2.0
/// \file \brief The rules of a schedule for clock changes in its zone.
#ifndef ELASTICJOB_CRON_CIVIL_POLICY_HPP
#define ELASTICJOB_CRON_CIVIL_POLICY_HPP

#include <cstdint>

namespace elasticjob {

/// The rule for due times that the clock skips when it is put forward. `skip`: they are dropped. `shift`: the job is
/// due once, when the gap ends, for all of them.
enum class gap_rule : std::uint8_t { skip, shift };

/// The rule for a due time that the clock shows twice when it is put back: due at the first pass, at the last one, or
/// at both.
enum class overlap_rule : std::uint8_t { first, last, both };

struct civil_rule {
    gap_rule gap;
    overlap_rule overlap;

    friend constexpr bool operator==(civil_rule const&, civil_rule const&) = default;
};

/// One rule for schedules that name their hours ("at half past two"), and one for schedules that are due in every hour
/// ("every five minutes"). With the defaults, a daily job runs once on every day, and a frequent job keeps its
/// interval.
struct civil_policy {
    civil_rule named_hours{gap_rule::shift, overlap_rule::first};
    civil_rule every_hour{gap_rule::skip, overlap_rule::both};

    friend constexpr bool operator==(civil_policy const&, civil_policy const&) = default;
};

/// Quartz's rules: due times in a gap are dropped, and even a schedule for every second stops during the first pass of
/// an overlap.
inline constexpr civil_policy quartz_compatible{{gap_rule::skip, overlap_rule::last},
                                                {gap_rule::skip, overlap_rule::last}};

} // namespace elasticjob
#endif // ELASTICJOB_CRON_CIVIL_POLICY_HPP
