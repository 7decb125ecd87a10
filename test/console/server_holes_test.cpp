// SPDX-License-Identifier: Apache-2.0
// Security holes that other consoles had: each test shows that this server does not have one of them. holes_test.cpp
// tests the interface.
#include <console/clients.hpp>
#include <console/served_world.hpp>

#include <elasticjob/console/encodings.hpp>

#include <support/loopback.hpp>
#include <support/private_file.hpp>

#include <doctest/doctest.h>

#include <httplib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include <poll.h>

using namespace elasticjob;
using namespace elasticjob::test;
using namespace std::chrono_literals;

namespace {

/// The path of a route with the same text in the place of each parameter but the registry.
std::string path_with(std::string pattern, std::string const& text) {
    for (;;) {
        auto const at = pattern.find('{');
        if (at == pattern.npos) return "/api/v1/" + pattern;
        auto const end = pattern.find('}', at);
        bool const is_registry = pattern.substr(at, end + 1 - at) == "{registry}";
        pattern.replace(at, end + 1 - at, is_registry ? "main" : detail::form_escaped(text));
    }
}

/// Signs ann in. Returns the session's cookie, with its name.
std::string sign_in(httplib::Client& client) {
    auto const in = client.Post("/api/v1/session", R"({"operator": "ann", "password": "secret"})", "application/json");
    REQUIRE(in);
    REQUIRE(in->status == 200);
    return cookie_of(in);
}

} // namespace

TEST_CASE("console: a request cannot choose an address to connect to") {
    served_world w;
    auto client = client_of(w);
    auto const [socket, port] = listen_anywhere(64);
    auto const host = "127.0.0.1:" + std::to_string(port);
    auto const url = "http://" + host + "/";
    std::vector<std::string> const texts{"127.0.0.1", host, url, "jdbc:h2:tcp://" + host + "/x;INIT=RUNSCRIPT",
                                         "//" + host + "/x"};
    for (auto const& route : w.routes()) {
        INFO(route.method << " " << route.pattern);
        for (auto const& text : texts) {
            std::string query, body;
            for (auto const* const name : {"address", "addressList", "ip", "host", "port", "url", "jdbcUrl", "server",
                                           "servers", "redirect", "next", "callback", "issuer", "digest"}) {
                query += (query.empty() ? "?" : "&") + std::string{name} + "=" + detail::form_escaped(text);
                body += (body.empty() ? "{\"" : ",\"") + std::string{name} + "\":\"" + text + "\"";
            }
            httplib::Request r;
            r.method = route.method;
            r.path = path_with(route.pattern, text) + (route.method == "GET" ? query : ""); // commands refuse others
            r.body = route.method == "GET" ? "" : body + "}";
            r.headers = {{"Content-Type", "application/json"},
                         {"Forwarded", "host=" + host},
                         {"X-Forwarded-Host", host},
                         {"X-Forwarded-For", host},
                         {"X-Original-URL", url},
                         {"Referer", url}};
            auto const reply = client.send(r);
            REQUIRE(reply);
            CHECK_FALSE(reply->has_header("Location"));
        }
    }
    for (auto const* const path : {"/api/v1/databases", "/api/v1/registries"}) // nor can a request add or change one
        for (auto const& [method, body] : {std::pair{"POST", R"({"name":"x"})"}, std::pair{"PUT", R"({"name":"x"})"}}) {
            httplib::Request r;
            r.method = method;
            r.path = path;
            r.body = body;
            r.headers = {{"Content-Type", "application/json"}};
            auto const status = client.send(r)->status;
            CHECK((status == 404 || status == 405));
        }
    // The target of a request must be a path of this server too.
    CHECK(plain_client{w.port()}.ask("GET " + url + " HTTP/1.1\r\n" + local_host + "\r\n").starts_with("HTTP/1.1 400"));
    CHECK(plain_client{w.port()}
              .ask("CONNECT " + host + " HTTP/1.1\r\n" + local_host + "\r\n")
              .starts_with("HTTP/1.1 4"));
    pollfd waiting{.fd = socket.get(), .events = POLLIN, .revents = 0};
    CHECK(::poll(&waiting, 1, 0) == 0);
}

TEST_CASE("console: a token contains no information, and is useless to other clients") {
    password_file const file;
    auto o = with_passwords(file);
    o.grants.push_back({"guest", "*", console_role::viewer});
    std::ofstream{file.path, std::ios::app} << "guest:" << ::crypt("guest", "$6$other$") << "\n";
    served_world w{o};
    auto client = client_of(w);
    auto const ann = sign_in(client), again = sign_in(client);
    CHECK(ann != again);
    auto const in = client.Post("/api/v1/session", R"({"operator": "guest", "password": "guest"})", "application/json");
    REQUIRE(in->status == 200);
    CHECK(in->body == "{}");
    auto const guest = cookie_of(in);
    auto const token = guest.substr(guest.find('=') + 1);
    CHECK(token.size() == 64);
    CHECK(token.find_first_not_of("0123456789abcdef") == token.npos);
    auto changed = guest;
    changed.back() = changed.back() == '0' ? '1' : '0';
    CHECK(client.Get("/api/v1/me", {{"Cookie", guest}})->status == 200);
    CHECK(client.Get("/api/v1/me", {{"Cookie", changed}})->status == 401);
    CHECK(client.Get("/api/v1/me", {{"Cookie", guest.substr(0, guest.size() - 1)}})->status == 401);
    CHECK(client.Get("/api/v1/me?token=" + token)->status == 401);
    CHECK(client.Get("/api/v1/me", {{"Authorization", "Bearer " + token}})->status == 401);
    CHECK(client.Post("/api/v1/registries/main/jobs/settle/trigger", {{"Cookie", guest}}, "{}", "application/json")
              ->status == 403);
    // It ends with its session, and with the server.
    CHECK(client.Delete("/api/v1/session", {{"Cookie", ann}})->status == 200);
    CHECK(client.Get("/api/v1/me", {{"Cookie", ann}})->status == 401);
    CHECK(client.Get("/api/v1/me", {{"Cookie", again}})->status == 200);
    served_world other{o};
    CHECK(client_of(other).Get("/api/v1/me", {{"Cookie", again}})->status == 401);
}

TEST_CASE("console: no answer contains a secret of the server") {
    password_file const file;
    auto o = with_passwords(file);
    o.grants = {{"ann", "*", console_role::administrator}};
    served_world w{o};
    auto client = client_of(w);
    auto const cookie = sign_in(client);
    std::string hash;
    std::getline(std::ifstream{file.path} >> std::ws, hash); // the comment
    hash = ::crypt("secret", "$6$salt$");
    std::vector<std::string> const secrets{cookie.substr(cookie.find('=') + 1), "\"secret\"", hash, "$6$", file.path};
    auto const look = [&](httplib::Result const& reply) {
        REQUIRE(reply);
        for (auto const& one : secrets) CHECK_MESSAGE(reply->body.find(one) == reply->body.npos, reply->body);
        for (auto const& [name, value] : reply->headers)
            for (auto const& one : secrets) CHECK_MESSAGE(value.find(one) == value.npos, (name + ": " + value));
    };
    for (auto const& route : w.routes()) {
        INFO(route.method << " " << route.pattern);
        httplib::Request r;
        r.method = route.method;
        r.path = path_with(route.pattern, "settle");
        r.body = route.method == "GET" ? "" : R"({"password": "wrong"})";
        r.headers = {{"Content-Type", "application/json"}, {"Cookie", cookie}};
        look(client.send(r));
    }
    for (auto const* const path : {"/", "/api/v1/nothing", "/passwords", "/.env", "/%2e%2e/passwords"})
        look(client.Get(path));
    // Nor does a refused sign-in repeat its input.
    for (auto const* const body : {R"({"operator": "ann", "password": "hunter2"})", R"({"operator": "ann" "hunter2"})",
                                   R"({"operator": "ann", "hunter2": ""})"}) {
        auto const reply = client.Post("/api/v1/session", body, "application/json");
        look(reply);
        CHECK(reply->body.find("hunter2") == std::string::npos);
    }
    std::filesystem::permissions(file.path, std::filesystem::perms::none);
    std::filesystem::remove(file.path);
    auto const reply = client.Post("/api/v1/session", R"({"operator": "ann", "password": "x"})", "application/json");
    look(reply);
    CHECK(reply->status == 503);
    file.write("");
}

TEST_CASE("console: no answer lets a page of another origin read it") {
    served_world w;
    auto client = client_of(w);
    for (auto const* const origin : {"http://evil.example", "null", "http://127.0.0.1", "http://localhost:1"}) {
        INFO(origin);
        httplib::Request r;
        r.method = "OPTIONS";
        r.path = "/api/v1/registries/main/jobs/settle/trigger";
        r.headers = {{"Origin", origin},
                     {"Access-Control-Request-Method", "POST"},
                     {"Access-Control-Request-Headers", "content-type"}};
        for (auto const& reply :
             {client.send(r), client.Get("/api/v1/me", {{"Origin", origin}}), client.Get("/", {{"Origin", origin}})}) {
            REQUIRE(reply);
            for (auto const& [name, value] : reply->headers)
                CHECK_MESSAGE(name.find("ccess-") == name.npos, (name + ": " + value));
        }
        CHECK(client.send(r)->status >= 400);
    }
}

TEST_CASE("console: a foreign page cannot give a command, add a job or sign a user in") {
    password_file const file;
    auto o = with_passwords(file);
    o.grants = {{"ann", "*", console_role::administrator}};
    served_world w{o};
    auto client = client_of(w);
    auto const cookie = sign_in(client);
    auto const status = [&](std::string const& method, std::string const& path, std::string const& type,
                            httplib::Headers more) {
        httplib::Request r;
        r.method = method;
        r.path = path;
        r.body = "{}";
        r.headers = std::move(more);
        r.headers.emplace("Cookie", cookie);
        if (!type.empty()) r.headers.emplace("Content-Type", type);
        auto const reply = client.send(r);
        REQUIRE(reply);
        return reply->status;
    };
    auto all = w.routes();
    all.push_back({"POST", "session", console_role::none});
    all.push_back({"DELETE", "session", console_role::none});
    for (auto const& route : all) {
        if (route.method == "GET") continue;
        INFO(route.method << " " << route.pattern);
        auto const path = path_with(route.pattern, "settle");
        // Like a form, or like a request that a browser sends without a preflight.
        for (auto const* const type : {"", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data",
                                       "text/plain; application/json"})
            CHECK(status(route.method, path, type, {}) == 415);
        CHECK(status(route.method, path, "application/json", {{"Origin", "http://evil.example"}}) == 403);
        CHECK(status(route.method, path, "application/json", {{"Origin", "null"}}) == 403);
        CHECK(status(route.method, path, "application/json", {{"Sec-Fetch-Site", "cross-site"}}) == 403);
        CHECK(status(route.method, path, "application/json", {{"Sec-Fetch-Site", "same-site"}}) == 403);
        // A foreign host name that resolves to this server.
        CHECK(status(route.method, path, "application/json", {{"Host", "evil.example"}}) == 421);
    }
    // A GET never changes anything.
    for (auto const& route : all)
        if (route.method == "GET") CHECK(route.least == console_role::viewer);
    CHECK(client.Get("/api/v1/me", {{"Cookie", cookie}})->status == 200);
}

TEST_CASE("console: every route of the port requires authentication, and there is one port") {
    auto const listening = [] {
        std::vector<std::string> all;
        for (auto const* const table : {"/proc/self/net/tcp", "/proc/self/net/tcp6"}) {
            std::ifstream in{table};
            for (std::string line; std::getline(in, line);)
                if (line.find(" 0A ") != line.npos) all.push_back(line.substr(line.find(':') + 2, 40));
        }
        return all;
    };
    password_file const file;
    served_world w{with_passwords(file)};
    std::string port = "0000";
    for (int i = 3, rest = w.port(); i >= 0; --i, rest /= 16)
        port[static_cast<std::size_t>(i)] = "0123456789ABCDEF"[rest % 16];
    auto const sockets = listening();
    CHECK(std::count_if(sockets.begin(), sockets.end(),
                        [&](auto const& s) { return s.starts_with("0100007F:" + port); }) == 1);
    CHECK(
        std::none_of(sockets.begin(), sockets.end(), [&](auto const& s) { return s.starts_with("00000000:" + port); }));
    auto client = client_of(w);
    for (auto const& route : w.routes()) {
        INFO(route.method << " " << route.pattern);
        for (auto const* const method : {"GET", "HEAD", "POST", "PUT", "DELETE", "PATCH"}) {
            httplib::Request r;
            r.method = method;
            r.path = path_with(route.pattern, "settle");
            r.headers = {{"Content-Type", "application/json"}};
            CHECK(client.send(r)->status == 401);
        }
    }
    // Extra routes that other consoles offer.
    for (auto const* const path :
         {"/api", "/api/jobs", "/api/registry-center", "/api/v1", "/api/v1/", "/api/v1/registries/main/stream",
          "/api/v1/openapi.json", "/api/v1/registries/main/jobs/settle/configuration/"}) {
        INFO(path);
        CHECK(client.Get(path)->status == 401);
    }
    for (auto const* const path : {"/api;/v1/me", "/API/v1/me", "//api/v1/me", "/v1/me", "/actuator", "/openApi/runJob",
                                   "/run", "/appInfo/list", "/metrics", "/sign-in", "/sign-in/return?code=x&state=y"}) {
        INFO(path);
        auto const status = client.Get(path)->status;
        CHECK((status == 404 || status == 401));
    }
    // A stream needs a role too.
    auto o = with_passwords(file);
    o.grants = {{"bob", "*", console_role::viewer}};
    served_world without{o};
    auto other = client_of(without);
    auto const cookie = sign_in(other);
    CHECK(other.Get("/api/v1/registries/main/stream", {{"Cookie", cookie}})->status == 403);
}

TEST_CASE("console: a stream ends with the session that opened it") {
    password_file const file;
    served_world w{with_passwords(file)};
    auto client = client_of(w);
    auto const cookie = sign_in(client);
    REQUIRE(client.Get("/api/v1/registries/main/jobs", {{"Cookie", cookie}})->status == 200);
    plain_client reader{w.port()};
    reader.say("GET /api/v1/registries/main/stream HTTP/1.1\r\n" + local_host + "Cookie: " + cookie + "\r\n\r\n");
    REQUIRE(reader.hear("retry: 2000\n\n").starts_with("HTTP/1.1 200"));
    REQUIRE(client.Delete("/api/v1/session", {{"Cookie", cookie}})->status == 200);
    w.change();
    CHECK(reader.hear("\n\n").empty());
}

TEST_CASE("console: the server drops a slow reader, and rejects a client beyond the limit") {
    console_options o;
    o.write_timeout = 1s;
    o.read_timeout = 1s; // also for a silent client
    o.connections_max = 3;
    o.streams_max = 1;
    o.body_max = 1'000'000;
    served_world w{o};
    auto const page = client_of(w).Get("/")->body;
    auto const script = page.substr(0, page.find(".js\"") + 3);
    std::string const path = "/" + script.substr(script.rfind('"') + 1);
    REQUIRE(client_of(w).Get(path)->status == 200);
    auto const begin = std::chrono::steady_clock::now();
    {
        plain_client quiet{w.port()}, half{w.port()}, reads_nothing{w.port(), 4'096}, one_more{w.port()};
        half.say("POST /api/v1/session HTTP/1.1\r\n" + local_host +
                 "Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{");
        CHECK(one_more.hear("no end").empty());
        // Answers to pipelined requests, until the server can write no more.
        std::string many;
        for (int n = 0; n < 2'000; ++n) many += "GET " + path + " HTTP/1.1\r\n" + local_host + "\r\n";
        reads_nothing.say(many);
        CHECK(quiet.hear("no end").empty());
        CHECK(half.hear("no end").empty());
        pollfd left{.fd = reads_nothing.socket(), .events = POLLRDHUP, .revents = 0};
        CHECK(::poll(&left, 1, 15'000) == 1);
    }
    CHECK(std::chrono::steady_clock::now() - begin < 20s);
    CHECK(client_of(w).Get("/api/v1/me")->status == 200);
}

TEST_CASE("console: a request beyond the limit of concurrent ones is rejected") {
    private_file const slow{"ann:" + std::string{::crypt("secret", "$6$rounds=300000$salt$")} + "\n"};
    auto o = with_passwords(password_file{});
    o.password_file = slow.path;
    o.requests_max = 1;
    o.threads = 1;
    served_world w{o};
    std::string const body = R"({"operator": "ann", "password": "wrong"})";
    std::string const request = "POST /api/v1/session HTTP/1.1\r\n" + local_host +
                                "Content-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) +
                                "\r\n\r\n" + body;
    plain_client one{w.port()}, other{w.port()};
    one.say(request);
    other.say(request);
    std::vector<std::string> replies{one.hear("\r\n"), other.hear("\r\n")};
    std::sort(replies.begin(), replies.end());
    CHECK(replies[0] == "HTTP/1.1 401 Unauthorized\r\n");
    CHECK(replies[1] == "HTTP/1.1 503 Service Unavailable\r\n");
}
