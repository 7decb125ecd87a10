// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/cron/time_zone.hpp>

#include <doctest/doctest.h>

using namespace elasticjob;
using namespace std::chrono;

namespace {

struct without_at : UtcZone {
    zone_segment at(sys_seconds) const = delete;
};
struct without_const : UtcZone {
    zone_segment at(sys_seconds) { return {}; }
};
struct without_segment : UtcZone {
    seconds at(sys_seconds) const { return {}; }
};
struct without_copy : UtcZone {
    without_copy(without_copy const&) = delete;
};

} // namespace

static_assert(!time_zone<without_at>);
static_assert(!time_zone<without_const>);
static_assert(!time_zone<without_segment>);
static_assert(!time_zone<without_copy>);

TEST_CASE("cron.time_zone: a clock that never changes has one segment") {
    constexpr auto segment = FixedOffset{hours{-3}}.at(sys_seconds{seconds{1'700'000'000}});
    CHECK(segment == zone_segment{sys_seconds::min(), sys_seconds::max(), hours{-3}});
    CHECK(UtcZone{}.at(sys_seconds{}).offset == seconds{0});
}
