// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/membership/server_ip.hpp>

#include <doctest/doctest.h>

#include <set>

using namespace elasticjob;

TEST_CASE("membership.server_ip: accepts only texts that Java members recognise as an address") {
    for (auto const* good : {"10.0.0.1", "0.0.0.0", "255.255.255.255"}) CHECK(is_server_ip(good));
    for (auto const* bad : {"", "localhost", "10.0.0", "10.0.0.256", "::1", "10.0.0.1 ", "10.0.0.1@-@1"})
        CHECK_FALSE(is_server_ip(bad));
}

TEST_CASE("membership.server_ip: every machine has one") { CHECK(is_server_ip(find_server_ip())); }

TEST_CASE("membership.server_ip: our instance ids are unique, and differ from Java's") {
    random_source random{7};
    std::set<std::string> seen;
    for (int n = 0; n < 100; ++n) {
        auto const id = make_instance_id("10.0.0.1", 12, random);
        CHECK(id.token().starts_with("12-"));
        CHECK(id.server() == "10.0.0.1");
        CHECK_FALSE(id.is_java());
        CHECK(id.str().find("@-@") == id.str().rfind("@-@")); // task ids have exactly five parts
        seen.insert(id.str());
    }
    CHECK(seen.size() == 100);
}
