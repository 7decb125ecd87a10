// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/cron/std_zone.hpp>

#include <cron/chrono_zones.hpp>

#include <doctest/doctest.h>

using elasticjob::StdZone;

TEST_CASE("cron.std_zone: every zone changes its clocks when TzifZone does, from 1970 to 2037") {
    cron_test::check_every_turn_of_every_zone<StdZone>();
}

TEST_CASE("cron.std_zone: schedules are due at TzifZone's times") { cron_test::check_due_instants<StdZone>(); }

TEST_CASE("cron.std_zone: the first segment begins with time, and the last one ends with it") {
    cron_test::check_ends_of_time<StdZone>();
}

TEST_CASE("cron.std_zone: a name that is not in the database is an error, not an exception") {
    cron_test::check_unknown_name<StdZone>();
}
