// SPDX-License-Identifier: Apache-2.0
#include <console/java_answers.hpp>

#include <elasticjob/config/json_codec.hpp>
#include <elasticjob/console/java_rows.hpp>
#include <elasticjob/cron/time_zone.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

using namespace elasticjob;
using namespace elasticjob::test;

namespace {

using strings = std::vector<std::string>;

/// An answer that differs from that of 2.1.5, and the reason.
struct deviation {
    std::string request; ///< `METHOD TARGET`, and `#2` if it is the second such request in its state
    int status;
    std::string answer; ///< JSON; or a part of the detail of a problem
    char const* why;
};
using deviations = std::vector<deviation>;

char const* const unknown = "2.1.5 does nothing, or creates a node, for a name that is not there";
char const* const refused = "2.1.5 answers every error with 500 and a stack trace";
char const* const choice =
    "registries are chosen where the console is started, and addresses and digests are not shown";
char const* const all_items = "2.1.5 lists the nodes that are there, this console the items of the configuration";
char const* const living = "2.1.5 removes what is alive, without saying so";
char const* const unchecked = "2.1.5 stores what no member can use";

std::string const registries = R"([{"name":"main","namespace":"billing","activated":true}])";

std::string unowned(int count) {
    std::string all;
    for (int i = 0; i < count; ++i)
        all += (i == 0 ? R"({"item":)" : R"(,{"item":)") + std::to_string(i) +
               R"(,"status":"SHARDING_FLAG","failover":false})";
    return "[" + all + "]";
}

/// The JSON of a recorded answer without the last row.
std::string without_last_row(std::string text) { return text.erase(text.rfind(",{")) + "]"; }

java_answer const& recorded(std::string const& state, std::string const& target) {
    auto const& all = java_answers().at(state).answers;
    auto const there = std::find_if(all.begin(), all.end(), [&](auto const& a) { return a.target == target; });
    REQUIRE_MESSAGE(there != all.end(), target);
    return *there;
}

class java_world : public console_world {
public:
    java_world() : console_world({}, false) { options.has_java_interface = true; }
    explicit java_world(std::string const& state) : java_world() { add(state); }

    void add(std::string const& state) {
        for (auto const& [path, data] : java_answers().at(state).nodes) c.create(path, data);
        c.run_for(1s);
    }

    told ask(std::string const& method, std::string const& target, std::string const& body = {},
             std::string const& who = {}) {
        auto t = send_to(method, target, body,
                         who.empty() ? detail::text_pairs{} : detail::text_pairs{{"x-remote-user", who}});
        c.run_for(1s);
        return t;
    }

    /// All nodes that members of 2.1.5 know.
    node_texts nodes() const {
        node_texts all;
        c.server.tree().for_each([&](std::string const& path, node const& n) {
            if (path.find("/ext", 1) == path.npos) all[path] = n.data;
        });
        return all;
    }
};

/// A request's effect on the nodes, as lines. A configuration is shown by its fields, whose order differs from 2.1.5.
std::set<std::string> effect_of(node_texts const& written, strings const& removed) {
    std::set<std::string> all;
    for (auto const& [path, data] : written) {
        auto text = data;
        if (path.ends_with("/config")) {
            auto const config = from_json(data);
            REQUIRE_MESSAGE((config && *config), data);
            text = to_json(**config);
        }
        all.insert("writes " + path + " " + text);
    }
    for (auto const& path : removed) all.insert("removes " + path);
    return all;
}

std::set<std::string> effect_between(node_texts const& before, node_texts const& after) {
    node_texts written;
    strings removed;
    for (auto const& [path, data] : after)
        if (auto const there = before.find(path); there == before.end() || there->second != data) written[path] = data;
    for (auto const& [path, data] : before)
        if (!after.contains(path)) removed.push_back(path);
    return effect_of(written, removed);
}

std::string difference_of_answers(java_answer const& theirs, told const& ours) {
    if (theirs.status != ours.status) return "status " + std::to_string(ours.status) + ": " + ours.body;
    if (theirs.status == 204) return ours.body;
    if (theirs.type != ours.type) return "type " + ours.type;
    return difference(theirs.text, ours.body);
}

/// Sends the recorded requests of a state. The answers and effects must be those of 2.1.5, except for the listed
/// differences.
void replay(std::string const& state, deviations expected = {}) {
    java_world w{state};
    std::map<std::string, int> counts;
    for (auto const& theirs : java_answers().at(state).answers) {
        auto request = theirs.method + " " + theirs.target;
        if (auto const n = ++counts[request]; n > 1) request += "#" + std::to_string(n);
        INFO(state, ": ", request, " ", theirs.body);
        auto const before = w.nodes();
        auto const ours = w.ask(theirs.method, theirs.target, theirs.body);
        auto const there =
            std::find_if(expected.begin(), expected.end(), [&](auto const& d) { return d.request == request; });
        if (there == expected.end()) {
            CHECK(difference_of_answers(theirs, ours) == "");
            auto removed = theirs.removed; // a job's tombstone, audit trail and root stay
            std::erase_if(removed, [&](auto const& path) { return w.c.has(path + "/ext/removed"); });
            CHECK(effect_between(before, w.nodes()) == effect_of(theirs.written, removed));
            continue;
        }
        INFO(std::string{there->why});
        CHECK(difference_of_answers(theirs, ours) != "");
        CHECK(ours.status == there->status);
        if (there->status == 200) {
            CHECK(difference(there->answer, ours.body) == "");
        } else {
            CHECK(ours.type == "application/problem+json");
            CHECK_MESSAGE(ours.text("detail").find(there->answer) != std::string::npos, ours.body);
            CHECK(w.nodes() == before);
        }
        expected.erase(there);
    }
    for (auto const& d : expected) FAIL_CHECK("not asked: ", d.request);
}

} // namespace

TEST_CASE("console.java_interface: is absent by default") {
    console_world w;
    CHECK(w.send_to("GET", "/api/jobs").status == 404);
    w.options.has_java_interface = true;
    CHECK(w.send_to("GET", "/api/jobs").status == 200);
}

TEST_CASE("console.java_interface: every route has a recorded answer") {
    std::set<std::string> missing;
    for (auto const& route : console_world::java_routes()) {
        bool is_asked = false;
        for (auto const& [name, state] : java_answers())
            for (auto const& a : state.answers) {
                detail::console_request r;
                REQUIRE(detail::read_target(a.target, r));
                is_asked |=
                    a.method == route.method && detail::match_pattern("api/" + std::string{route.pattern}, r.path);
            }
        if (!is_asked) missing.insert(std::string{route.method} + " " + std::string{route.pattern});
    }
    CHECK(missing == std::set<std::string>{});
    CHECK(console_world::java_routes().size() == 36);
}

TEST_CASE("console.java_interface: a console without jobs and databases") {
    replay("nothing", {{"GET /api/registry-center/activated", 200, "true", choice},
                       {"GET /api/registry-center", 200, registries, choice},
                       {"GET /api/jobs", 200, "[]", choice},
                       {"GET /api/jobs/count", 200, "0", choice},
                       {"GET /api/servers", 200, "[]", choice}});
}

TEST_CASE("console.java_interface: clients cannot choose registries") {
    replay("choices", {{"POST /api/registry-center", 403, "where the console is started", choice},
                       {"POST /api/registry-center#2", 403, "where the console is started", choice},
                       {"GET /api/registry-center", 200, registries, choice},
                       {"POST /api/registry-center/connect#2", 200, "false", refused},
                       {"DELETE /api/registry-center", 403, "where the console is started", choice},
                       {"DELETE /api/registry-center#2", 403, "where the console is started", choice},
                       {"GET /api/registry-center#2", 200, registries, choice}});
    java_world w;
    CHECK(w.ask("POST", "/api/registry-center/connect", "nonsense").status == 422);
}

TEST_CASE("console.java_interface: jobs, items and servers of real members") {
    auto const items_of_settle = recorded("members", "/api/jobs/settle/sharding").text;
    replay("members", {{"GET /api/jobs/count", 200, "8", "2.1.5 counts what is no job, too"},
                       {"GET /api/jobs/settle/sharding", 200, without_last_row(items_of_settle), all_items},
                       {"GET /api/jobs/idle/sharding", 200, unowned(1), all_items},
                       {"GET /api/jobs/paused/sharding", 200, unowned(2), all_items},
                       {"GET /api/jobs/fresh/sharding", 200, unowned(2), all_items},
                       {"GET /api/jobs/flow/sharding", 200, unowned(1), all_items},
                       {"GET /api/jobs/script/sharding", 200, unowned(1), all_items},
                       {"GET /api/jobs/nobody/sharding", 404, "no job of that name", unknown},
                       {"GET /api/jobs/config/nobody", 404, "no job of that name", refused},
                       {"GET /api/nothing", 404, "", refused},
                       {"GET /api/jobs/settle/disable", 405, "", refused},
                       {"PUT /api/jobs/settle/trigger", 405, "", refused}});
}

TEST_CASE("console.java_interface: the members have all states that 2.1.5 knows") {
    auto const jobs = recorded("members", "/api/jobs").text;
    for (auto const* status : {"OK", "DISABLED", "SHARDING_FLAG", "CRASHED"})
        CHECK(jobs.find("\"status\":\"" + std::string{status}) != std::string::npos);
    std::string items;
    for (auto const& a : java_answers().at("members").answers)
        if (a.target.ends_with("/sharding")) items += a.text;
    for (auto const* status : {"PENDING", "RUNNING", "DISABLED", "SHARDING_FLAG"})
        CHECK(items.find("\"status\":\"" + std::string{status}) != std::string::npos);
    CHECK(items.find("\"failover\":true") != std::string::npos);
}

TEST_CASE("console.java_interface: commands for jobs, items and servers") {
    replay("job commands", {{"POST /api/jobs/settle/shutdown#2", 404, "no such instance", unknown},
                            {"POST /api/jobs/settle/trigger#2", 404, "there is no instance", unknown}});
    replay("trigger disabled", {{"POST /api/jobs/paused/trigger", 404, "disabled every server",
                                 "2.1.5 orders what cannot be done, and the order counts when the server is enabled"}});
    replay("item commands", {{"POST /api/jobs/settle/sharding/99/disable", 404, "item", unknown}});
    java_world w{"job commands"};
    auto const items = w.ask("GET", "/api/jobs/settle/sharding").body;
    replay("item that is no number", {{"POST /api/jobs/settle/sharding/x/disable", 400, "an item is a number", unknown},
                                      {"GET /api/jobs/settle/sharding", 200, items, refused}});
    replay("server commands", {{"POST /api/servers/10.0.0.1/jobs/settle/shutdown#2", 404, "no such instance", unknown},
                               {"DELETE /api/servers/10.0.0.9#2", 404, "no job has a server of that name", unknown}});
}

TEST_CASE("console.java_interface: a live server is not removed, and a live job is, with a tombstone") {
    replay("removals", {{"DELETE /api/servers/10.0.0.1/jobs/paused", 409, "shut it down first", living}});
    replay("removal of a live server", {{"DELETE /api/servers/10.0.0.1", 409, "shut it down first", living}});
    replay("removal of a job", {});
    java_world w{"job commands"};
    CHECK(w.ask("DELETE", "/api/jobs/config/settle").status == 204);
    CHECK(w.c.has("/settle/ext/removed")); // otherwise a member that starts would bring the job back
}

TEST_CASE("console.java_interface: unknown names") {
    deviations all;
    for (auto const& a : java_answers().at("unknown names").answers)
        all.push_back({a.method + " " + a.target, 404, "", unknown});
    replay("unknown names", all);
}

TEST_CASE("console.java_interface: settings are checked and then changed") {
    auto const before = recorded("members", "/api/jobs/config/settle").text;
    std::string const get = "GET /api/jobs/config/settle", put = "PUT /api/jobs/config";
    replay("settings");
    replay("settings: cron that is none",
           {{put, 422, "column 1 of 'nonsense'", unchecked}, {get, 200, before, unchecked}});
    replay("settings: settings of a missing job", {{put, 404, "no job of that name", unknown}});
    replay("settings: another class", {{put, 409, "class", unchecked}, {get, 200, before, unchecked}});
    replay("settings that are refused", {{put, 422, "jobName can not be empty.", refused},
                                         {put + "#2", 422, "cron can not be empty.", refused},
                                         {put + "#3", 422, "shardingTotalCount should larger than zero.", refused},
                                         {put + "#4", 422, "shardingTotalCount must be a whole number", refused},
                                         {put + "#5", 422, "", refused},
                                         {put + "#6", 422, "", refused},
                                         {put + "#7", 422, "must be an object", refused}});
}

TEST_CASE("console.java_interface: omitted settings stay unchanged") {
    auto const send = [](std::string const& state) {
        java_world w{state};
        auto const before = *from_json(w.c.data("/settle/config"));
        REQUIRE(before);
        auto const& change =
            *std::find_if(java_answers().at(state).answers.begin(), java_answers().at(state).answers.end(),
                          [](auto const& a) { return a.method == "PUT"; });
        CHECK(w.ask("PUT", change.target, change.body).status == 204);
        auto const now = *from_json(w.c.data("/settle/config"));
        auto const theirs = *from_json(change.written.at("/settle/config"));
        REQUIRE(now);
        REQUIRE(theirs);
        strings fields;
        for (auto const& d : differences(*theirs, *now)) fields.push_back(std::string{d.field} + " " + d.right);
        return fields;
    };
    // 2.1.5 stores 0 for a missing number, and drops fields that its settings do not have.
    CHECK(send("settings: missing numbers") == strings{"maxTimeDiffSeconds -1", "reconcileIntervalMinutes 10"});
    CHECK(send("members that the settings lack") == strings{"disabled true", "overwrite true"});
}

TEST_CASE("console.java_interface: a schedule beyond cron expressions survives a change of another setting") {
    java_world w;
    auto job = make_job("settle", "", 2);
    job.schedules = {job_schedule::fixed_rate(90min), job_schedule::by_cron("0 0 9 * * ?")};
    REQUIRE(w.m.schedule(job));
    w.c.run_for(1s);
    auto const shown = w.ask("GET", "/api/jobs/config/settle").body;
    auto changed = shown;
    changed.replace(changed.find("\"description\":\"\""), 16, "\"description\":\"x\"");
    auto const schedule = w.c.data("/settle/ext/schedule");
    auto const done = w.ask("PUT", "/api/jobs/config", changed);
    CHECK_MESSAGE(done.status == 204, done.body);
    CHECK(w.c.data("/settle/ext/schedule") == schedule);
    CHECK(w.ask("GET", "/api/jobs/config/settle").text("description") == "x");
}

TEST_CASE("console.java_interface: damaged jobs and servers do not hide the others") {
    auto jobs = recorded("job commands", "/api/jobs").text;
    replay("a damaged configuration",
           {{"GET /api/jobs", 200,
             R"([{"jobName":"idle","status":"CRASHED","instanceCount":0,"shardingTotalCount":0},)" +
                 recorded("a job without a configuration", "/api/jobs").text.substr(1),
             refused},
            {"GET /api/jobs/config/idle", 422, "", refused},
            {"GET /api/jobs/idle/sharding", 422, "", "the configuration says which items there are"}});
    replay("a job without a configuration", {{"GET /api/jobs/count", 200, "2", "2.1.5 counts what is no job, too"}});
    auto const servers = recorded("an instance without a server", "/api/servers").text;
    auto const added = R"({"serverIp":"10.0.0.7","instances":["10.0.0.7@-@1"],"jobNames":["settle"],"instancesNum":1,)"
                       R"("jobsNum":1,"disabledJobsNum":0},)";
    auto with_it = servers;
    with_it.insert(with_it.find(R"({"serverIp":"10.0.0.9")"), added);
    char const* const why = "2.1.5 does not show an instance whose server has no node";
    replay("an instance without a server",
           {{"GET /api/servers", 200, with_it, why}, {"GET /api/servers/count", 200, "4", why}});
}

TEST_CASE("console.java_interface: commands are on record, once for each key") {
    java_world w{"job commands"};
    detail::text_pairs const key{{"idempotency-key", "4711"}};
    CHECK(w.send_to("POST", "/api/jobs/settle/disable", {}, key).status == 204);
    CHECK(w.send_to("DELETE", "/api/jobs/settle/disable").status == 204);
    CHECK(w.send_to("POST", "/api/jobs/settle/disable", {}, key).status == 204);
    CHECK(w.c.data("/settle/servers/10.0.0.1").empty());
    auto const audit = w.get("registries/main/audit?verb=disable");
    REQUIRE(audit.rows() == 1);
    CHECK(audit.in_row(0, "operator") == "ann");
}

TEST_CASE("console.java_interface: roles apply as in the other interface") {
    java_world w{"members"};
    w.options.authentication = console_authentication::proxy;
    w.options.proxies = {"127.0.0.1"};
    w.options.grants = {{"ann", "set*", console_role::administrator},
                        {"bob", "*", console_role::viewer},
                        {"cid", "settle", console_role::operator_},
                        {"dan", "*", console_role::operator_}};
    auto const settings = recorded("members", "/api/jobs/config/settle").text;
    struct row {
        char const* method;
        char const* target;
        int ann, bob, cid, dan, eve;
    };
    for (auto const& [method, target, ann, bob, cid, dan, eve] : std::vector<row>{
             {"GET", "/api/jobs/config/settle", 200, 200, 200, 200, 403},
             {"GET", "/api/jobs/config/idle", 403, 200, 403, 200, 403},
             {"GET", "/api/jobs/settle/sharding", 200, 200, 200, 200, 403},
             {"GET", "/api/registry-center", 200, 200, 200, 200, 403},
             {"GET", "/api/event-trace/execution", 403, 200, 403, 200, 403},
             {"GET", "/api/event-trace/execution?jobName=settle", 200, 200, 200, 200, 403},
             {"GET", "/api/event-trace/status?jobName=idle", 403, 200, 403, 200, 403},
             {"POST", "/api/jobs/settle/trigger", 204, 403, 204, 204, 403},
             {"POST", "/api/jobs/moving/trigger", 403, 403, 403, 204, 403},
             {"POST", "/api/jobs/settle/sharding/1/disable", 204, 403, 204, 204, 403},
             {"POST", "/api/servers/10.0.0.1/jobs/settle/disable", 204, 403, 204, 204, 403},
             {"DELETE", "/api/servers/10.0.0.1/jobs/settle/disable", 204, 403, 204, 204, 403},
             {"POST", "/api/servers/10.0.0.1/disable", 403, 403, 403, 204, 403},
             {"DELETE", "/api/servers/10.0.0.9", 403, 403, 403, 403, 403},
             {"PUT", "/api/jobs/config", 204, 403, 403, 403, 403},
             {"DELETE", "/api/jobs/config/idle", 403, 403, 403, 403, 403},
             {"POST", "/api/registry-center", 403, 403, 403, 403, 403},
             {"DELETE", "/api/jobs/config/settle", 204, 403, 403, 403, 403},
         }) {
        INFO(method, " ", target);
        std::string const body = std::string_view{method} == "PUT" ? settings : "";
        // The administrator comes last, because the command may be the last one for its job.
        CHECK(w.ask(method, target, body, "eve").status == eve);
        CHECK(w.ask(method, target, body, "bob").status == bob);
        CHECK(w.ask(method, target, body, "cid").status == cid);
        CHECK(w.ask(method, target, body, "dan").status == dan);
        CHECK(w.ask(method, target, body, "ann").status == ann);
    }
    CHECK(w.send_to("GET", "/api/jobs").status == 401);
}

TEST_CASE("console.java_interface: lists and counts omit jobs that the reader may not see") {
    java_world w{"members"};
    w.options.authentication = console_authentication::proxy;
    w.options.proxies = {"127.0.0.1"};
    w.options.grants = {{"ann", "settle", console_role::viewer}};
    CHECK(w.ask("GET", "/api/jobs/count", {}, "ann").body == "1");
    auto const jobs = w.ask("GET", "/api/jobs", {}, "ann");
    CHECK(jobs.json.Size() == 1);
    CHECK(jobs.at("/0/jobName") == "settle");
    CHECK(w.ask("GET", "/api/servers/count", {}, "ann").body == "2");
    auto const servers = w.ask("GET", "/api/servers", {}, "ann").body;
    CHECK(servers.find("paused") == std::string::npos);
    CHECK(servers.find("@-@") == std::string::npos); // an instance may belong to another job
    auto const server = w.ask("GET", "/api/servers/10.0.0.1/jobs", {}, "ann");
    CHECK(server.json.Size() == 1);
}

TEST_CASE("console.java_interface: a list of items has a limit") {
    java_world w;
    REQUIRE(w.m.schedule(make_job("large", never, 10'001)));
    w.c.run_for(1s);
    CHECK(w.ask("GET", "/api/jobs/large/sharding").status == 413);
}

TEST_CASE("console.java_interface: dates are local time") {
    auto const zone = TzifZone::load("Europe/Berlin").value();
    auto const read = [&](std::string_view text) {
        wall_time t{};
        REQUIRE(detail::read_java_date(text, zone, t));
        return detail::java_date(t, zone);
    };
    CHECK(read("2026-01-02 00:00:00") == "Jan 2, 2026 12:00:00 AM");
    CHECK(read("2026-03-29 01:59:59") == "Mar 29, 2026 1:59:59 AM");
    CHECK(read("2026-03-29 03:00:00") == "Mar 29, 2026 3:00:00 AM"); // the clock skips the hour before it
    CHECK(read("2026-10-25 02:30:00") == "Oct 25, 2026 2:30:00 AM"); // it occurs twice
    CHECK(read("2026-12-31 12:05:09") == "Dec 31, 2026 12:05:09 PM");
    CHECK(read("2026-07-31 23:59:59") == "Jul 31, 2026 11:59:59 PM");
    CHECK(detail::java_date(wall_time{-1s}, UtcZone{}) == "Dec 31, 1969 11:59:59 PM");
    wall_time t{};
    for (auto const* text : {"", "2026-01-02", "2026-01-02T00:00:00", "2026-13-02 00:00:00", "2026-01-02 00:00:00Z"})
        CHECK_FALSE(detail::read_java_date(text, zone, t));
}
