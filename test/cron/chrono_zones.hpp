// SPDX-License-Identifier: Apache-2.0
/// \file \brief Checks that the zones of other libraries agree with TzifZone's.
#ifndef ELASTICJOB_TEST_CRON_CHRONO_ZONES_HPP
#define ELASTICJOB_TEST_CRON_CHRONO_ZONES_HPP

#include <elasticjob/cron/literal.hpp>
#include <elasticjob/cron/next.hpp>
#include <elasticjob/cron/tzif_zone.hpp>
#include <elasticjob/scheduler/policies.hpp>

#include "support.hpp"
#include "zones.hpp"

#include <doctest/doctest.h>

#include <type_traits>
#include <utility>
#include <vector>

namespace cron_test {

using namespace elasticjob;
using namespace std::chrono;

/// Adjacent segments with the same offset count as one.
template <class Zone>
std::vector<turn> turns_by_segments(Zone const& zone) {
    std::vector<turn> turns;
    for (auto segment = zone.at(turns_begin); segment.end < turns_end;) {
        auto const next = zone.at(segment.end);
        REQUIRE(next.begin == segment.end);
        REQUIRE(zone.at(segment.end - seconds{1}) == segment);
        if (next.offset != segment.offset) turns.push_back({segment.end, segment.offset, next.offset});
        segment = next;
    }
    return turns;
}

template <class Zone>
void check_every_turn_of_every_zone() {
    std::size_t turns = 0;
    for (auto const& name : all_zones()) {
        CAPTURE(name);
        auto const zone = Zone::load(name);
        if (!zone) { // the directory has this zone, and the library does not
            CHECK((name == "Factory" || name == "localtime" || name == "posixrules"));
            continue;
        }
        auto const same = TzifZone::load(name).value();
        REQUIRE(zone->at(turns_begin).offset == same.at(turns_begin).offset);
        auto const found = turns_by_segments(*zone), expected = turns_by_segments(same);
        REQUIRE(found.size() == expected.size());
        REQUIRE(found == expected);
        turns += found.size();
    }
    MESSAGE(turns << " turns");
    CHECK(turns > 15'000);
}

/// Only around both clock changes of a year, because some of these libraries are slow.
template <class Zone>
void check_due_instants() {
    static_assert(std::is_same_v<detail::policy_for<detail::zone_slot, Zone>, Zone>,
                  "a scheduler takes it for its zone");
    auto const zone = Zone::load("America/New_York").value();
    auto const same = TzifZone::load("America/New_York").value();
    std::pair const spring{instant("2024-03-08"), instant("2024-03-13")};
    std::pair const autumn{instant("2024-11-01"), instant("2024-11-06")};
    for (auto const& e : {"0 30 2 * * ?"_cron, "0 30 1 * * ?"_cron, "0 0/20 * * * ?"_cron})
        for (auto const& policy : {civil_policy{}, quartz_compatible})
            for (auto [t, end] : {spring, autumn})
                while (t < end) {
                    auto const fire = next_fire(e, t, zone, policy);
                    REQUIRE(fire == next_fire(e, t, same, policy));
                    t = *fire;
                }
}

template <class Zone>
void check_ends_of_time() {
    auto const tokyo = Zone::load("Asia/Tokyo").value();
    CHECK(tokyo.at(instant("1800-01-01")).begin == sys_seconds::min());
    CHECK(tokyo.at(instant("2024-01-01")).end == sys_seconds::max());
    CHECK(tokyo.at(instant("2024-01-01")).offset == hours{9});
    CHECK(Zone{}.at(instant("2024-01-01")) == UtcZone{}.at({}));
    CHECK(Zone::load("Asia/Tokyo").value() == tokyo);
    CHECK(Zone{} != tokyo);
}

template <class Zone>
void check_unknown_name() {
    auto const zone = Zone::load("Nowhere/City");
    REQUIRE(!zone);
    CHECK(zone.error() == errc::invalid_argument);
    CHECK(zone.error().where == "Nowhere/City");
    CHECK(!zone.error().what.empty());
}

} // namespace cron_test
#endif // ELASTICJOB_TEST_CRON_CHRONO_ZONES_HPP
