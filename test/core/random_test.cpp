// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/core/random.hpp>

#include <doctest/doctest.h>

#include <set>
#include <string>

using namespace elasticjob;

TEST_CASE("core.random: the same seed gives the same numbers, as published for SplitMix64") {
    random_source r{1234567};
    CHECK(r.next() == 6457827717110365317U);
    CHECK(r.next() == 3203168211198807973U);
    CHECK(r.next() == 9817491932198370423U);
}

TEST_CASE("core.random: a UUID has the form of version 4, and is new each time") {
    random_source r{1};
    std::set<std::string> seen;
    for (int i = 0; i < 1000; ++i) {
        auto const uuid = r.uuid();
        REQUIRE(uuid.size() == 36);
        for (std::size_t at = 0; at < uuid.size(); ++at) {
            bool const is_dash = at == 8 || at == 13 || at == 18 || at == 23;
            CHECK((is_dash ? uuid[at] == '-' : std::string{"0123456789abcdef"}.find(uuid[at]) != std::string::npos));
        }
        CHECK(uuid[14] == '4');
        CHECK(std::string{"89ab"}.find(uuid[19]) != std::string::npos);
        CHECK(seen.insert(uuid).second);
    }
}

TEST_CASE("core.random: machines start with different seeds") {
    CHECK(random_source::machine_seed() != random_source::machine_seed());
}
