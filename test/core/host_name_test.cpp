// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/core/host_name.hpp>

#include <doctest/doctest.h>

#include <cstdio>
#include <string>

using namespace elasticjob;

TEST_CASE("core.host_name: accepts visible ASCII of limited length") {
    CHECK(is_host_name("db-1.example"));
    CHECK(is_host_name("~"));
    CHECK(is_host_name(std::string(255, 'a')));
    CHECK_FALSE(is_host_name(""));
    CHECK_FALSE(is_host_name(std::string(256, 'a')));
    CHECK_FALSE(is_host_name("two words"));
    CHECK_FALSE(is_host_name("tab\t"));
    CHECK_FALSE(is_host_name("delete\x7f"));
    CHECK_FALSE(is_host_name("na\xc3\xafve"));
    CHECK_FALSE(is_host_name(std::string("zero\0", 5)));
}

TEST_CASE("core.host_name: this machine's host name is the kernel's") {
    auto* const file = std::fopen("/proc/sys/kernel/hostname", "re");
    REQUIRE(file);
    char line[300] = "";
    REQUIRE(std::fgets(line, sizeof line, file));
    std::fclose(file);
    CHECK(find_host_name() + "\n" == line);
}
