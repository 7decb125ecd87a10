// SPDX-License-Identifier: Apache-2.0
/// \file \brief The time zone that this process was started in.
#ifndef ELASTICJOB_CRON_SYSTEM_ZONE_HPP
#define ELASTICJOB_CRON_SYSTEM_ZONE_HPP

#include <elasticjob/core/chrono.hpp>
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
template <class Database = TzifZone>
class basic_system_zone {
public:
    /// UTC.
    basic_system_zone() = default;

    /// TZ may be a name (`Europe/Berlin`), a file (`/etc/zone`), either behind a colon, or a rule in POSIX form; when
    /// it is empty, the zone is UTC. The C library takes UTC silently when it cannot make sense of TZ; a scheduler must
    /// not. Errors: invalid_argument, malformed_data.
    static result<basic_system_zone> load() {
        char const* const tz = std::getenv("TZ");
        auto zone = tz ? load_named(tz) : load_local();
        if (!zone) return std::move(zone).as_failure();
        return basic_system_zone{*std::move(zone)};
    }

    zone_segment at(std::chrono::sys_seconds t) const noexcept { return zone_.at(t); }

    friend bool operator==(basic_system_zone const&, basic_system_zone const&) = default;

private:
    explicit basic_system_zone(Database zone) : zone_{std::move(zone)} {}

    static result<Database> load_named(std::string_view tz) {
        if (tz.starts_with(':')) tz.remove_prefix(1);
        if (tz.empty()) return Database{};
        if (tz.starts_with('/')) return Database::load_file(std::string{tz});
        auto named = Database::load(tz);
        if (named) return named;
        auto ruled = Database::parse_rule(tz);
        return ruled ? std::move(ruled) : std::move(named);
    }

    static result<Database> load_local() {
        auto local = Database::load_file("/etc/localtime");
        bool const absent = !local && local.error() == errc::invalid_argument;
        return absent ? result<Database>{Database{}} : std::move(local);
    }

    Database zone_;
};

using SystemZone = basic_system_zone<>;

} // namespace elasticjob
#endif // ELASTICJOB_CRON_SYSTEM_ZONE_HPP
