// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/execution/token_bucket.hpp>

#include <doctest/doctest.h>

#include <chrono>

using namespace elasticjob;
using namespace std::chrono_literals;

TEST_CASE("execution.token_bucket: gives a burst at once, then one token per period, and is full again after a pause") {
    mono_time const start{100h};
    detail::token_bucket bucket{3, 10s, start};
    auto const taken_at = [&](auto after) {
        int n = 0;
        while (bucket.take(start + after)) ++n;
        return n;
    };
    CHECK(taken_at(1s) == 3); // time that passes while it is full is nothing saved
    CHECK(bucket.next() == start + 11s);
    CHECK(taken_at(10'999ms) == 0);
    CHECK(bucket.next() == start + 11s); // asking does not put it off
    CHECK(taken_at(11s) == 1);
    CHECK(taken_at(32s) == 2);
    CHECK(bucket.next() == start + 41s); // what was left of the time counts
    CHECK(taken_at(41s) == 1);
    CHECK(taken_at(10h) == 3);
    CHECK(taken_at(10h + 9s) == 0);
    CHECK(taken_at(10h + 10s) == 1);
}
