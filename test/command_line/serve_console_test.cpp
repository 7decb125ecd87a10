// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/command_line/serve_console.hpp>

#include <doctest/doctest.h>

#include <string>

using namespace elasticjob;
using namespace elasticjob::cli;

namespace {

/// The error in these arguments; empty if there is none.
template <class Change>
std::string refused(Change change) {
    arguments a;
    change(a.console);
    auto const o = cli::detail::console_options_of(a);
    return o ? std::string{} : o.error().where;
}

} // namespace

TEST_CASE("command_line.serve_console: how operators authenticate, and its options") {
    arguments a;
    a.operator_name = "ann";
    auto o = cli::detail::console_options_of(a).value();
    CHECK(o.authentication == console_authentication::none);
    CHECK(o.local_operator == "ann");
    CHECK_FALSE(o.is_secured());

    a.console.certificate_file = "server.pem";
    a.console.key_file = "server.key";
    a.console.issuer = "https://login.example";
    a.console.client_id = "console";
    a.console.groups_claim = "groups";
    a.console.grants = {"@ops:billing-*:operator"};
    o = cli::detail::console_options_of(a).value();
    CHECK(o.authentication == console_authentication::oidc);
    CHECK(o.certificate_file == "server.pem");
    CHECK(o.key_file == "server.key");
    CHECK(o.oidc.issuer == "https://login.example");
    CHECK(o.oidc.client_id == "console");
    CHECK(o.oidc.name_claim == "sub");
    CHECK(o.oidc.groups_claim == "groups");
    CHECK_FALSE(o.oidc.allows_plain_loopback);
    REQUIRE(o.grants.size() == 1);
    CHECK(o.grants.front().operators == "@ops");
    CHECK(o.grants.front().role == console_role::operator_);
}

TEST_CASE("command_line.serve_console: refuses options that would leave a console open by mistake") {
    CHECK(refused([](auto& c) { c.client_id = "console"; }) == "--oidc-issuer");
    CHECK(refused([](auto& c) { c.redirect_url = "https://jobs.example/sign-in/return"; }) == "--oidc-issuer");
    CHECK(refused([](auto& c) { c.grants = {"ann:*:viewer"}; }) == "--grant");
    CHECK(refused([](auto& c) { c.password_file = "p", c.proxies = {"10.0.0.1"}; }) == "--proxy");
    CHECK(refused([](auto& c) { c.password_file = "p", c.issuer = "https://login.example"; }) == "--oidc-issuer");
    CHECK(refused([](auto& c) { c.password_file = "p", c.grants = {"ann:viewer"}; }) == "--grant ann:viewer");
    CHECK(refused([](auto& c) { c.password_file = "p", c.grants = {"ann:*:root"}; }) == "--grant ann:*:root");
    CHECK(refused([](auto& c) { c.password_file = "p", c.grants = {"ann:a:b:viewer"}; }).empty());
}
