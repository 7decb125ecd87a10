// SPDX-License-Identifier: Apache-2.0
#if !__has_include(<date/tz.h>)

#include <doctest/doctest.h>

TEST_CASE("cron.date_zone: SKIPPED, because <date/tz.h> is not there (Debian: libhowardhinnant-date-dev)") {
    MESSAGE("SKIPPED: <date/tz.h> is not there (Debian: libhowardhinnant-date-dev)");
}

#else

#include <elasticjob/cron/date_zone.hpp>

#include <cron/chrono_zones.hpp>

#include <doctest/doctest.h>

#include <type_traits>

using elasticjob::DateZone;

static_assert(!std::is_constructible_v<DateZone, date::time_zone const*>, "only `load` makes one");

TEST_CASE("cron.date_zone: every zone changes its clocks when TzifZone does, from 1970 to 2037") {
    cron_test::check_every_turn_of_every_zone<DateZone>();
}

TEST_CASE("cron.date_zone: schedules are due at TzifZone's times") { cron_test::check_due_instants<DateZone>(); }

TEST_CASE("cron.date_zone: the first segment begins with time, and the last one ends with it") {
    cron_test::check_ends_of_time<DateZone>();
}

TEST_CASE("cron.date_zone: a name that is not in the database is an error, not an exception") {
    cron_test::check_unknown_name<DateZone>();
}

#endif
