// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_CRON_SYSTEM_ZONE_IPP
#define ELASTICJOB_IMPL_CRON_SYSTEM_ZONE_IPP

#include <elasticjob/cron/system_zone.hpp>

namespace elasticjob {

ELASTICJOB_DECL result<SystemZone> SystemZone::load() {
    char const* const tz = std::getenv("TZ");
    auto zone = tz ? load_named(tz) : load_local();
    if (!zone) return std::move(zone).as_failure();
    return SystemZone{*std::move(zone)};
}

ELASTICJOB_DECL result<TzifZone> SystemZone::load_named(std::string_view tz) {
    if (tz.starts_with(':')) tz.remove_prefix(1);
    if (tz.empty()) return TzifZone{};
    if (tz.starts_with('/')) return TzifZone::load_file(std::string{tz});
    auto named = TzifZone::load(tz);
    if (named) return named;
    auto ruled = TzifZone::parse_rule(tz);
    return ruled ? std::move(ruled) : std::move(named);
}

ELASTICJOB_DECL result<TzifZone> SystemZone::load_local() {
    auto local = TzifZone::load_file("/etc/localtime");
    bool const absent = !local && local.error() == errc::invalid_argument;
    return absent ? result<TzifZone>{TzifZone{}} : std::move(local);
}

} // namespace elasticjob
#endif // ELASTICJOB_IMPL_CRON_SYSTEM_ZONE_IPP
