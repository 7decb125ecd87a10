// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/console/access.hpp>
#include <elasticjob/console/browser_rules.hpp>
#include <elasticjob/console/call.hpp>
#include <elasticjob/console/change_log.hpp>
#include <elasticjob/console/loopback.hpp>
#include <elasticjob/console/message.hpp>

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

using namespace elasticjob;
using namespace elasticjob::detail;

namespace {

using strings = std::vector<std::string>;

console_request request(std::string_view method, std::string_view target, text_pairs headers = {}) {
    console_request r;
    r.method = method;
    r.headers = std::move(headers);
    REQUIRE(read_target(target, r));
    return r;
}

int intrusion(std::string_view method, text_pairs headers, console_options o = {}) {
    o.host_names = {"Jobs.example"};
    auto const refused = find_intrusion(request(method, "/api/v1/me", std::move(headers)), o);
    return refused ? refused->status : 0;
}

} // namespace

TEST_CASE("console.message: paths and queries are decoded") {
    auto const r = request("GET", "/api/v1/registries/main/jobs/a%20b?name=x%2By&limit=7&empty=&alone&plus=a+b");
    CHECK(r.path == strings{"api", "v1", "registries", "main", "jobs", "a b"});
    CHECK(r.parameter("name") == "x+y");
    CHECK(r.parameter("plus") == "a b");
    CHECK(r.parameter("alone").empty());
    CHECK(r.number("limit", 1, 9).value() == 7U);
    CHECK_FALSE(r.number("missing", 1, 9).value());
    CHECK(r.number("limit", 1, 6).error() == errc::invalid_argument);
    CHECK(r.number("name", 1, 6).error() == errc::invalid_argument);
    CHECK(request("GET", "/").path.empty());
    CHECK(request("GET", "/a/?").path == strings{"a"});
    for (std::string_view const target : {"", "api", "http://x/", "/a%2", "/a%zz", "/a%00", "/a%2Fb", "/a/../b",
                                          "/%2e%2e/b", "/./a", "/a%ff", "/?a=%0a", "/\x7f"}) {
        INFO(target);
        console_request bad;
        CHECK_FALSE(read_target(target, bad));
    }
}

TEST_CASE("console.message: errors become problems") {
    auto const p = problem({errc::no_node, "there is no job of that name", "/settle"});
    CHECK(p.status == 404);
    CHECK(p.content_type == "application/problem+json");
    CHECK(p.body == R"({"type":"about:blank","title":"no_node","status":404,"code":"no_node",)"
                    R"("detail":"there is no job of that name","where":"/settle"})");
    CHECK(problem({errc::version_conflict, ""}, 412).status == 412);
    CHECK(status_of(errc::unreachable) == 503);
    CHECK(status_of(errc::invalid_cron) == 422);
}

TEST_CASE("console.access: only grants allow anything") {
    CHECK(matches_glob("*", ""));
    CHECK(matches_glob("billing-*", "billing-eu"));
    CHECK(matches_glob("*-eu*", "billing-eu-1"));
    CHECK(matches_glob("a?c", "abc"));
    CHECK(matches_glob("*a*a*", "banana"));
    CHECK_FALSE(matches_glob("a?c", "ac"));
    CHECK_FALSE(matches_glob("billing-*", "settle"));
    CHECK_FALSE(matches_glob("", "x"));

    std::vector<console_grant> const grants{{"*", "*", console_role::viewer},
                                            {"ann", "billing-*", console_role::operator_},
                                            {"root", "*", console_role::administrator}};
    console_rights const ann{grants, "ann"}, root{grants, "root"}, nobody{{{"bob", "*", console_role::viewer}}, "eve"};
    CHECK(ann.in_job("billing-eu") == console_role::operator_);
    CHECK(ann.in_job("settle") == console_role::viewer);
    CHECK(ann.in_all_jobs() == console_role::viewer);
    CHECK(ann.somewhere() == console_role::operator_);
    CHECK(root.in_all_jobs() == console_role::administrator);
    CHECK(nobody.somewhere() == console_role::none);
}

TEST_CASE("console.call: patterns match only paths of their length, and a role is the one in the job") {
    auto const at = match_pattern("registries/{registry}/jobs/{job}", {"registries", "main", "jobs", "settle"});
    REQUIRE(at);
    CHECK(find_text(*at, "registry") == "main");
    CHECK(find_text(*at, "job") == "settle");
    CHECK_FALSE(match_pattern("jobs/{job}", {"jobs"}));
    CHECK_FALSE(match_pattern("jobs/{job}", {"jobs", "settle", "items"}));
    CHECK_FALSE(match_pattern("jobs", {"job"}));
    CHECK_FALSE(match_pattern("jobs", {}));

    std::vector<console_grant> const grants{{"*", "billing-*", console_role::operator_}};
    console_operator const ann{"ann", {grants, "ann"}};
    console_request const r;
    auto const allowed = [&](console_route_shape const& route, text_pairs parameters) {
        return console_call{r, ann, std::move(parameters)}.is_allowed(route);
    };
    CHECK(allowed({"POST", "jobs/{job}/trigger", console_role::operator_}, {{"job", "billing-eu"}}));
    CHECK_FALSE(allowed({"POST", "jobs/{job}/trigger", console_role::operator_}, {{"job", "settle"}}));
    CHECK_FALSE(allowed({"PUT", "jobs/{job}/configuration", console_role::administrator}, {{"job", "billing-eu"}}));
    CHECK(allowed({"GET", "jobs", console_role::viewer}, {}));
    CHECK_FALSE(allowed({"POST", "servers/{server}/disable", console_role::operator_}, {{"server", "10.0.0.1"}}));
}

TEST_CASE("console.browser_rules: accepts only its own names, its own pages and JSON") {
    CHECK(is_loopback("127.0.0.1"));
    CHECK(is_loopback("127.1.2.3"));
    CHECK(is_loopback("::1"));
    CHECK(is_loopback("::ffff:127.0.0.1"));
    CHECK_FALSE(is_loopback("127.evil.example"));
    CHECK_FALSE(is_loopback("10.0.0.1"));
    CHECK_FALSE(is_loopback(""));

    CHECK(intrusion("GET", {{"host", "127.0.0.1:8899"}}) == 0);
    CHECK(intrusion("GET", {{"host", "localhost"}}) == 0);
    CHECK(intrusion("GET", {{"host", "[::1]:8899"}}) == 0);
    CHECK(intrusion("GET", {{"host", "jobs.EXAMPLE:80"}}) == 0);
    CHECK(intrusion("GET", {{"host", "evil.example"}}) == 421);
    CHECK(intrusion("GET", {{"host", "127.0.0.1.evil.example"}}) == 421);
    for (auto const* const host : {"[localhost]evil.example", "[127.0.0.1]evil.example:8899", "[localhost", "["})
        CHECK(intrusion("GET", {{"host", host}}) == 421);
    console_options elsewhere;
    elsewhere.address = "10.0.0.1";
    CHECK(intrusion("GET", {{"host", "127.0.0.1"}}, elsewhere) == 421);
    CHECK(intrusion("GET", {}) == 421);

    text_pairs const post{{"host", "localhost:1"}, {"content-type", "application/json; charset=utf-8"}};
    auto const with = [&](char const* name, char const* value) {
        auto all = post;
        all.emplace_back(name, value);
        return intrusion("POST", all);
    };
    CHECK(intrusion("POST", post) == 0);
    CHECK(with("origin", "http://localhost:1") == 0);
    CHECK(with("origin", "http://localhost:2") == 403);
    CHECK(with("origin", "null") == 403);
    console_options secured;
    secured.certificate_file = "certificate.pem";
    auto headers = post;
    headers.emplace_back("origin", "http://localhost:1");
    CHECK(intrusion("POST", headers, secured) == 403);
    headers.back().second = "https://localhost:1";
    CHECK(intrusion("POST", headers, secured) == 0);
    CHECK(intrusion("POST", headers) == 0); // a proxy may speak TLS
    CHECK(with("sec-fetch-site", "same-origin") == 0);
    CHECK(with("sec-fetch-site", "same-site") == 403);
    CHECK(with("sec-fetch-site", "cross-site") == 403);
    CHECK(intrusion("POST", {{"host", "localhost:1"}}) == 0); // without a body there is no JSON to check
    CHECK(intrusion("POST", {{"host", "localhost:1"}, {"origin", "null"}}) == 403);
    CHECK(intrusion("POST", {{"host", "localhost:1"}, {"origin", "http://evil.example"}}) == 403);
    CHECK(intrusion("POST", {{"host", "localhost:1"}, {"content-type", "text/plain"}}) == 415);
    CHECK(intrusion("POST", {{"host", "localhost:1"}, {"content-type", "Application/JSON ; charset=utf-8"}}) == 0);
    CHECK(intrusion("DELETE", {{"host", "localhost:1"}}) == 0);

    console_reply reply;
    reply.headers.emplace_back("Cache-Control", "no-cache");
    add_browser_headers(reply, false);
    CHECK(find_text(reply.headers, "Cache-Control") == "no-cache");
    CHECK(find_text(reply.headers, "Content-Security-Policy").starts_with("default-src 'none'"));
    CHECK(find_text(reply.headers, "Access-Control-Allow-Origin").empty());
    CHECK(find_text(reply.headers, "Strict-Transport-Security").empty());
    add_browser_headers(reply, true);
    CHECK(find_text(reply.headers, "Strict-Transport-Security") == "max-age=31536000");
}

TEST_CASE("console.change_log: a reader continues where it was, or starts anew") {
    change_log log{"abc"};
    struct counter : detail::log_listener {
        counter() : detail::log_listener{&count_one} {}
        static void count_one(detail::log_listener& self) noexcept { ++static_cast<counter&>(self).count; }
        int count = 0;
    } told;
    log.follow(&told);
    auto const begin = log.last();
    log.add("settle");
    log.add("load");
    log.add("settle");
    CHECK(told.count == 3);
    auto const news = log.after(begin);
    CHECK(news.jobs == strings{"load", "settle"});
    CHECK_FALSE(news.is_reset);
    CHECK(log.after(news.last).jobs.empty());
    CHECK(log.number_of(log.id_of(news.last)) == news.last);
    CHECK(log.number_of("other-1") == 0);
    CHECK(log.number_of("") == 0);
    CHECK(log.number_of("abc-999999") == news.last);
    CHECK(log.after(0).is_reset);
    for (std::size_t n = 0; n < change_log::changes_max; ++n) log.add("load");
    CHECK(log.after(news.last).jobs == strings{"load"});
    log.add("load");
    CHECK(log.after(news.last).is_reset);
    log.reset();
    CHECK(log.after(log.last() - 1).is_reset);
}
