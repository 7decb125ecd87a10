// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/execution/find_program.hpp>

#include <support/script_world.hpp>

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include <sys/stat.h>

using namespace elasticjob;
using namespace elasticjob::test;

TEST_CASE(
    "execution.find_program: finds the first program on the PATH, and no directory or file that is not a program") {
    std::string const before = std::getenv("PATH");
    script_directory a, b, c;
    auto const directory = a.path() + "/tool";
    REQUIRE(::mkdir(directory.c_str(), 0700) == 0);
    auto const plain = b.file("tool", "", 0600);
    ::setenv("PATH", ("/no/such:" + a.path() + ":" + b.path()).c_str(), 1);
    auto const forbidden = detail::find_program("tool");
    auto const tool = c.file("tool", "#!/bin/sh\n");
    ::setenv("PATH", (a.path() + ":" + b.path() + ":" + c.path()).c_str(), 1);
    auto const found = detail::find_program("tool");
    ::setenv("PATH", before.c_str(), 1);
    ::rmdir(directory.c_str());
    REQUIRE(!forbidden);
    CHECK(forbidden.error().what == "cannot run '" + plain + "': not executable");
    REQUIRE(found);
    CHECK(*found == tool);
    CHECK(detail::find_program("./tool").value() == "./tool");
}

TEST_CASE("execution.find_program: a relative directory of the PATH gives an absolute path") {
    std::string const before = std::getenv("PATH");
    auto const here = std::filesystem::current_path();
    script_directory d;
    auto const tool = d.file("tool", "#!/bin/sh\n");
    std::filesystem::current_path(d.path());
    ::setenv("PATH", ".:/no/such", 1);
    auto const found = detail::find_program("tool");
    ::setenv("PATH", before.c_str(), 1);
    std::filesystem::current_path(here);
    REQUIRE(found);
    CHECK(found->front() == '/');
    CHECK(std::filesystem::equivalent(*found, tool));
}
