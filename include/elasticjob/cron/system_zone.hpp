// SPDX-License-Identifier: Apache-2.0
/// \file \brief The time zone that this process was started in.
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

/// What TZ says, or else /etc/localtime, or else UTC. Read once, by `load`: a process that goes on while the machine
/// moves to another zone keeps its own.
class SystemZone {
public:
    /// UTC.
    SystemZone() = default;

    /// TZ may be a name (`Europe/Berlin`), a file (`/etc/zone`), either behind a colon, or a rule in POSIX form; when
    /// it is empty, the zone is UTC. The C library takes UTC silently when it cannot make sense of TZ; a scheduler must
    /// not. Errors: invalid_argument, malformed_data.
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
