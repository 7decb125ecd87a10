// SPDX-License-Identifier: Apache-2.0
/// \file \brief A zone of Howard Hinnant's date library, for programs that use it already:
/// `DateZone::load("Asia/Tokyo")`.
#ifndef ELASTICJOB_CRON_DATE_ZONE_HPP
#define ELASTICJOB_CRON_DATE_ZONE_HPP

#include <elasticjob/cron/chrono_zone.hpp>

#include <date/tz.h>

#include <string_view>

namespace elasticjob {

namespace detail {

struct date_library {
    static date::time_zone const* locate_zone(std::string_view name) { return date::locate_zone(name); }
};

} // namespace detail

/// `date::time_zone` as a zone of a schedule. <elasticjob/elasticjob.hpp> does not include it. The program links the
/// library's target date::date-tz (Debian: libhowardhinnant-date-dev), which also sets the macros that its header
/// needs.
///
/// Version 3.0.1 of that library does not read the rule at the end of a zone's file. It knows only the clock changes
/// that the file lists, on Debian up to 2037; after the last of them its offset stays. `TzifZone` continues until 2225.
using DateZone = chrono_zone<detail::date_library>;

static_assert(time_zone<DateZone>);

} // namespace elasticjob
#endif // ELASTICJOB_CRON_DATE_ZONE_HPP
