// SPDX-License-Identifier: Apache-2.0
/// \file \brief The role of a time zone, and two zones that need no data.
#ifndef ELASTICJOB_CRON_TIME_ZONE_HPP
#define ELASTICJOB_CRON_TIME_ZONE_HPP

#include <elasticjob/core/chrono.hpp>

#include <concepts>

namespace elasticjob {

/// A period without clock changes, from `begin` up to but not including `end`. The first one begins at
/// `sys_seconds::min()`, the last one ends at `sys_seconds::max()`.
struct zone_segment {
    std::chrono::sys_seconds begin{};
    std::chrono::sys_seconds end{};
    std::chrono::seconds offset{}; ///< wall clock minus UTC; less than 26 hours in absolute value

    friend constexpr bool operator==(zone_segment const&, zone_segment const&) = default;
};

/// A time zone.
///
/// | expression | returns        | must hold                                             |
/// |------------|----------------|-------------------------------------------------------|
/// | `z.at(t)`  | `zone_segment` | `begin <= t < end`; the same answer for every t in it |
///
/// Adjacent segments may have the same offset. Models: UtcZone, FixedOffset, SystemZone (cron/system_zone.hpp),
/// TzifZone (cron/tzif_zone.hpp).
/// Threads: `at` is called on const objects, from several threads at once.
template <class Z>
concept time_zone = std::copyable<Z> && requires(Z const& z, std::chrono::sys_seconds t) {
    { z.at(t) } -> std::same_as<zone_segment>;
};

namespace detail {

constexpr zone_segment always(std::chrono::seconds offset) noexcept {
    return {std::chrono::sys_seconds::min(), std::chrono::sys_seconds::max(), offset};
}

} // namespace detail

/// The wall clock shows UTC.
struct UtcZone {
    constexpr zone_segment at(std::chrono::sys_seconds) const noexcept { return detail::always({}); }

    friend constexpr bool operator==(UtcZone, UtcZone) = default;
};

/// A zone without clock changes: `FixedOffset{std::chrono::hours{8}}` for China. Precondition: less than 26 hours.
struct FixedOffset {
    std::chrono::seconds offset{};

    constexpr zone_segment at(std::chrono::sys_seconds) const noexcept { return detail::always(offset); }

    friend constexpr bool operator==(FixedOffset, FixedOffset) = default;
};

} // namespace elasticjob
#endif // ELASTICJOB_CRON_TIME_ZONE_HPP
