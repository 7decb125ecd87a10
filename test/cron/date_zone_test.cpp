// SPDX-License-Identifier: Apache-2.0
#if !__has_include(<date/tz.h>)

#include <doctest/doctest.h>

TEST_CASE("cron.date_zone: SKIPPED, because <date/tz.h> is not there (Debian: libhowardhinnant-date-dev)") {
    MESSAGE("SKIPPED: <date/tz.h> is not there (Debian: libhowardhinnant-date-dev)");
}

#else

#include <elasticjob/cron/date_zone.hpp>

#include <elasticjob/cron/literal.hpp>
#include <elasticjob/cron/next.hpp>
#include <elasticjob/cron/tzif_zone.hpp>
#include <elasticjob/scheduler/policies.hpp>

// Where the standard library has no zones, those of the library that they come from stand in for them, so that the
// header is compiled and run at least.
#if !defined(__cpp_lib_chrono) || __cpp_lib_chrono < 201907L
#undef __cpp_lib_chrono
#define __cpp_lib_chrono 201907L
namespace std::chrono {
using ::date::locate_zone;
using ::date::time_zone;
} // namespace std::chrono
#endif
#include <elasticjob/cron/std_zone.hpp>

#include "support.hpp"
#include "zones.hpp"

#include <doctest/doctest.h>

#include <string>
#include <type_traits>
#include <vector>

using namespace elasticjob;
using namespace std::chrono;
using cron_test::turn;

namespace {

// A scheduler takes it for its zone.
static_assert(std::is_same_v<detail::policy_for<detail::zone_slot, DateZone>, DateZone>);
static_assert(!std::is_constructible_v<DateZone, date::time_zone const*>, "only `load` makes one");

/// Neighbours that have the same offset are one.
template <class Zone>
std::vector<turn> turns_by_segments(Zone const& zone) {
    std::vector<turn> turns;
    for (auto segment = zone.at(cron_test::turns_begin); segment.end < cron_test::turns_end;) {
        auto const next = zone.at(segment.end);
        REQUIRE(next.begin == segment.end);
        REQUIRE(zone.at(segment.end - seconds{1}) == segment);
        if (next.offset != segment.offset) turns.push_back({segment.end, segment.offset, next.offset});
        segment = next;
    }
    return turns;
}

} // namespace

TEST_CASE_TEMPLATE("cron.date_zone: every zone is turned when TzifZone is, from 1970 to 2037", Zone, DateZone,
                   StdZone) {
    std::size_t turns = 0;
    for (auto const& name : cron_test::all_zones()) {
        CAPTURE(name);
        auto const zone = Zone::load(name);
        if (!zone) { // What the directory has and the library does not name.
            CHECK((name == "Factory" || name == "localtime" || name == "posixrules"));
            continue;
        }
        auto const same = TzifZone::load(name).value();
        REQUIRE(zone->at(cron_test::turns_begin).offset == same.at(cron_test::turns_begin).offset);
        auto const found = turns_by_segments(*zone), expected = turns_by_segments(same);
        REQUIRE(found.size() == expected.size());
        REQUIRE(found == expected);
        turns += found.size();
    }
    MESSAGE(turns << " turns");
    CHECK(turns > 15'000);
}

TEST_CASE_TEMPLATE("cron.date_zone: schedules are due when they are in TzifZone", Zone, DateZone, StdZone) {
    auto const zone = Zone::load("America/New_York").value();
    auto const same = TzifZone::load("America/New_York").value();
    for (auto const& e : {"0 30 2 * * ?"_cron, "0 30 1 * * ?"_cron, "0 0/20 * * * ?"_cron})
        for (auto const& policy : {civil_policy{}, quartz_compatible}) {
            auto t = cron_test::instant("2024-03-01");
            while (t < cron_test::instant("2024-11-20")) {
                auto const fire = next_fire(e, t, zone, policy);
                REQUIRE(fire == next_fire(e, t, same, policy));
                t = *fire;
            }
        }
}

TEST_CASE_TEMPLATE("cron.date_zone: the first segment begins with time, and the last one ends with it", Zone, DateZone,
                   StdZone) {
    auto const tokyo = Zone::load("Asia/Tokyo").value();
    CHECK(tokyo.at(cron_test::instant("1800-01-01")).begin == sys_seconds::min());
    CHECK(tokyo.at(cron_test::instant("2024-01-01")).end == sys_seconds::max());
    CHECK(tokyo.at(cron_test::instant("2024-01-01")).offset == hours{9});
    CHECK(Zone{}.at(cron_test::instant("2024-01-01")) == UtcZone{}.at({}));
    CHECK(Zone::load("Asia/Tokyo").value() == tokyo);
    CHECK(Zone{} != tokyo);
}

TEST_CASE_TEMPLATE("cron.date_zone: a name that is not in the database is an error, not an exception", Zone, DateZone,
                   StdZone) {
    auto const zone = Zone::load("Nowhere/City");
    REQUIRE(!zone);
    CHECK(zone.error() == errc::invalid_argument);
    CHECK(zone.error().where == "Nowhere/City");
    CHECK(!zone.error().what.empty());
}

#endif
