// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/core/identity.hpp>

#include <doctest/doctest.h>

#include <string>
#include <type_traits>

using namespace elasticjob;

static_assert(!std::is_default_constructible_v<job_name>); // a job name is never empty
static_assert(!std::is_constructible_v<job_name, std::string>);
static_assert(!std::is_constructible_v<instance_id, std::string>);
static_assert(!std::is_convertible_v<job_name, instance_id>);

TEST_CASE("core.identity: a job name is one path element without our delimiter") {
    CHECK(job_name::parse("settle").value().str() == "settle");
    CHECK(job_name::parse("日报 v2.0").value().str() == "日报 v2.0");
    CHECK(job_name::parse("a.b-c_d@e-@f").has_value());
    CHECK(job_name::parse("...").has_value());
    CHECK(job_name::parse(std::string(200, 'x')).has_value());
    for (std::string const& wrong :
         {std::string{}, std::string(201, 'x'), std::string{"."}, std::string{".."}, std::string{"a/b"},
          std::string{"/"}, std::string{"a@-@b"}, std::string{"a\nb"}, std::string{"a\0b", 3}, std::string{"\x7f"}}) {
        auto const name = job_name::parse(wrong);
        REQUIRE_MESSAGE(!name, wrong);
        CHECK(name.error() == errc::invalid_argument);
        CHECK(name.error().where == wrong);
        CHECK(name.error().what.find("must") != std::string::npos); // it says what is valid
    }
}

TEST_CASE("core.identity: job names compare by their text") {
    CHECK(job_name::parse("a").value() == job_name::parse("a").value());
    CHECK(job_name::parse("a").value() < job_name::parse("b").value());
}

TEST_CASE("core.identity: an instance id has a server and a token") {
    auto const id = instance_id::parse("10.0.0.1@-@1234-9f").value();
    CHECK(id.str() == "10.0.0.1@-@1234-9f");
    CHECK(id.server() == "10.0.0.1");
    CHECK(id.token() == "1234-9f");
    auto const twice = instance_id::parse("h@-@1@-@2").value();
    CHECK(twice.server() == "h");
    CHECK(twice.token() == "1@-@2");
    CHECK(instance_id{}.str().empty());
    CHECK(instance_id{}.token().empty());
    for (std::string const wrong : {"", "10.0.0.1", "10.0.0.1@1234", "a/b@-@1", "a@-@1/2"})
        CHECK_MESSAGE(instance_id::parse(wrong).error() == errc::malformed_data, wrong);
}

TEST_CASE("core.identity: a plain process id belongs to Java") {
    CHECK(instance_id::parse("10.0.0.1@-@1234").value().is_java());
    CHECK(instance_id::parse("@-@0").value().is_java());
    CHECK(!instance_id::parse("10.0.0.1@-@1234-9f").value().is_java());
    CHECK(!instance_id::parse("10.0.0.1@-@").value().is_java());
    CHECK(!instance_id::parse("10.0.0.1@-@12a4").value().is_java());
    CHECK(!instance_id{}.is_java());
}
