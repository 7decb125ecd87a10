// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/cron/literal.hpp>

#include <doctest/doctest.h>

using elasticjob::operator""_cron; // reachable by `using namespace elasticjob` and by `using namespace literals` alike

TEST_CASE("cron.literal: a literal equals parse_cron of the same text") {
    constexpr auto literal = "0 0/5 14,18 ? * MON-FRI"_cron;
    CHECK(literal == elasticjob::parse_cron("0 0/5 14,18 ? * MON-FRI").value());
}

TEST_CASE("cron.literal: the namespace of literals is enough") {
    using namespace elasticjob::literals;
    CHECK("* * * * * ?"_cron.fires_in_every_hour());
}
