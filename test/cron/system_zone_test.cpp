// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/cron/system_zone.hpp>

#include <cron/support.hpp>
#include <cron/tz_variable.hpp>

#include <doctest/doctest.h>

using namespace elasticjob;
using cron_test::instant;

namespace {

/// The offset in the summer of 2024, in minutes.
long summer(SystemZone const& zone) {
    return static_cast<long>(zone.at(instant("2024-07-01")).offset / std::chrono::minutes{1});
}

long summer_with(char const* tz) {
    cron_test::tz_variable const variable{tz};
    auto const zone = SystemZone::load();
    REQUIRE_MESSAGE(zone.has_value(), tz);
    return summer(*zone);
}

} // namespace

TEST_CASE("cron.system_zone: TZ is a name, a file or a rule, as for the C library") {
    for (char const* tz : {"Europe/Berlin", ":Europe/Berlin", "/usr/share/zoneinfo/Europe/Berlin",
                           ":/usr/share/zoneinfo/Europe/Berlin", "CET-1CEST,M3.5.0,M10.5.0/3"}) {
        CAPTURE(tz);
        CHECK(summer_with(tz) == 120);
    }
    CHECK(summer_with("Asia/Kathmandu") == 345);
    CHECK(summer_with("EST5") == -300);
    CHECK(summer_with("EST5EDT") == -240);
    CHECK(summer_with("") == 0);
}

TEST_CASE("cron.system_zone: without TZ it uses the machine's zone") {
    cron_test::tz_variable const variable{nullptr};
    CHECK(SystemZone::load().value().at(instant("2024-07-01")).offset.count() ==
          variable.offset(instant("2024-07-01")));
}

TEST_CASE("cron.system_zone: an invalid TZ is an error, not UTC") {
    for (char const* tz : {"Europe/Berlni", "/nowhere", "../../etc/passwd", "!"}) {
        CAPTURE(tz);
        cron_test::tz_variable const variable{tz};
        CHECK(SystemZone::load().error() == errc::invalid_argument);
    }
    cron_test::tz_variable const variable{"/etc/passwd"};
    CHECK(SystemZone::load().error() == errc::malformed_data);
}

TEST_CASE("cron.system_zone: a default one is UTC") { CHECK(summer(SystemZone{}) == 0); }
