// SPDX-License-Identifier: Apache-2.0
// Operators sign in at an identity provider, which this test implements.
#include <console/clients.hpp>
#include <console/served_world.hpp>

#include <elasticjob/console/encodings.hpp>
#include <elasticjob/console/oidc_provider.hpp>

#include <support/certificates.hpp>
#include <support/loopback.hpp>
#include <support/private_file.hpp>
#include <support/web_server.hpp>

#include <doctest/doctest.h>

#include <httplib.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

using namespace elasticjob;
using namespace elasticjob::test;
using namespace std::chrono_literals;

namespace {

std::string const secret = "s3cret / äöü";

/// A provider's work, except for the user's authentication.
class provider_script {
public:
    /// For an authenticated browser: a code that is valid once.
    std::string grant(httplib::Params const& asked) {
        std::lock_guard const lock{mutex_};
        auto const code = "code-" + std::to_string(++codes_);
        granted_[code] = asked;
        return code;
    }

    std::string issuer; ///< as it calls itself
    std::string claims = R"("sub":"ann","groups":["ops"])";
    std::string more;                                              ///< of the document
    std::function<void(std::string&)> spoil = [](std::string&) {}; ///< the ID token's claims
    std::size_t padding = 0;                                       ///< bytes that answers are longer
    std::atomic<int> exchanges{0};

    void set_up(httplib::Server& server) {
        server.Get("/.well-known/openid-configuration", [this](httplib::Request const&, httplib::Response& to) {
            to.set_content("{\"issuer\":\"" + issuer + "\",\"authorization_endpoint\":\"" + endpoints +
                               "/authorize?kind=a\"," + "\"token_endpoint\":\"" + endpoints + "/token\"" + more +
                               ",\"padding\":\"" + std::string(padding, 'x') + "\"}",
                           "application/json");
        });
        server.Post("/token", [this](httplib::Request const& r, httplib::Response& to) {
            ++exchanges;
            answer(r, to);
        });
    }

    std::string endpoints;

private:
    void answer(httplib::Request const& r, httplib::Response& to) {
        auto const refuse = [&](char const* why) {
            to.status = 400;
            to.set_content("{\"error\":\"" + std::string{why} + "\",\"error_description\":\"" + secret + "\"}",
                           "application/json");
        };
        auto const basic = detail::base64(detail::form_escaped("con sole") + ":" + detail::form_escaped(secret));
        bool const is_client =
            more.empty() ? r.get_header_value("Authorization") == "Basic " + basic
                         : r.get_param_value("client_id") == "con sole" && r.get_param_value("client_secret") == secret;
        if (!is_client) return refuse("invalid_client");
        std::lock_guard const lock{mutex_};
        auto const there = granted_.find(r.get_param_value("code"));
        if (there == granted_.end()) return refuse("invalid_grant");
        auto const asked = there->second;
        granted_.erase(there);
        auto const param = [&](char const* name) {
            auto const one = asked.find(name);
            return one == asked.end() ? std::string{} : one->second;
        };
        if (r.get_param_value("grant_type") != "authorization_code" ||
            r.get_param_value("redirect_uri") != param("redirect_uri") ||
            detail::challenge_for(r.get_param_value("code_verifier")) != param("code_challenge") ||
            param("code_challenge_method") != "S256")
            return refuse("invalid_grant");
        auto const seconds = std::to_string(std::chrono::system_clock::to_time_t(std::chrono::system_clock::now()));
        std::string all = "{\"iss\":\"" + issuer + "\",\"aud\":\"con sole\",\"iat\":" + seconds +
                          ",\"exp\":" + seconds + ",\"nonce\":\"" + param("nonce") + "\"," + claims + "}";
        spoil(all);
        auto const token = detail::base64_url("{}") + "." + detail::base64_url(all) + "." + detail::base64_url("s");
        to.set_content("{\"access_token\":\"a\",\"token_type\":\"Bearer\",\"id_token\":\"" + token +
                           "\",\"padding\":\"" + std::string(padding, 'x') + "\"}",
                       "application/json");
    }

    std::mutex mutex_;
    std::map<std::string, httplib::Params> granted_;
    int codes_ = 0;
};

console_options options_for(std::string const& issuer, private_file const& secret_file) {
    console_options o;
    o.authentication = console_authentication::oidc;
    o.grants = {{"@ops", "*", console_role::operator_}};
    o.oidc.issuer = issuer;
    o.oidc.client_id = "con sole";
    o.oidc.client_secret_file = secret_file.path;
    o.oidc.redirect_url = "http://127.0.0.1/sign-in/return";
    o.oidc.groups_claim = "groups";
    o.oidc.scope = "openid groups";
    o.oidc.allows_plain_loopback = true;
    return o;
}

/// A provider without TLS, and a console that uses it.
struct oidc_world {
    explicit oidc_world(std::function<void(console_options&)> change = [](console_options&) {}) {
        script.issuer = script.endpoints = provider.url("");
        auto o = options_for(script.issuer, secret_file);
        change(o);
        console = std::make_unique<served_world>(std::move(o));
    }

    provider_script script;
    web_server<> provider{[this](httplib::Server& s) { script.set_up(s); }};
    private_file const secret_file{secret + "\n"};
    std::unique_ptr<served_world> console;
};

/// A browser that signs in: it keeps cookies and follows redirects.
class browser {
public:
    explicit browser(served_world const& w) : client{"127.0.0.1", w.port()} {}

    /// Goes to the provider. Returns the authorization request.
    httplib::Params begin() {
        auto const begun = client.Get("/sign-in");
        REQUIRE(begun);
        REQUIRE_MESSAGE(begun->status == 302, begun->body);
        location = begun->get_header_value("Location");
        cookie = cookie_of(begun);
        httplib::Params asked;
        httplib::detail::parse_query_text(location.substr(location.find('?') + 1), asked);
        return asked;
    }
    /// Comes back from the provider.
    httplib::Result end(httplib::Params const& with) {
        return client.Get("/sign-in/return", with, {{"Cookie", "a=b; " + cookie}});
    }
    httplib::Result sign_in(provider_script& at) {
        auto const asked = begin();
        return end({{"code", at.grant(asked)}, {"state", asked.find("state")->second}});
    }

    httplib::Client client;
    std::string location, cookie;
};

bool holds(httplib::Result const& answer, std::string_view text) {
    return answer->body.find(text) != std::string::npos;
}

/// The reason why the console refuses this browser.
std::string refusal(oidc_world& w) {
    auto const answer = browser{*w.console}.sign_in(w.script);
    CHECK_FALSE(answer->has_header("Set-Cookie"));
    return std::to_string(answer->status) + " " + answer->body;
}

} // namespace

TEST_CASE("console.server: operators sign in at an identity provider, and get the rights of their groups") {
    oidc_world w;
    browser b{*w.console};
    // A browser that has not signed in is redirected to the sign-in.
    auto const page = b.client.Get("/");
    CHECK(page->status == 302);
    CHECK(page->get_header_value("Location") == "sign-in");
    auto const stranger = b.client.Get("/api/v1/me");
    CHECK(stranger->status == 401);
    CHECK(holds(stranger, "\"where\":\"sign-in\""));
    CHECK(plain_client{w.console->port()}.ask(stream_request).starts_with("HTTP/1.1 401"));

    auto const asked = b.begin();
    CHECK(b.location.starts_with(w.script.issuer + "/authorize?kind=a&response_type=code&"));
    auto const is = [&](char const* name) { return asked.find(name)->second; };
    CHECK(is("client_id") == "con sole");
    CHECK(is("redirect_uri") == "http://127.0.0.1/sign-in/return");
    CHECK(is("scope") == "openid groups");
    CHECK(is("code_challenge_method") == "S256");
    CHECK(b.location.find(secret) == std::string::npos);
    CHECK(b.cookie.starts_with("elasticjob-sign-in="));
    CHECK(b.cookie.find(is("state")) == std::string::npos);
    auto const in = b.end({{"code", w.script.grant(asked)}, {"state", is("state")}, {"iss", w.script.issuer}});
    REQUIRE_MESSAGE(in->status == 200, in->body);
    CHECK(holds(in, "url=../\""));
    CHECK(in->get_header_value("Set-Cookie", 0).find("; HttpOnly; SameSite=Strict") != std::string::npos);
    CHECK(in->get_header_value("Set-Cookie", 1).starts_with("elasticjob-sign-in=; "));
    httplib::Headers const session{{"Cookie", cookie_of(in)}};
    CHECK(b.client.Get("/", session)->status == 200);
    auto const me = b.client.Get("/api/v1/me", session);
    CHECK(holds(me, "\"operator\":\"ann\""));
    CHECK(holds(me, "\"authentication\":\"oidc\""));
    auto const here = std::string{"/api/v1/registries/main/jobs/settle/"};
    CHECK(b.client.Post(here + "trigger", session, "{}", "application/json")->status != 403);
    CHECK(b.client.Post(here + "remove", session, "{}", "application/json")->status == 403);
    CHECK(b.client.Post("/api/v1/session", R"({"operator":"ann","password":"x"})", "application/json")->status == 409);
    CHECK(b.client.Delete("/api/v1/session", session)->status == 200);
    CHECK(b.client.Get("/api/v1/me", session)->status == 401);
    CHECK(b.client.Get("/sign-in/elsewhere")->status == 404);
    CHECK(b.client.Head("/sign-in")->status == 404);
    CHECK(b.client.Post("/sign-in", "{}", "application/json")->status == 405);
    w.script.claims = R"("sub":"eve")";
    auto const eve = browser{*w.console}.sign_in(w.script);
    CHECK(b.client.Get("/api/v1/me", {{"Cookie", cookie_of(eve)}})->status == 403);
}

TEST_CASE("console.server: a sign-in ends once, in the browser that started it") {
    oidc_world w;
    browser b{*w.console}, other{*w.console};
    auto const asked = b.begin(), others = other.begin();
    auto const state = asked.find("state")->second;
    auto const code = w.script.grant(asked);
    CHECK(b.end({{"code", code}, {"state", "guessed"}})->status == 400);
    CHECK(b.end({{"code", code}})->status == 400);
    CHECK(b.end({{"code", code}, {"state", others.find("state")->second}})->status == 400);
    CHECK(other.end({{"code", code}, {"state", state}})->status == 400); // this browser did not start the sign-in
    CHECK(b.client.Get("/sign-in/return?code=" + code + "&state=" + state)->status == 400);
    CHECK(w.script.exchanges == 0);
    CHECK(b.end({{"code", code}, {"state", state}})->status == 200);
    CHECK(b.end({{"code", code}, {"state", state}})->status == 400);
    CHECK(w.script.exchanges == 1);
    // A code of another sign-in does not match this one's verifier, and a used code is no longer valid.
    auto const replayed = other.end({{"code", code}, {"state", others.find("state")->second}});
    CHECK(replayed->status == 401);
    CHECK(holds(replayed, "invalid_grant"));
    CHECK_FALSE(holds(replayed, "s3cret"));
    browser thief{*w.console}, victim{*w.console};
    auto const stolen = w.script.grant(victim.begin());
    auto const of_thief = thief.begin();
    CHECK(thief.end({{"code", stolen}, {"state", of_thief.find("state")->second}})->status == 401);
}

TEST_CASE("console.server: the provider's answer must be meant for this console") {
    oidc_world w;
    auto const replace = [](std::string from, std::string to) {
        return [from = std::move(from), to = std::move(to)](std::string& claims) {
            auto const at = claims.find(from);
            REQUIRE(at != claims.npos);
            claims.replace(at, from.size(), to);
        };
    };
    w.script.spoil = replace("\"nonce\":\"", "\"nonce\":\"0");
    CHECK(refusal(w).starts_with("401 "));
    w.script.spoil = replace("con sole", "other");
    CHECK(refusal(w).find("aud does not name") != std::string::npos);
    w.script.spoil = replace("\"iss\":\"", "\"iss\":\"https://evil.example/");
    CHECK(refusal(w).find("iss is another") != std::string::npos);
    w.script.spoil = replace("\"exp\":", "\"exp\":1,\"was\":");
    CHECK(refusal(w).find("expired") != std::string::npos);
    // The fifth failure of this client within a minute is the last one that the console checks.
    w.script.spoil = replace("\"sub\":\"ann\"", "\"sub\":\"\"");
    CHECK(refusal(w).find("no name in sub") != std::string::npos);
    auto const before = w.script.exchanges.load();
    CHECK(refusal(w).find("429 ") == 0);
    CHECK(w.script.exchanges == before);
}

TEST_CASE(
    "console.server: a provider that refuses, or answers for another, is told apart, and nothing of it is repeated") {
    oidc_world w;
    browser b{*w.console};
    auto const state = [&] { return b.begin().find("state")->second; };
    auto const refused = b.end({{"error", "access_denied"}, {"state", state()}});
    CHECK(refused->status == 403);
    CHECK(holds(refused, "access_denied"));
    auto const odd = b.end({{"error", "<script>alert(1)</script>"}, {"state", state()}});
    CHECK(odd->status == 403);
    CHECK_FALSE(holds(odd, "script"));
    CHECK(odd->get_header_value("Content-Security-Policy").starts_with("default-src 'none'"));
    CHECK(b.end({{"code", "c"}, {"iss", "https://evil.example"}, {"state", state()}})->status == 400);
    CHECK(b.end({{"state", state()}})->status == 400);
    CHECK(b.end({{"code", std::string(5'000, 'c')}, {"state", state()}})->status == 400);
    CHECK(w.script.exchanges == 0);
}

TEST_CASE("console.server: the provider's document must be its own, and name addresses with TLS") {
    auto const begin = [](auto spoil) {
        oidc_world w;
        spoil(w.script);
        auto const answer = browser{*w.console}.client.Get("/sign-in");
        CHECK_FALSE(answer->has_header("Set-Cookie"));
        return std::to_string(answer->status) + " " + answer->body;
    };
    auto const others = begin([](auto& s) { s.issuer = "https://evil.example"; });
    CHECK(others.starts_with("503 "));
    CHECK(others.find("is another issuer's") != std::string::npos);
    CHECK(begin([](auto& s) { s.endpoints = "http://10.0.0.1"; }).find("without https") != std::string::npos);
    CHECK(begin([](auto& s) { s.endpoints = "nowhere"; }).find("without https") != std::string::npos);
    CHECK(begin([](auto& s) { s.padding = 70'000; }).find("more than 64 KiB") != std::string::npos);
    CHECK(begin([](auto& s) { s.more = ",nonsense"; }).find("is not there") != std::string::npos);
}

TEST_CASE("console.server: a client's secret goes into the body if the provider wants it there") {
    oidc_world w;
    w.script.more = R"(,"token_endpoint_auth_methods_supported":["client_secret_post"])";
    CHECK(browser{*w.console}.sign_in(w.script)->status == 200);
    w.secret_file.write("another");
    CHECK(refusal(w).find("invalid_client") != std::string::npos); // the secret is read for each sign-in
}

TEST_CASE("console.server: a token that is too long is refused, and a console without its provider continues") {
    oidc_world w;
    browser b{*w.console};
    auto const asked = b.begin();
    w.script.padding = 70'000;
    auto const answer = b.end({{"code", w.script.grant(asked)}, {"state", asked.find("state")->second}});
    CHECK(answer->status == 503);
    CHECK(holds(answer, "more than 64 KiB"));

    private_file const secret_file{secret};
    int port = 0;
    { port = listen_anywhere().second; }
    served_world const down{options_for("http://127.0.0.1:" + std::to_string(port), secret_file)};
    auto const nobody = browser{down}.client.Get("/sign-in");
    CHECK(nobody->status == 503);
    CHECK(holds(nobody, "cannot be reached"));
    CHECK_FALSE(holds(nobody, "s3cret"));
}

TEST_CASE("console.server: a slow provider delays sign-ins, and no other requests") {
    std::atomic<bool> is_over{false};
    odd_server const slow{[&](peer const& p) {
        p.read_header();
        while (!is_over && !p.is_left(100)) {
        }
    }};
    private_file const secret_file{secret};
    auto o = options_for(slow.url().substr(0, slow.url().size() - 1), secret_file);
    o.oidc.timeout = 1s;
    o.threads = 1;
    {
        served_world const w{o};
        std::vector<std::unique_ptr<plain_client>> waiting;
        for (int n = 0; n < 16; ++n) {
            waiting.push_back(std::make_unique<plain_client>(w.port()));
            waiting.back()->say("GET /sign-in HTTP/1.1\r\n" + local_host + "\r\n");
        }
        std::string one_more;
        for (int n = 0; n < 5 && one_more.find("too much to do") == std::string::npos; ++n) {
            plain_client late{w.port()};
            late.say("GET /sign-in HTTP/1.1\r\n" + local_host + "Connection: close\r\n\r\n");
            one_more = late.hear("no end");
        }
        CHECK(one_more.find("too much to do") != std::string::npos);
        CHECK(client_of(w).Get("/api/v1/me")->status == 401);
        CHECK(waiting.front()->hear("</p>").find("does not answer in time") != std::string::npos);
    }
    o.oidc.timeout = 60s;
    auto const begin = std::chrono::steady_clock::now();
    {
        served_world const w{o};
        plain_client waiting{w.port()};
        waiting.say("GET /sign-in HTTP/1.1\r\n" + local_host + "\r\n");
        CHECK(client_of(w).Get("/api/v1/me")->status == 401);
    }
    CHECK(std::chrono::steady_clock::now() - begin < 30s); // the console's destructor waits for no provider
    is_over = true;
}

#if defined(CPPHTTPLIB_OPENSSL_SUPPORT)
TEST_CASE("console.server: a provider is trusted over TLS if a known authority certifies it") {
    auto const made = make_certificate();
    private_file const certificate{made.certificate}, key{made.key}, secret_file{secret};
    provider_script script;
    web_server<httplib::SSLServer> const provider{[&](httplib::Server& s) { script.set_up(s); },
                                                  certificate.path.c_str(), key.path.c_str()};
    script.issuer = script.endpoints = "https://127.0.0.1:" + std::to_string(provider.port());
    auto o = options_for(script.issuer, secret_file);
    o.oidc.allows_plain_loopback = false;
    {
        served_world const w{o};
        auto const nobody = browser{w}.client.Get("/sign-in");
        CHECK(nobody->status == 503);
        CHECK(holds(nobody, "no secure connection"));
    }
    o.oidc.ca_file = certificate.path;
    served_world const w{o};
    CHECK(browser{w}.sign_in(script)->status == 200);
    script.endpoints = "http://127.0.0.1:1"; // the document must not name this address
    served_world const plain{o};
    CHECK(browser{plain}.client.Get("/sign-in")->status == 503);
}
#endif
