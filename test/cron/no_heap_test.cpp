// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/cron/next.hpp>

#include <elasticjob/cron/civil_policy.hpp>
#include <elasticjob/cron/tzif_zone.hpp>

#include <cron/support.hpp>

#include <support/counted_new.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <memory>

#ifndef ELASTICJOB_TEST_SANITIZED

using namespace elasticjob;

namespace {

/// Reads the expression and follows it through two years and all clock changes in them.
template <class Zone>
int fires_of(char const* text, Zone const& zone, civil_policy policy) {
    auto const e = parse_cron(text);
    int count = 0;
    auto t = cron_test::instant("2023-03-01");
    for (auto fire = next_fire(*e, t, zone, policy); fire && count < 2000; fire = next_fire(*e, *fire, zone, policy))
        ++count;
    return count;
}

} // namespace

TEST_CASE("cron.next: neither a valid expression nor its next fire allocates") {
    auto const new_york = TzifZone::load("America/New_York").value();
    int volatile fires = 0;
    for (char const* text : {"* * * * * ?", "0/5 * * * * ?", "0 0/5 * * * ?", "0 0 12 * * ?", "0 15 10 ? * MON-FRI",
                             "0 0/5 14,18 * * ?", "0 0 0 1 1 ?", "0 15 10 L * ?", "0 15 10 ? * 6L", "0 15 10 ? * 6#3",
                             "0 15 10 15W * ?", "0 0 0 29 2 ?", "0 0/20 1,2 L-3,LW,L-2W,1W * ? 2023-2090/3"}) {
        CAPTURE(text);
        for (auto const& policy : {civil_policy{}, quartz_compatible}) {
            CHECK(counted_new::calls_of([&] { fires = fires + fires_of(text, UtcZone{}, policy); }) == 0);
            CHECK(counted_new::calls_of([&] { fires = fires + fires_of(text, new_york, policy); }) == 0);
        }
    }
    CHECK(fires > 10'000);
    CHECK(counted_new::calls_of([&] { fires = *std::make_unique<int volatile>(1); }) == 1); // The counter counts.
}

#endif // ELASTICJOB_TEST_SANITIZED
