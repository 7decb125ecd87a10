// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/console/encodings.hpp>
#include <elasticjob/console/flat_object_codec.hpp>
#include <elasticjob/console/gate.hpp>
#include <elasticjob/console/oidc_provider.hpp>
#include <elasticjob/console/pending_sign_ins.hpp>
#include <elasticjob/console/secret_text.hpp>
#include <elasticjob/execution/http_request.hpp>

#include <support/private_file.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <crypt.h>

using namespace elasticjob;
using namespace elasticjob::detail;
using namespace elasticjob::test;
using namespace std::chrono_literals;

namespace {

wall_time const now{std::chrono::seconds{1'800'000'000}};

console_oidc provider() {
    console_oidc o;
    o.issuer = "https://login.example";
    o.client_id = "console";
    return o;
}

std::string token(std::string_view claims) {
    return base64_url(R"({"alg":"RS256"})") + "." + base64_url(claims) + "." + base64_url("signature");
}

/// Valid claims, with some of them replaced.
std::string claims(std::string const& others = {}) {
    std::string all = "{" + others;
    for (auto const& [name, value] :
         std::vector<std::pair<std::string, std::string>>{{"\"iss\":", "\"https://login.example\""},
                                                          {"\"aud\":", "\"console\""},
                                                          {"\"exp\":", "1800000300"},
                                                          {"\"iat\":", "1800000000"},
                                                          {"\"nonce\":", "\"n-1\""},
                                                          {"\"sub\":", "\"ann\""}})
        if (others.find(name) == others.npos) all += (all.size() > 1 ? "," : "") + name + value;
    return all + "}";
}

/// The reason why the identity is refused; empty if it is accepted.
std::string fault(std::string const& more, console_oidc const& o = provider()) {
    auto const read = read_identity(o, token(claims(more)), "n-1", now);
    return read ? "" : read.error().what;
}

} // namespace

TEST_CASE("console.sign_in: an identity is valid only for its client, its sign-in and its time") {
    auto const read = read_identity(provider(), token(claims()), "n-1", now);
    REQUIRE(read);
    CHECK(read->name == "ann");
    CHECK(read->groups.empty());
    CHECK(fault(R"("iss":"https://evil.example")").ends_with("iss is another issuer"));
    CHECK(fault(R"("iss":"https://login.example/")").ends_with("iss is another issuer"));
    CHECK(fault(R"("aud":"other")").ends_with("aud does not name this client"));
    CHECK(fault(R"("aud":7)").ends_with("aud does not name this client"));
    CHECK(fault(R"("aud":["console"])").empty());
    CHECK(fault(R"("aud":["console","other"])").ends_with("azp does not name this client"));
    CHECK(fault(R"("aud":["console","other"],"azp":"other")").ends_with("azp does not name this client"));
    CHECK(fault(R"("aud":["console","other"],"azp":"console")").empty());
    CHECK(fault(R"("azp":"other")").ends_with("azp does not name this client"));
    CHECK(fault(R"("azp":["console"])").ends_with("azp does not name this client"));
    CHECK(fault(R"("exp":1799999941)").empty()); // clocks differ
    CHECK(fault(R"("exp":1799999940)").find("expired") != std::string::npos);
    CHECK(fault(R"("exp":"1800000300")").find("expired") != std::string::npos);
    CHECK(fault(R"("exp":1e99)").find("expired") != std::string::npos);
    CHECK(fault(R"("iat":1800000061)").find("(iat)") != std::string::npos);
    CHECK(fault(R"("iat":1799999339)").find("(iat)") != std::string::npos);
    CHECK(fault(R"("iat":1799999340.5)").empty());
    CHECK(fault(R"("iat":null)").find("(iat)") != std::string::npos);
    CHECK(fault(R"("nonce":"n-2")").ends_with("nonce is not that of this sign-in"));
    CHECK(fault(R"("nonce":"")").ends_with("nonce is not that of this sign-in"));
    CHECK(fault(R"("sub":"")").ends_with("it has no name in sub"));
    CHECK(fault(R"("sub":" ann")").ends_with("it has no name in sub"));
    CHECK(fault(R"("sub":"a\nb")").ends_with("it has no name in sub"));
    CHECK(fault(R"("sub":["ann"])").ends_with("it has no name in sub"));
    CHECK(fault(R"("sub":"ann","sub":"root")").ends_with("it is no token"));
    for (auto const& text :
         {std::string{}, std::string{"a.b"}, "." + base64_url(claims()) + ".c", "a." + base64_url(claims()) + ".",
          "a." + base64_url(claims()) + ".c.d", "a." + base64_url(claims()) + "=.c", "a." + base64_url("[]") + ".c"})
        CHECK_MESSAGE(!read_identity(provider(), text, "n-1", now), text);
}

TEST_CASE("console.sign_in: the name and the groups come from the claims that the options name") {
    auto o = provider();
    o.name_claim = "email";
    o.groups_claim = "groups";
    auto const mail = R"("email":"ann@example.com")";
    CHECK(fault(mail, o).find("verified") != std::string::npos);
    CHECK(fault(mail + std::string{R"(,"email_verified":false)"}, o).find("verified") != std::string::npos);
    auto const read = read_identity(
        o, token(claims(mail + std::string{R"(,"email_verified":true,"groups":["ops",7,"night",["root"],{"a":"b"}])"})),
        "n-1", now);
    REQUIRE(read);
    CHECK(read->name == "ann@example.com");
    CHECK(read->groups == std::vector<std::string>{"ops", "night"});

    std::vector<console_grant> const grants{{"@ops*", "billing-*", console_role::operator_},
                                            {"@root", "*", console_role::administrator},
                                            {"ann", "*", console_role::viewer}};
    console_rights const in_group{grants, "bob", {"ops-eu"}}, named{grants, "@root", {}}, ann{grants, "ann", {"x"}};
    CHECK(in_group.in_job("billing-eu") == console_role::operator_);
    CHECK(in_group.in_job("settle") == console_role::none);
    CHECK(named.somewhere() == console_role::none); // the user's name looks like a group
    CHECK(ann.somewhere() == console_role::viewer);
}

TEST_CASE("console.sign_in: a pending sign-in belongs to one browser, ends once, and expires") {
    pending_sign_ins all;
    mono_time const t{};
    auto const one = all.begin("10.0.0.1", t).value(), other = all.begin("10.0.0.1", t).value();
    for (auto const& text : {one.cookie, one.state, one.nonce, one.verifier}) CHECK(text.size() == 64);
    CHECK(one.state != one.nonce);
    CHECK(one.verifier != other.verifier);
    CHECK_FALSE(all.take(one.cookie, other.state, t));
    CHECK_FALSE(all.take(other.cookie, one.state, t));
    CHECK_FALSE(all.take("", "", t));
    CHECK_FALSE(all.take(one.cookie, "", t));
    auto const taken = all.take(one.cookie, one.state, t + 9min); // the wrong attempts have not ended it
    REQUIRE(taken);
    CHECK(taken->verifier == one.verifier);
    CHECK_FALSE(all.take(one.cookie, one.state, t + 9min));
    CHECK_FALSE(all.take(other.cookie, other.state, t + 10min));

    for (std::size_t n = 1; n < pending_sign_ins::client_max; ++n) REQUIRE(all.begin("10.0.0.1", t));
    CHECK(all.begin("10.0.0.1", t).error() == errc::overloaded);
    for (std::size_t n = 100; n < pending_sign_ins::all_max; ++n)
        REQUIRE(all.begin("10.0.1." + std::to_string(n / 50), t));
    CHECK(all.begin("10.0.0.2", t).error() == errc::overloaded);
    CHECK(all.begin("10.0.0.2", t + 10min)); // when the others have expired
}

TEST_CASE("console.sign_in: a client without a session learns where to sign in, and browsers are redirected there") {
    console_options o;
    o.authentication = console_authentication::proxy;
    o.proxies = {"10.0.0.1"};
    o.grants = {{}};
    console_gate gate{o};
    console_request r;
    r.method = "GET";
    r.client = "10.0.0.1";
    CHECK(gate.identify(r, {}).error().where.empty());
    r.headers = {{"x-remote-user", "ann"}};
    CHECK(gate.identify(r, {}).value().name == "ann");
    for (auto const* const name : {"", "\xff", "a\x7f", " ann", "a\tb"}) {
        r.headers.front().second = name;
        CHECK_FALSE(gate.identify(r, {}));
    }
    CHECK_FALSE(gate.takes(r, {})); // no provider
    o.authentication = console_authentication::oidc;
    CHECK(gate.identify(r, {}).error().where == "sign-in");
    CHECK(gate.takes(r, {}));
    r.path = {"sign-in"};
    CHECK(gate.takes(r, {}));
    r.method = "POST";
    CHECK_FALSE(gate.takes(r, {}));
}

TEST_CASE("console.sign_in: an operator has at most 50 sessions, and each session ends") {
    private_file const passwords{"ann:" + std::string{::crypt("secret", "$6$rounds=1000$salt$")} + "\n"};
    console_options o;
    o.authentication = console_authentication::password;
    o.password_file = passwords.path;
    console_gate gate{o};
    auto const sign_in = [&](mono_time at) {
        console_request r;
        r.client = "10.0.0.1";
        r.body = R"({"operator": "ann", "password": "secret"})";
        auto const reply = gate.sign_in(r, at);
        REQUIRE(reply.status == 200);
        std::string const cookie{find_text(reply.headers, "Set-Cookie")};
        return cookie.substr(0, cookie.find(';'));
    };
    auto const is_known = [&](std::string const& cookie, mono_time at) {
        console_request r;
        r.headers = {{"cookie", cookie}};
        return bool(gate.identify(r, at));
    };
    mono_time const t{};
    auto const first = sign_in(t), second = sign_in(t + 1s);
    CHECK(is_known(first, t + 12h - 1s));
    CHECK_FALSE(is_known(first, t + 12h));
    auto const third = sign_in(t);
    for (std::size_t n = 2; n < console_gate::operator_sessions_max; ++n) (void)sign_in(t + 2s);
    CHECK(is_known(second, t + 2s));
    CHECK(is_known(third, t + 2s));
    (void)sign_in(t + 2s);
    CHECK_FALSE(is_known(third, t + 2s));
    CHECK(is_known(second, t + 2s));
}

TEST_CASE("console.sign_in: texts in URLs, headers and pages") {
    CHECK(base64("") == "");
    CHECK(base64("f") == "Zg==");
    CHECK(base64("fo") == "Zm8=");
    CHECK(base64("foo") == "Zm9v");
    CHECK(base64("\xfb\xff") == "+/8=");
    CHECK(base64_url("\xfb\xff") == "-_8");
    std::string bytes;
    for (int n = 0; n < 300; ++n) {
        CHECK(from_base64_url(base64_url(bytes)) == bytes);
        bytes += static_cast<char>(n * 7);
    }
    for (auto const* const text : {"Zg==", "Z", "Zh", "Zm9", "+/8", "Zm 9v"}) {
        INFO(text);
        CHECK_FALSE(from_base64_url(text));
    }
    CHECK(form_escaped("a b&c=d/\xc3\xa4~") == "a%20b%26c%3Dd%2F%C3%A4~");
    CHECK(html_escaped("<a href=\"x\">&") == "&lt;a href=&quot;x&quot;&gt;&amp;");
    CHECK(is_same_secret("abc", "abc"));
    CHECK_FALSE(is_same_secret("abc", "abd"));
    CHECK_FALSE(is_same_secret("abc", "ab"));
    // RFC 7636, appendix B.
    if (has_https)
        CHECK(challenge_for("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk") ==
              "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM");
    CHECK(is_error_code("access_denied"));
    CHECK_FALSE(is_error_code("<script>"));
    CHECK_FALSE(is_error_code(""));
}

TEST_CASE("console.sign_in: only the direct members of a JSON object are read") {
    auto const read = [](std::string_view json) { return read_flat_object(json, 1'000); };
    auto const o =
        read(R"({"a":"x","n":12.5,"t":true,"f":"true","l":["y",{"a":"no"},["no"],"z"],"o":{"a":"no"},"z":null})");
    REQUIRE(o);
    CHECK(o->text("a") == "x");
    CHECK(o->text("n").empty());
    CHECK(o->text("none").empty());
    CHECK(o->seconds("n") == 12);
    CHECK_FALSE(o->seconds("a"));
    CHECK(o->is_true("t"));
    CHECK(o->is_true("f"));
    CHECK_FALSE(o->is_true("a"));
    CHECK(o->texts("l") == std::vector<std::string>{"y", "z"});
    CHECK(o->texts("a") == std::vector<std::string>{"x"});
    CHECK(o->texts("o").empty());
    for (auto const& json :
         {std::string{"[]"}, std::string{"7"}, std::string{"\"a\""}, std::string{"{"}, std::string{R"({"a":1,"a":2})"},
          std::string(600, '['), std::string{"{\"a\":"} + std::string(30, '[') + std::string(30, ']') + "}",
          "{\"a\":\"" + std::string(1'000, 'x') + "\"}"})
        CHECK_FALSE(read(json));
}

TEST_CASE("console.sign_in: refuses a provider without TLS, and a secret that others can read") {
    private_file const secret{"s3cret\n"};
    auto const refused = [&](auto change) {
        auto o = provider();
        o.client_secret_file = secret.path;
        o.redirect_url = "https://jobs.example/sign-in/return";
        change(o);
        auto const checked = check(o);
        return checked ? std::string{} : checked.error().where;
    };
    if (!has_https) {
        CHECK(refused([](auto&) {}) == "oidc.issuer");
        return;
    }
    CHECK(refused([](auto&) {}).empty());
    CHECK(refused([](auto& o) { o.issuer = "http://login.example"; }) == "oidc.issuer");
    CHECK(refused([](auto& o) { o.issuer = "http://127.0.0.1:80"; }) == "oidc.issuer");
    CHECK(refused([](auto& o) { o.issuer = "https://login.example/?a=b"; }) == "oidc.issuer");
    CHECK(refused([](auto& o) { o.issuer = ""; }) == "oidc.issuer");
    CHECK(refused([](auto& o) { o.issuer = "http://127.0.0.1:80", o.allows_plain_loopback = true; }).empty());
    CHECK(refused([](auto& o) { o.issuer = "http://10.0.0.1", o.allows_plain_loopback = true; }) == "oidc.issuer");
    CHECK(refused([](auto& o) { o.redirect_url = "http://jobs.example/sign-in/return"; }) == "oidc.redirect_url");
    CHECK(refused([](auto& o) { o.redirect_url = "https://jobs.example/"; }) == "oidc.redirect_url");
    CHECK(refused([](auto& o) { o.redirect_url = "http://localhost:1/sign-in/return"; }).empty());
    CHECK(refused([](auto& o) { o.client_id = ""; }) == "oidc.client_id");
    CHECK(refused([](auto& o) { o.name_claim = ""; }) == "oidc.name_claim");
    CHECK(refused([](auto& o) { o.timeout = 0s; }) == "oidc.timeout");
    CHECK(refused([](auto& o) { o.scope = "openid2 profile"; }) == "oidc.scope");
    CHECK(refused([](auto& o) { o.client_secret_file += ".none"; }).ends_with(".none"));
    secret.write(" \n");
    CHECK(refused([](auto&) {}) == "oidc.client_secret_file");
    secret.write("s3cret");
    secret.permit(std::filesystem::perms::owner_read | std::filesystem::perms::group_read);
    CHECK(refused([](auto&) {}) == secret.path);
}
