// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/execution/http_request.hpp>

#include <elasticjob/execution/http_context.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <map>
#include <string>

using namespace elasticjob;
using namespace std::chrono_literals;

namespace {

http_url parsed(std::string const& text) { return http_url::parse(text).value(); }

/// The reported error, or nothing if there is none.
std::string fault(std::string const& url, http_options options = {}) {
    auto const made = http_request::make(url, std::move(options));
    if (made) return "";
    CHECK(made.error() == errc::invalid_argument);
    return made.error().what + " / " + made.error().where;
}
std::string fault_in(http_options options) { return fault("http://h/", std::move(options)); }

bool holds(std::string const& text, std::string const& part) { return text.find(part) != text.npos; }

} // namespace

TEST_CASE("execution.http_url: a URL is split into its parts") {
    auto url = parsed("http://reports.example:8080/run/a%20b?day=1&x=/?");
    CHECK(url.host() == "reports.example");
    CHECK(url.port() == 8080);
    CHECK(url.target() == "/run/a%20b?day=1&x=/?");
    CHECK_FALSE(url.is_https());
    url = parsed("https://h");
    CHECK(url.is_https());
    CHECK(url.port() == 443);
    CHECK(url.target() == "/");
    CHECK(parsed("http://h?q=1").target() == "/?q=1");
    CHECK(parsed("http://h").port() == 80);
    url = parsed("http://[2001:db8::ff]:81/x");
    CHECK(url.host() == "2001:db8::ff");
    CHECK(url.port() == 81);
    CHECK(parsed("http://[::1]").port() == 80);
}

TEST_CASE("execution.http_url: an invalid URL is refused with the reason") {
    for (auto const* const url : {"", "h", "ftp://h/", "http:/h", "//h/"})
        CHECK(holds(fault(url), "must begin with http:// or https://"));
    for (auto const* const url : {"http://", "http:///x", "http://a b/", "http://[::g]/", "http://[]/", "http://h\n/"})
        CHECK(holds(fault(url), "no host"));
    CHECK(holds(fault("http://[::1/x"), "no ]"));
    for (auto const* const url : {"http://h:/", "http://h:0/", "http://h:65536/", "http://h:-1/", "http://h:8x/",
                                  "http://[::1]8/", "http://h:99999999999/"})
        CHECK(holds(fault(url), "no port from 1 to 65535"));
    CHECK(holds(fault("http://user:secret@h/"), "must not hold a user"));
    CHECK(holds(fault("http://h/#part"), "fragment"));
    for (auto const* const url :
         {"http://h/a b", "http://h/\xc3\xa4", "http://h/%2", "http://h/%zz", "http://h/\"", "http://h/\r\nX: y"})
        CHECK(holds(fault(url), "written as %xx"));
    CHECK(holds(fault("http://h/" + std::string(http_url::length_max, 'a')), "at most 4096"));
}

TEST_CASE("execution.http_url: a refused URL is shown without its secrets") {
    for (auto const* const url : {"http://user:secret@h/", "https://secret@h:0/a?b", "http://u:secret/?#@h/",
                                  "user:secret@h/", "ftp://u:secret@h/", "http://h/a b?key=secret", "http://h/#secret",
                                  "http://u:a@secret@h/", "u:secret://x@h/"}) {
        auto const no = http_request::make(url);
        REQUIRE_FALSE(no);
        CAPTURE(to_string(no.error()));
        CHECK_FALSE(holds(to_string(no.error()), "secret"));
        CHECK(holds(no.error().where, "h"));
    }
    CHECK(http_request::make("http://user:pw@h:81/a?b").error().where == "'http://...@h:81/a?...'");
    auto const away = parsed("http://h/").redirected("http://g/a?token=secret");
    REQUIRE_FALSE(away);
    CHECK(away.error().where == "'http://g/a?...'");
}

TEST_CASE("execution.http_url: the server, as a request names it") {
    CHECK(parsed("http://h/").authority() == "h");
    CHECK(parsed("http://h:443/").authority() == "h:443");
    CHECK(parsed("http://[::1]:81/").authority() == "[::1]:81");
}

TEST_CASE("execution.http_url: a redirect may be relative") {
    auto const url = parsed("http://a/b/c/d;p?q"); // the examples of RFC 3986, section 5.4
    std::map<std::string, std::string> const meant{
        {"g", "/b/c/g"},        {"./g", "/b/c/g"},      {"g/", "/b/c/g/"},      {"/g", "/g"},
        {"?y", "/b/c/d;p?y"},   {"g?y", "/b/c/g?y"},    {"#s", "/b/c/d;p?q"},   {"g#s", "/b/c/g"},
        {"g?y#s", "/b/c/g?y"},  {";x", "/b/c/;x"},      {"g;x", "/b/c/g;x"},    {"", "/b/c/d;p?q"},
        {".", "/b/c/"},         {"./", "/b/c/"},        {"..", "/b/"},          {"../", "/b/"},
        {"../g", "/b/g"},       {"../..", "/"},         {"../../", "/"},        {"../../g", "/g"},
        {"../../../g", "/g"},   {"/./g", "/g"},         {"/../g", "/g"},        {"g.", "/b/c/g."},
        {".g", "/b/c/.g"},      {"g..", "/b/c/g.."},    {"..g", "/b/c/..g"},    {"./../g", "/b/g"},
        {"./g/.", "/b/c/g/"},   {"g/./h", "/b/c/g/h"},  {"g/../h", "/b/c/h"},   {"g;x=1/../y", "/b/c/y"},
        {"g?y/./x", "/b/c/g?y/./x"}, {"g?y/../x", "/b/c/g?y/../x"}, {"g?http://b/", "/b/c/g?http://b/"}};
    for (auto const& [location, target] : meant) {
        CAPTURE(location);
        CHECK(url.redirected(location).value().target() == target);
    }
    CHECK(parsed("http://a").redirected("g").value().target() == "/g");
    CHECK(parsed("http://a/?b/c").redirected("g").value().target() == "/g");
}

TEST_CASE("execution.http_url: a redirect stays with its server") {
    auto const url = parsed("http://h:81/a?b");
    CHECK(url.redirected("/c?d").value().target() == "/c?d");
    CHECK(url.redirected("http://h:81/e").value().target() == "/e");
    CHECK(parsed("http://[::1]/").redirected("/f").value().host() == "::1");
    CHECK(parsed("http://H/a").redirected("http://h:80/e").value().target() == "/e");
    CHECK(url.redirected("HTTP://H:81/E#F").value().target() == "/E");
    CHECK(url.redirected("//h:81/e").value().target() == "/e");
    for (auto const* const elsewhere :
         {"http://h/e", "http://g:81/", "https://h:81/", "//g/", "//h/", "/a b", "ftp://h:81/", "mailto:a"}) {
        auto const next = url.redirected(elsewhere);
        REQUIRE_FALSE(next);
        CHECK(next.error() == errc::invalid_argument);
    }
}

TEST_CASE("execution.http_request: a request that cannot be sent is refused before anything is sent") {
    CHECK(fault_in({}).empty());
    CHECK(fault_in({.method = "PUT", .headers = {{"X-Key", "a b"}, {"Empty", ""}}, .body = "b", .redirects_max = 20})
              .empty());
    CHECK(holds(fault_in({.method = "post"}), "method"));
    CHECK(holds(fault_in({.method = "GET /x HTTP/1.1\r\n"}), "method"));
    CHECK(holds(fault_in({.method = "GET", .body = "b"}), "body"));
    CHECK(holds(fault_in({.headers = {{"", "v"}}}), "no name"));
    CHECK(holds(fault_in({.headers = {{"a:b", "v"}}}), "no name"));
    CHECK(holds(fault_in({.headers = {{"a", "v\r\nHost: other"}}}), "control"));
    CHECK(holds(fault_in({.headers = {{"a", " v"}}}), "blanks"));
    CHECK(fault_in({.headers = {{"a", std::string(65'000, 'v')}}}).empty());
    CHECK(holds(fault_in({.headers = {{"a", std::string(65'001, 'v')}}}),
                "the value of 'a' must have at most 65000 bytes"));
    CHECK(holds(fault_in({.headers = {{std::string(65'001, 'a'), "v"}}}), "the name 'aaa"));
    for (auto const* const ours : {"Host", "content-LENGTH", "Transfer-Encoding", "Connection", "elasticjob-Token"})
        CHECK(holds(fault_in({.headers = {{ours, "v"}}}), "written by the library"));
    CHECK(holds(fault_in({.connect_timeout = 0ms}), "connect_timeout"));
    CHECK(holds(fault_in({.timeout = -1ms}), "timeout"));
    CHECK(holds(fault_in({.timeout = 25h}), "timeout"));
    CHECK(holds(fault_in({.head_max = 255}), "head_max"));
    CHECK(holds(fault_in({.head_max = 65'537}), "head_max"));
    CHECK(holds(fault_in({.headers_max = 0}), "headers_max"));
    CHECK(holds(fault_in({.success = {}}), "success"));
    CHECK(holds(fault_in({.success = {{300, 200}}}), "success"));
    CHECK(holds(fault_in({.success = {{99, 200}}}), "success"));
    CHECK(holds(fault_in({.redirects_max = 21}), "redirects_max"));
    CHECK(holds(fault_in({.redirects_max = -1}), "redirects_max"));
}

TEST_CASE("execution.http_request: https works with OpenSSL, and the error is clear without it") {
    auto const said = fault("https://h/");
    CHECK(said.empty() == has_https);
    CHECK(holds(said, "ELASTICJOB_HTTPS") == !has_https);
}

TEST_CASE("execution.http_request: which status codes mean success") {
    auto const usual = http_request::make("http://h/").value();
    CHECK(usual.is_success(200));
    CHECK(usual.is_success(299));
    CHECK_FALSE(usual.is_success(199));
    CHECK_FALSE(usual.is_success(300));
    auto const own = http_request::make("http://h/", {.success = {{204, 204}, {404, 410}}}).value();
    CHECK(own.is_success(204));
    CHECK(own.is_success(410));
    CHECK_FALSE(own.is_success(200));
}

TEST_CASE("execution.http_context: the run, in headers") {
    sharding_context ctx;
    ctx.job_name = "settle";
    ctx.task_id = "t";
    ctx.sharding_total_count = 2;
    ctx.item = 1;
    ctx.parameter = "\xe4\xba\xac \xf0\x9f\x98\x80 \x7f \xff";
    ctx.due = wall_time{1'767'225'600'123ms};
    ctx.source = run_source::failover;
    ctx.attempt = 2;
    ctx.token = 77;
    CHECK(http_run_headers(ctx).value() ==
          http_headers{{"Elasticjob-Context",
                        R"({"jobName":"settle","taskId":"t","shardingTotalCount":2,"jobParameter":"","shardingItem":1,)"
                        R"("shardingParameter":"\u4eac \ud83d\ude00 \u007f \ufffd"})"},
                       {"Elasticjob-Due", "1767225600123"},
                       {"Elasticjob-Source", "failover"},
                       {"Elasticjob-Attempt", "2"},
                       {"Elasticjob-Token", "77"}});
    ctx.job_parameter = std::string(6'000, 'p');
    auto const too_long = http_run_headers(ctx);
    REQUIRE_FALSE(too_long);
    CHECK(too_long.error() == errc::too_large);
}
