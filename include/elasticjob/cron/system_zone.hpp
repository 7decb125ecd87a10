// SPDX-License-Identifier: Apache-2.0
/// \file \brief The time zone that this process had at its start.
#ifndef ELASTICJOB_CRON_SYSTEM_ZONE_HPP
#define ELASTICJOB_CRON_SYSTEM_ZONE_HPP

#include <elasticjob/core/chrono.hpp>
#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/result.hpp>
#include <elasticjob/cron/time_zone.hpp>
#include <elasticjob/cron/tzif_zone.hpp>

#include <cstdlib> // getenv
#include <string>
#include <string_view>
#include <utility>

namespace elasticjob {

/// The zone in TZ; without TZ, the one in /etc/localtime; without both, UTC. `load` reads it once: if the machine's
/// zone changes, a running process keeps the old one.
class SystemZone {
public:
    /// UTC.
    SystemZone() = default;

    /// TZ may be a name (`Europe/Berlin`) or a file (`/etc/zone`), each with or without a colon before it, or a rule in
    /// POSIX form. If it is empty, the zone is UTC. If TZ cannot be read, the C library silently uses UTC, but this is
    /// an error, because a scheduler would run jobs at wrong times. Errors: invalid_argument, malformed_data.
    static result<SystemZone> load();

    zone_segment at(std::chrono::sys_seconds t) const noexcept { return zone_.at(t); }

    friend bool operator==(SystemZone const&, SystemZone const&) = default;

private:
    explicit SystemZone(TzifZone zone) : zone_{std::move(zone)} {}

    static result<TzifZone> load_named(std::string_view tz);

    static result<TzifZone> load_local();

    TzifZone zone_;
};

} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/cron/system_zone.ipp>
#endif
#endif // ELASTICJOB_CRON_SYSTEM_ZONE_HPP
