// SPDX-License-Identifier: Apache-2.0
// Security holes that other consoles had: each test shows that this interface does not have one of them.
// server_holes_test.cpp tests the server.
#include <console/console_world.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <string>
#include <string_view>
#include <vector>

using namespace elasticjob;
using namespace elasticjob::test;
using namespace std::chrono_literals;

namespace {

std::string const here = "registries/main/";

/// The path of a route with a value for each parameter.
std::string path_of(console_world const& w, route const& route, std::string const& job) {
    auto path = route.pattern;
    auto const put = [&](std::string const& name, std::string const& value) {
        if (auto const at = path.find("{" + name + "}"); at != path.npos) path.replace(at, name.size() + 2, value);
    };
    put("registry", "main");
    put("database", "events");
    put("job", job);
    put("item", "0");
    put("server", w.m.ip);
    put("instance", w.m.id(job));
    put("due", "2026-01-01T00:00:00Z");
    REQUIRE_MESSAGE(path.find('{') == path.npos, path);
    return path;
}

/// A database with rows of two jobs.
struct scripted_database {
    template <class Row>
    static result<history_page<Row>> rows_for(history_query const& q) {
        history_page<Row> page;
        for (auto const* const job : {"settle", "billing-eu"}) {
            if (!q.job.empty() && q.job != job) continue;
            Row row;
            row.job = job;
            page.rows.push_back(row);
        }
        return page;
    }
    result<history_page<execution_row>> executions(history_query const& q) { return rows_for<execution_row>(q); }
    result<history_page<state_row>> states(history_query const& q) { return rows_for<state_row>(q); }
};

/// Two jobs with failures and commands, and operators that a proxy names.
struct guarded_world : console_world {
    guarded_world() : console_world{{console_database{"events", scripted_database{}}}} {
        m.body = [](sharding_context const&) -> result<void> { return error{errc::job_failed, "out of paper"}; };
        REQUIRE(m.schedule(make_job("billing-eu", "0 0 * * * ?", 1)));
        c.run_for(2h);
        for (auto const* const job : {"settle", "billing-eu"})
            REQUIRE(post(here + "jobs/" + job + "/pause").status == 200);
        options.authentication = console_authentication::proxy;
        options.proxies = {"127.0.0.1"};
        options.grants = {{"viewer", "settle", console_role::viewer},
                          {"operator", "settle", console_role::operator_},
                          {"administrator", "settle", console_role::administrator},
                          {"neighbour", "billing-*", console_role::administrator},
                          {"reader", "*", console_role::viewer},
                          {"everywhere", "*", console_role::operator_},
                          {"root", "*", console_role::administrator}};
    }
    told as(std::string const& who, route const& one, std::string const& job = "settle") {
        return send(one.method, path_of(*this, one, job), one.method == "GET" ? "" : "{}", {{"x-remote-user", who}});
    }
};

bool has_job(route const& route) { return route.pattern.find("{job}") != route.pattern.npos; }

/// The routes that concern only a whole registry.
bool needs_all_jobs(route const& route) { return !has_job(route) && route.least > console_role::viewer; }

} // namespace

TEST_CASE("console: no route is open to a client that has not signed in or has no role") {
    guarded_world w;
    REQUIRE(w.routes().size() > 40);
    for (auto const& route : w.routes()) {
        INFO(route.method << " " << route.pattern);
        CHECK(route.least >= console_role::viewer);
        CHECK(w.send(route.method, path_of(w, route, "settle"), "{}").status == 401);
        CHECK(w.send(route.method, path_of(w, route, "settle"), "{}", {{"x-remote-user", ""}}).status == 401);
        CHECK(w.as("nobody", route).status == 403);
    }
}

TEST_CASE("console: every route requires the role in its own job, and a role in another job does not help") {
    guarded_world w;
    constexpr std::array roles{console_role::viewer, console_role::operator_, console_role::administrator};
    for (auto const& route : w.routes()) {
        INFO(route.method << " " << route.pattern);
        auto const is_refused = [&](std::string const& who) { return w.as(who, route).status == 403; };
        if (has_job(route)) {
            for (auto const role : roles) {
                INFO(name_of(role));
                if (role < route.least) CHECK(is_refused(std::string{name_of(role)}));
            }
            CHECK(is_refused("neighbour"));
        } else if (needs_all_jobs(route)) {
            for (auto const* const who : {"viewer", "operator", "administrator", "neighbour", "reader"})
                CHECK(is_refused(who));
            if (route.least == console_role::administrator) CHECK(is_refused("everywhere"));
        }
    }
    // A client with the role gets in. Removing commands come last.
    auto all = w.routes();
    std::stable_sort(all.begin(), all.end(), [](auto const& a, auto const& b) { return a.least < b.least; });
    for (auto const& route : all) {
        if (route.pattern.starts_with("databases/") || route.pattern.ends_with("/executions")) continue; // need a job
        INFO(route.method << " " << route.pattern);
        auto const who = needs_all_jobs(route) ? (route.least == console_role::operator_ ? "everywhere" : "root")
                                               : std::string{name_of(route.least)};
        auto const status = w.as(who, route).status;
        CHECK(status != 401);
        CHECK(status != 403);
    }
}

TEST_CASE("console: a list contains nothing about jobs that its reader may not see") {
    guarded_world w;
    for (auto const& route : w.routes()) {
        if (route.method != "GET" || has_job(route)) continue;
        INFO(route.pattern);
        auto const everything = w.as("reader", route);
        auto const own = w.as("neighbour", route);
        CHECK_MESSAGE(own.body.find("settle") == own.body.npos, own.body);
        if (everything.body.find("settle") != everything.body.npos && own.status == 200)
            CHECK_MESSAGE(own.body.find("billing-eu") != own.body.npos, own.body);
    }
    // Nor do filters, drafts, databases and servers reveal them.
    auto const ask = [&](std::string_view method, std::string const& target, std::string body = {}) {
        return w.send(method, target, std::move(body), {{"x-remote-user", "neighbour"}});
    };
    CHECK(ask("GET", here + "jobs?name=settle").text("total") == "0");
    CHECK(ask("GET", here + "dead-letters?job=settle").rows() == 0);
    CHECK(ask("GET", here + "dead-letters?job=billing").rows() > 0);
    CHECK(ask("GET", here + "audit?job=settle").rows() == 0);
    CHECK(ask("GET", here + "audit").rows() > 0);
    CHECK(ask("GET", here + "upcoming?name=settle").rows() == 0);
    CHECK(ask("GET", "databases/events/executions").status == 403);
    CHECK(ask("GET", "databases/events/states?job=settle").status == 403);
    CHECK(ask("GET", "databases/events/executions?job=billing-eu").rows() == 1);
    CHECK(ask("POST", here + "check", R"({"name": "settle", "cron": "@daily"})").status == 403);
    CHECK(ask("POST", here + "check", R"({"name": "billing-us", "cron": "@daily"})").status == 200);
    CHECK(ask("PUT", here + "jobs/billing-eu/configuration", R"({"name": "settle", "cron": "@daily"})").status != 200);
    w.options.grants = {{"neighbour", "payroll", console_role::viewer}};
    CHECK(ask("GET", here + "servers/" + w.m.ip).status == ask("GET", here + "servers/10.9.9.9").status);
    CHECK(ask("GET", here + "servers").rows() == 0);
}

TEST_CASE("console: the server checks roles, whatever the page shows") {
    guarded_world w;
    auto const verbs = [&](std::string const& who) {
        return w.send("GET", "me", {}, {{"x-remote-user", who}}).json["verbs"].Size();
    };
    CHECK(verbs("viewer") == 1);
    CHECK(verbs("operator") == 2);
    CHECK(verbs("administrator") == 4);
    // A client's claims about itself are ignored.
    for (auto const& [name, value] : detail::text_pairs{{"x-role", "administrator"},
                                                        {"x-remote-role", "administrator"},
                                                        {"x-operator", "root"},
                                                        {"authorization", "Basic cm9vdDpyb290"},
                                                        {"cookie", "operator=root; role=administrator"}}) {
        INFO(name);
        CHECK(w.send("POST", here + "jobs/settle/remove?operator=root&role=administrator",
                     R"({"operator": "root", "role": "administrator"})", {{"x-remote-user", "viewer"}, {name, value}})
                  .status == 403);
    }
    // The refused commands name only this operator.
    auto const done = w.send("POST", here + "jobs/settle/resume", R"({"operator": "root"})",
                             {{"x-remote-user", "operator"}, {"x-operator", "root"}});
    REQUIRE(done.status == 200);
    auto const audit = w.send("GET", here + "audit?verb=resume", {}, {{"x-remote-user", "reader"}});
    CHECK(audit.in_row(0, "operator") == "operator");
}

TEST_CASE("console: an empty token, a default account or an old token gives no access") {
    guarded_world w;
    w.options.authentication = console_authentication::password;
    for (auto const* const cookie : {"", "elasticjob-session", "elasticjob-session=", "elasticjob-session=;",
                                     "elasticjob-session=null", "elasticjob-session=default_token",
                                     "accessToken=", "elasticjob-session=0000000000000000000000000000000000"}) {
        INFO(cookie);
        CHECK(w.send("GET", "me", {}, {{"cookie", cookie}, {"x-remote-user", "root"}}).status == 401);
    }
    for (auto const* const header : {"xxl-job-access-token", "access-token", "x-access-token", "authorization"}) {
        INFO(header);
        for (auto const* const value : {"", "default_token", "Bearer ", "Basic cm9vdDpyb290"})
            CHECK(w.send("GET", "me", {}, {{header, value}}).status == 401);
    }
    CHECK(console_options{}.grants.empty());
    CHECK(console_options{}.address == "127.0.0.1");
    // Without a password file there is no account, not even an empty one.
    for (auto const* const body :
         {R"({"operator": "root", "password": "root"})", R"({"operator": "guest", "password": "guest"})",
          R"({"operator": "admin", "password": "123456"})"})
        CHECK(w.send("POST", "session", body).status == 503);
    CHECK(w.send("POST", "session", R"({"operator": "root", "password": ""})").status == 422);
    CHECK(w.send("POST", "session", R"({"operator": "", "password": ""})").status == 422);
}

TEST_CASE("console: an operator's reads change nothing for another operator") {
    guarded_world w;
    auto const jobs = [&](std::string const& who, std::string const& query) {
        return w.send("GET", here + "jobs" + query, {}, {{"x-remote-user", who}}).body;
    };
    auto const before = jobs("reader", "");
    (void)jobs("root", "?name=billing&sort=-name&limit=1");
    (void)w.send("GET", "registries/other/jobs", {}, {{"x-remote-user", "root"}});
    (void)w.send("GET", "databases/events/executions?job=settle", {}, {{"x-remote-user", "root"}});
    CHECK(jobs("reader", "") == before);
}

TEST_CASE("console: an error is one sentence of this program, without files, types or stack traces") {
    guarded_world w;
    std::vector<std::string> bodies{"",    "[", "{", "{\"cron\": {}}", std::string(5'000, '['), "{\"a\":\"\\ud800\"}",
                                    "null"};
    for (auto const& route : w.routes()) {
        INFO(route.method << " " << route.pattern);
        auto path = path_of(w, route, "settle");
        for (auto const& body : bodies)
            for (auto const* const query : {"", "?limit=-1&first=x&after=%27%22&sort=%3Cscript%3E&instant=x&from=x"}) {
                auto const reply =
                    w.send(route.method, path + query, body, {{"x-remote-user", "root"}, {"if-match", "\"x\""}});
                CHECK(reply.status < 600);
                for (auto const* const trace :
                     {".hpp", ".ipp", ".cpp", "std::", "elasticjob::", "0x", "what():", "terminate", "#0", " at line "})
                    CHECK_MESSAGE(reply.body.find(trace) == reply.body.npos, reply.body);
                if (reply.status >= 400) CHECK_MESSAGE(reply.text("code") == reply.text("title"), reply.body);
            }
        w.c.run_for(1s);
    }
}
