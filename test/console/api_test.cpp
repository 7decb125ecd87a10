// SPDX-License-Identifier: Apache-2.0
#include <console/console_world.hpp>
#include <support/places.hpp>

#include <elasticjob/operations/pauses.hpp>
#include <elasticjob/config/json_codec.hpp>
#include <elasticjob/operations/add_job.hpp>
#include <elasticjob/operations/trigger.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

using namespace elasticjob;
using namespace elasticjob::test;

namespace {

using strings = std::vector<std::string>;

std::string const here = "registries/main/";
std::string const settle = here + "jobs/settle";

std::string names(told const& list) {
    std::string all;
    for (std::size_t n = 0; n < list.rows(); ++n) all += (n == 0 ? "" : " ") + list.in_row(n, "name");
    return all;
}

} // namespace

TEST_CASE("console.api: every route is described, with its role, and every described route exists") {
    std::ifstream file{source_path("packaging/console/openapi.json")};
    std::stringstream text;
    text << file.rdbuf();
    rapidjson::Document description;
    description.Parse(text.str().c_str());
    REQUIRE_FALSE(description.HasParseError());
    std::set<std::string> described, there;
    for (auto const& path : description["paths"].GetObject())
        for (auto const& operation : path.value.GetObject()) {
            std::string method = operation.name.GetString();
            if (!operation.value.IsObject() || !operation.value.HasMember("x-role")) continue;
            std::transform(method.begin(), method.end(), method.begin(),
                           [](char c) { return static_cast<char>(c & ~0x20); });
            described.insert(method + " " + path.name.GetString() + " " + operation.value["x-role"].GetString());
        }
    for (auto const& route : console_world{}.routes())
        there.insert(route.method + " /api/v1/" + route.pattern + " " + std::string{name_of(route.least)});
    there.insert("GET /api/v1/registries/{registry}/stream viewer"); // the server answers it
    strings missing, undescribed;
    std::set_difference(described.begin(), described.end(), there.begin(), there.end(), std::back_inserter(missing));
    std::set_difference(there.begin(), there.end(), described.begin(), described.end(),
                        std::back_inserter(undescribed));
    std::erase_if(missing, [](auto const& m) { return m.find("/session ") != m.npos; });
    std::string told;
    for (auto const& one : missing) told += "missing: " + one + "\n";
    for (auto const& one : undescribed) told += "not described: " + one + "\n";
    CHECK_MESSAGE(told.empty(), told);
}

TEST_CASE("console.api: the user, the registries, cron texts, and unknown routes") {
    console_world w;
    auto const me = w.get("me");
    CHECK(me.text("operator") == "ann");
    CHECK(me.json["verbs"].Size() == 4);
    auto const all = w.get("registries");
    CHECK(all.at("/registries/0/name") == "main");
    CHECK(all.json["registries"][0]["is_connected"].GetBool());
    auto const cron = w.get("cron?expression=0%200%209%20*%20*%20%3F&count=2");
    CHECK(cron.text("in_words") == "at 09:00 every day");
    CHECK(cron.json["next_dues"].Size() == 2);
    auto const wrong = w.get("cron?expression=0%200%2025%20*%20*%20%3F");
    CHECK(wrong.at("/problems/0/position") == "4");
    CHECK(w.get("nothing").status == 404);
    CHECK(w.get("registries/other/jobs").status == 404);
    auto const refused = w.send("DELETE", "me");
    CHECK(refused.status == 405);
    CHECK(detail::find_text(refused.headers, "Allow") == "GET");
    CHECK(w.get("databases/events/executions").status == 404);
}

TEST_CASE("console.api: jobs are filtered by any column, sorted, counted, and come page by page") {
    console_world w;
    REQUIRE(w.m.schedule(make_job("load", "0 30 * * * ?", 3)));
    auto broken = make_job("audit", "0 0 9 * * ?", 1);
    broken.description = "yearly";
    REQUIRE(w.m.schedule(broken));
    w.m.body = [](sharding_context const& ctx) -> result<void> {
        if (ctx.job_name == "load" && ctx.item == 1) return error{errc::job_failed, "out of paper"};
        return success();
    };
    w.c.run_for(1h);
    w.c.set("/audit/config", "nonsense");
    w.c.run_for(1s);
    auto const list = [&](std::string const& query) { return names(w.get(here + "jobs?" + query)); };
    CHECK(list("") == "audit load settle");
    CHECK(list("sort=-name") == "settle load audit");
    CHECK(list("sort=items") == "audit settle load");
    CHECK(list("sort=-items") == "load settle audit");
    CHECK(list("name=e") == "settle");
    CHECK(list("cron=30") == "load");
    CHECK(list("health=unreadable") == "audit");
    CHECK(list("status=ok") == "audit load settle"); // the status of 2.1.5
    CHECK(list("server=" + w.m.ip) == "audit load settle");
    CHECK(list("server=10.9.9.9").empty());
    CHECK(list("last_round=failed") == "load");
    CHECK(list("sort=last_round") == "load settle audit");
    for (auto const* wrong : {"health=idle", "status=OK", "last_round=none"}) // and not an empty list
        CHECK(w.get(here + "jobs?" + wrong).status == 400);
    auto const first = w.get(here + "jobs?limit=2&sort=-items");
    CHECK(first.text("total") == "3");
    CHECK(names(w.get(here + "jobs?limit=2&sort=-items&after=" + first.text("next"))) == "audit");
    CHECK(w.get(here + "jobs?after=x").status == 400);
    auto load = from_json(w.c.data("/load/config")).value().value();
    load.description = "a\nb" + std::string(30'000, '/');
    w.c.set("/load/config", to_json(load));
    w.c.run_for(1s);
    std::string all, after; // the description is neither a character of a path nor short
    for (int page = 0; page < 3; ++page) {
        auto const one = w.get(here + "jobs?limit=1&sort=description" + (page == 0 ? "" : "&after=" + after));
        if (page < 2) after = one.text("next");
        CHECK(after.size() < 300);
        all += names(one) + " ";
    }
    CHECK(all == "audit settle load ");
    CHECK(w.get(here + "jobs?sort=colour").status == 400);
    CHECK(w.get(here + "jobs?limit=0").status == 400);

    auto const row = w.get(here + "jobs?name=load");
    CHECK(row.in_row(0, "status") == "ok");
    CHECK(row.in_row(0, "item_count") == "3");
    CHECK(row.at("/rows/0/last_round/outcome") == "failed");
    CHECK(row.in_row(0, "next_due").ends_with(":30:00.000Z"));
    CHECK(w.get(here + "jobs?name=audit").in_row(0, "fault").find("config") != std::string::npos);
    auto const counts = w.get(here + "jobs-by-health?health=ok");
    CHECK(counts.at("/counts/ok") == "2");
    CHECK(counts.at("/counts/unreadable") == "1");
}

TEST_CASE("console.api: filters take ranges of item and instance counts, and near or far due instants") {
    console_world w;
    REQUIRE(w.m.schedule(make_job("load", "0 30 * * * ?", 12)));
    REQUIRE(w.m.schedule(make_job("yearly", never, 5)));
    w.c.run_for(1s);
    auto const list = [&](std::string const& query) { return names(w.get(here + "jobs?" + query)); };
    CHECK(list("items=2") == "settle");
    CHECK(list("items=3-12") == "load yearly");
    CHECK(list("items=-5") == "settle yearly");
    CHECK(list("items=6-") == "load");
    CHECK(list("instances=1") == "load settle yearly");
    CHECK(list("instances=2-").empty());
    CHECK(list("due_within=1800") == "load");
    CHECK(list("due_within=3600") == "load settle");
    for (auto const* wrong : {"items=-", "items=x", "items=5-2", "items=1-2-3", "due_within=0", "paused=maybe"}) {
        INFO(wrong);
        CHECK(w.get(here + "jobs?" + wrong).status == 400);
    }
    CHECK(w.get(here + "jobs-by-health?items=12").at("/counts/ok") == "1");
}

TEST_CASE("console.api: a command without an answer is told the key with which it can be repeated") {
    console_world w;
    auto const key_in = [](told const& answer) { return detail::find_text(answer.headers, "Idempotency-Key"); };
    std::string key;
    {
        losing const network{w.c.server,
                             losing::cut_at_write(w.c.by_hand.session().id, request_fate::reply_lost)};
        auto const lost = w.post(settle + "/trigger");
        CHECK(lost.status == 503);
        key = key_in(lost);
        CHECK(key.size() == 36);
        CHECK(key_in(w.post(settle + "/trigger", {{"idempotency-key", "k"}})).empty()); // the client knows it
        CHECK(key_in(w.get(settle)).empty());
        auto const dry = w.post(settle + "/trigger?dry_run=true");
        CHECK(dry.status == 503);
        CHECK(key_in(dry).empty()); // it writes nothing
    }
    {
        losing const network{w.c.server,
                             losing::cut_at_write(w.c.by_hand.session().id, request_fate::reply_lost)};
        auto const on_server = w.post(here + "servers/" + w.m.ip + "/disable");
        CHECK(on_server.status == 503);
        CHECK(on_server.text("detail").starts_with("failed in 1 of 1 job: "));
        CHECK(key_in(on_server).size() == 36);
    }
    w.c.run_for(10s);
    auto const started = w.c.started().size();
    auto const again = w.post(settle + "/trigger", {{"idempotency-key", key}});
    CHECK(again.text("effect") == "repeated");
    w.c.run_for(10s);
    CHECK(w.c.started().size() == started);
    CHECK(key_in(w.post(settle + "/trigger")).empty()); // answered
}

TEST_CASE("console.api: so is one of the interface of 2.1.5") {
    console_world w;
    w.options.has_java_interface = true;
    auto const trigger = [&](detail::text_pairs headers = {}) {
        return w.send_to("POST", "/api/jobs/settle/trigger", "{}", std::move(headers));
    };
    std::string key;
    {
        losing const network{w.c.server,
                             losing::cut_at_write(w.c.by_hand.session().id, request_fate::reply_lost)};
        auto const lost = trigger();
        CHECK(lost.status == 503);
        key = detail::find_text(lost.headers, "Idempotency-Key");
        CHECK(key.size() == 36);
    }
    w.c.run_for(10s);
    CHECK(w.c.started().size() == 2);
    CHECK(trigger({{"idempotency-key", key}}).status == 204);
    w.c.run_for(10s);
    CHECK(w.c.started().size() == 2);
}

TEST_CASE("console.api: every view shows paused jobs and servers as paused") {
    console_world w;
    REQUIRE(w.m.schedule(make_job("load", never, 3)));
    w.c.run_for(1s);
    CHECK(w.get(here + "jobs-by-health").json["counts"].MemberCount() == 1);
    REQUIRE(w.post(settle + "/pause").status == 200);
    REQUIRE(w.post(here + "jobs/load/servers/" + w.m.ip + "/pause").status == 200);
    w.c.run_for(1s);
    CHECK(w.get(settle).text("is_paused") == "true");
    CHECK(w.get(here + "jobs/load").text("is_paused") == "false"); // only one of its servers is
    CHECK(names(w.get(here + "jobs?paused=true")) == "settle");
    CHECK(names(w.get(here + "jobs?paused=false")) == "load");
    CHECK(w.get(here + "jobs-by-health").at("/counts/paused") == "1");
    CHECK(w.get(here + "jobs-by-health").at("/counts/ok") == "2");
    for (auto const* job : {"settle", "load"}) {
        INFO(job);
        CHECK(w.get(here + "jobs/" + job + "/instances").in_row(0, "is_paused") == "true");
    }
    auto const server = w.get(here + "servers/" + w.m.ip);
    CHECK(server.in_row(0, "is_paused") == "true");
    CHECK(server.in_row(1, "is_paused") == "true");
    REQUIRE(w.post(here + "servers/" + w.m.ip + "/resume").status == 200);
    w.c.run_for(1s);
    CHECK(w.get(here + "jobs/load/instances").in_row(0, "is_paused") == "false");
    CHECK(w.get(here + "jobs/settle/instances").in_row(0, "is_paused") == "true");
    REQUIRE(w.post(settle + "/resume").status == 200);
    w.c.run_for(1s);
    CHECK(w.get(settle + "/instances").in_row(0, "is_paused") == "false");
    CHECK(w.get(here + "jobs?paused=true").rows() == 0);
}

TEST_CASE("console.api: removed jobs are listed until they are restored, and run records are a history") {
    console_world w;
    w.c.run_for(1h);
    CHECK(w.get(here + "executions?job=settle").rows() == 2);
    CHECK(w.get(here + "executions?job=settle&success=false").rows() == 0);
    CHECK(w.get(here + "executions").rows() == 2);
    CHECK(w.get(here + "executions?job=nobody").status == 404);
    CHECK(w.get(here + "executions?sort=colour").status == 400);
    CHECK(w.get(here + "removed-jobs").rows() == 0);
    REQUIRE(w.post(settle + "/instances/" + w.m.id("settle") + "/shut-down").status == 200);
    w.c.run_for(1s);
    REQUIRE(w.post(settle + "/remove").status == 200);
    w.c.run_for(1s);
    auto const removed = w.get(here + "removed-jobs");
    REQUIRE(removed.rows() == 1);
    CHECK(removed.in_row(0, "name") == "settle");
    CHECK(removed.in_row(0, "since").starts_with("2026-01-01T01:00:0"));
    REQUIRE(w.post(settle + "/restore").status == 200);
    w.c.run_for(1s);
    CHECK(w.get(here + "removed-jobs").rows() == 0);
}

TEST_CASE("console.api: the list follows the registry without requests") {
    console_world w;
    CHECK(names(w.get(here + "jobs")) == "settle");
    auto const before = w.last_change();
    w.c.run_for(30s);
    CHECK(w.changes(before).empty());
    REQUIRE(w.m.schedule(make_job("load", never, 3)));
    w.c.run_for(1s);
    CHECK(w.changes(before) == strings{"load"});
    CHECK(names(w.get(here + "jobs")) == "load settle");
    REQUIRE(w.m.disable("settle"));
    w.c.run_for(1s);
    CHECK(w.get(here + "jobs?health=disabled").rows() == 1);
    REQUIRE(w.m.enable("settle"));
    w.c.run_for(1s);
    CHECK(w.get(here + "jobs?health=ok").rows() == 2);

    // Runs of items count as changes while a reader watches them.
    auto const quiet = w.last_change();
    w.c.run_for(50s);
    CHECK(w.changes(quiet).empty());
    CHECK(w.get(settle + "/items").rows() == 2);
    CHECK(w.changes(quiet).empty());
    REQUIRE(w.m.trigger("settle"));
    w.c.run_for(1s);
    CHECK(w.changes(quiet) == strings{"settle"});

    // After a minute without a reader the watches end; then the list is read anew.
    w.c.run_for(3min);
    auto const left = w.last_change();
    REQUIRE(w.m.disable("settle"));
    w.c.run_for(1s);
    CHECK(w.changes(left).empty());
    CHECK(w.get(here + "jobs?health=disabled").rows() == 1);
}

TEST_CASE("console.api: the next due instant moves on while a job is idle, in the list and in the job's view") {
    console_world w;
    auto const alone = [&] { return w.get(settle).text("next_due"); };
    auto const in_list = [&] { return w.get("registries/main/jobs").in_row(0, "next_due"); };
    auto const first = alone();
    CHECK(in_list() == first);
    // There is always a reader, so the job is not read anew.
    for (int n = 0; n < 122; ++n) {
        w.c.run_for(30s);
        (void)in_list();
    }
    CHECK(alone() > first);
    CHECK(in_list() == alone());
}

TEST_CASE("console.api: one job, its rounds, items and instances") {
    console_world w;
    w.c.run_for(1h);
    auto const job = w.get(settle);
    CHECK(job.text("in_words") == "every hour");
    CHECK(job.json["next_dues"].Size() == 5);
    CHECK(job.at("/last_round/outcome") == "completed");
    CHECK(w.get(here + "jobs/nobody").status == 404);
    CHECK(w.get(settle + "/rounds").in_row(0, "outcome") == "completed");
    CHECK(w.get(here + "jobs/nobody/rounds").status == 404);

    auto items = w.get(settle + "/items?first=1&limit=1");
    CHECK(items.text("total") == "2");
    CHECK(items.in_row(0, "item") == "1");
    CHECK(items.in_row(0, "owner") == w.m.id("settle"));
    CHECK(items.at("/rows/0/ledger/0/outcome") == "completed");
    w.c.create("/settle/sharding/1/disabled");
    items = w.get(settle + "/items?health=disabled");
    CHECK(items.in_row(0, "item") == "1");
    CHECK(items.at("/counts/idle") == "1");
    CHECK(w.get(settle + "/items?owner=nobody").rows() == 0);
    CHECK(w.get(settle + "/items?first=x").status == 400);
    CHECK(w.get(settle + "/items?health=ok").text("detail").find("running, interrupted, disabled") != std::string::npos);
    CHECK(w.get(settle + "/items/1/explanation").text("text").find("disabled") != std::string::npos);
    CHECK(w.get(settle + "/items/1/explanation?instant=1970-01-01T01:00:00Z").status == 200);
    CHECK(w.get(settle + "/items/1/explanation?instant=noon").status == 400);
    CHECK(w.get(settle + "/items/x/explanation").status == 400);
    CHECK(w.get(settle + "/instances").in_row(0, "is_leader") == "true");
    CHECK(w.get(here + "servers").in_row(0, "job_count") == "1");
    CHECK(w.get(here + "servers/" + w.m.ip).in_row(0, "job") == "settle");
    CHECK(w.get(here + "servers/10.9.9.9").status == 404);
    CHECK_FALSE(w.get(here + "servers").json["rows"][0].HasMember("host")); // no member has written it
    w.c.create("/settle/ext/hosts");
    w.c.create("/settle/ext/hosts/" + w.m.ip, "db-1.example");
    CHECK(w.get(settle + "/instances").in_row(0, "host") == "db-1.example");
    CHECK(w.get(here + "servers").in_row(0, "host") == "db-1.example");
    CHECK(w.get(here + "servers/" + w.m.ip).in_row(0, "host") == "db-1.example");
}

TEST_CASE("console.api: commands report their effect, once for each key, and are on record") {
    console_world w;
    CHECK(w.post(settle + "/disable?dry_run=true").text("effect") == "planned");
    for (auto const* const query : {"dry_run=1", "dry_run=True", "dry_run=", "dry_run", "dryRun=true", "force=true"})
        CHECK_MESSAGE(w.post(settle + "/disable?" + query).status == 400, query);
    CHECK(w.post(settle + "/disable", {{"idempotency-key", "1"}}).text("effect") == "done");
    CHECK(w.post(settle + "/disable", {{"idempotency-key", "1"}}).text("effect") == "repeated");
    CHECK(w.post(settle + "/disable").text("effect") == "unchanged");
    for (auto const* verb :
         {"enable", "pause", "resume", "trigger", "items/1/trigger", "items/1/disable", "items/1/enable"}) {
        INFO(verb);
        auto const done = w.post(settle + "/" + verb);
        CHECK_MESSAGE(done.status == 200, done.body);
        w.c.run_for(1s);
    }
    auto const server = here + "servers/" + w.m.ip;
    for (auto const* verb : {"disable", "enable", "pause", "resume"}) {
        INFO(verb);
        CHECK(w.post(server + "/" + verb).status == 200);
        CHECK(w.post(settle + "/servers/" + w.m.ip + "/" + verb).status == 200);
    }
    auto const refused = w.post(server + "/remove");
    CHECK(refused.status == 409);
    CHECK(refused.text("code") == "version_conflict");
    CHECK(refused.text("detail").starts_with("failed in 1 of 1 job: "));
    CHECK(w.post(settle + "/items/0/stop").status == 409);
    CHECK(w.post(settle + "/items/9/disable").status == 404);
    CHECK(w.post(here + "jobs/nobody/trigger").status == 404);
    CHECK(w.post(settle + "/instances/" + w.m.id("settle") + "/shut-down").status == 200);

    auto const audit = w.get(here + "audit?verb=disable&outcome=done");
    REQUIRE(audit.rows() > 0);
    CHECK(audit.in_row(0, "operator") == "ann");
    CHECK(w.get(here + "audit?outcome=odd").status == 400);
    auto const page = w.get(here + "audit?limit=1");
    CHECK(w.get(here + "audit?limit=1&after=" + page.text("next")).in_row(0, "number") != page.in_row(0, "number"));

    w.c.run_for(1s);
    CHECK(w.post(settle + "/remove").status == 200);
    CHECK(w.get(settle).status == 404);
    CHECK(w.post(settle + "/restore").status == 200);
}

TEST_CASE("console.api: a configuration is checked, and then changed by its tag or added") {
    console_world w;
    auto const read = w.get(settle + "/configuration");
    std::string const tag{detail::find_text(read.headers, "ETag")};
    CHECK(read.text("cron") == "0 0 * * * ?");
    CHECK(w.send("GET", settle + "/configuration", {}, {{"if-none-match", tag}}).status == 304);

    std::string const draft = R"({"cron": "0 30 * * * ?", "sharding_total_count": 4, "description": "${HOME}"})";
    auto const check = w.send("POST", settle + "/check", draft, {{"if-match", tag}});
    CHECK(check.json["problems"].Size() == 0);
    CHECK(check.at("/in_words/0") == "at minute 30 of every hour");
    CHECK(check.text("text").find("0 30 * * * ?") != std::string::npos);
    CHECK(check.at("/plan/shares/0/then") == "4");
    CHECK(w.send("POST", settle + "/check", R"({"cron": "x", "sharding_total_count": 0})").json["problems"].Size() ==
          2);
    CHECK(w.send("POST", settle + "/check", "nonsense").json["problems"].Size() == 1);
    auto const problem_of = [&](std::string const& body) {
        auto const reply = w.send("POST", settle + "/check", body);
        return reply.json["problems"].Size() == 1 ? reply.at("/problems/0/field") : reply.body;
    };
    CHECK(problem_of(R"({"cron": "@daily", "sharding_total_count": 0})") == "sharding_total_count");
    CHECK(problem_of(R"({"cron": "@daily", "time_zone": "Nowhere/X"})") == "time_zone");
    CHECK(problem_of(R"({"cron": "@daily", "job_sharding_strategy_class": "nosuch"})") ==
          "job_sharding_strategy_class");
    CHECK(problem_of(R"({"schedules": [{"after_job": "settle"}]})") == "schedules[0]");
    CHECK(w.send("POST", here + "check", R"({"name": "load", "cron": "@daily"})").json["problems"].Size() == 0);

    CHECK(w.send("PUT", settle + "/configuration", draft).status == 428);
    CHECK(w.send("PUT", settle + "/configuration", draft, {{"if-match", "\"0\""}}).status == 412);
    CHECK(w.send("PUT", settle + "/configuration", draft, {{"if-none-match", "*"}}).status == 412);
    CHECK(w.send("PUT", settle + "/configuration", R"({"name": "other", "cron": "@daily"})", {{"if-match", tag}})
              .status == 400);
    CHECK(w.send("PUT", settle + "/configuration", R"({"cron": "x"})", {{"if-match", tag}}).status == 422);
    CHECK(w.send("PUT", settle + "/configuration?dry_run=true", draft, {{"if-match", tag}}).text("effect") ==
          "planned");
    CHECK(w.send("PUT", settle + "/configuration", draft, {{"if-match", tag}}).text("effect") == "done");
    auto const changed = w.get(settle + "/configuration");
    CHECK(changed.text("sharding_total_count") == "4");
    CHECK(changed.text("description") == "${HOME}"); // not this process's variable
    CHECK(detail::find_text(changed.headers, "ETag") != tag);
    CHECK(w.send("PUT", here + "jobs/load/configuration", R"({"cron": "@daily"})", {{"if-none-match", "*"}}).status ==
          200);
    CHECK(w.get(here + "jobs/load").text("cron") == "0 0 0 * * ?");
    w.c.set("/load/config", "{broken");
    auto const broken = w.get(here + "jobs/load/configuration");
    CHECK(broken.status == 422);
    CHECK(w.send("PUT", here + "jobs/load/configuration", R"({"cron": "@daily"})",
                 {{"if-match", std::string{detail::find_text(broken.headers, "ETag")}}})
              .text("effect") == "done");
}

TEST_CASE("console.api: the next due instants, over all jobs and over pages") {
    console_world w;
    REQUIRE(w.m.schedule(make_job("load", "0 0,30 * * * ?", 1)));
    w.c.run_for(1s);
    std::string order, after;
    for (int page = 0; page < 3; ++page) {
        auto const list = w.get(here + "upcoming?limit=2" + (after.empty() ? "" : "&after=" + after));
        for (std::size_t n = 0; n < list.rows(); ++n)
            order += list.in_row(n, "job") + list.in_row(n, "due").substr(13, 4) + " ";
        after = list.text("next");
    }
    CHECK((order == "load:30: load:00: settle:00: load:30: load:00: settle:00: " ||
           order == "load:00: settle:00: load:30: load:00: settle:00: load:30: "));
    CHECK(w.get(here + "upcoming?name=sett&hours=3").rows() == 3);
    CHECK(w.get(here + "upcoming?after=x").status == 400);
}

TEST_CASE("console.api: dead letters of all jobs are listed and handled") {
    console_world w;
    w.m.body = [](sharding_context const&) -> result<void> { return error{errc::job_failed, "out of paper"}; };
    w.c.run_for(2h);
    auto const all = w.get(here + "dead-letters");
    REQUIRE(all.rows() == 4);
    CHECK(all.in_row(0, "note") == "job_failed: out of paper");
    CHECK(w.get(here + "dead-letters?item=1&note=paper&job=sett").rows() == 2);
    CHECK(w.get(here + "dead-letters?note=ink").rows() == 0);
    auto const letter = settle + "/items/0/dead-letters/" + all.in_row(0, "due");
    CHECK(w.post(letter + "/discard").text("effect") == "done");
    CHECK(w.post(letter + "/discard").status == 404);
    CHECK(w.post(settle + "/items/0/dead-letters/" + all.in_row(1, "due") + "/run-again").text("effect") == "done");
    CHECK(w.post(settle + "/items/0/dead-letters/noon/discard").status == 400);
}

TEST_CASE("console.api: databases of events, each with its filters") {
    struct scripted {
        history_query* asked;
        result<history_page<execution_row>> executions(history_query const& q) {
            *asked = q;
            execution_row row;
            row.id = "1";
            row.job = "settle";
            return history_page<execution_row>{{row}, "c", std::nullopt};
        }
        result<history_page<state_row>> states(history_query const& q) {
            *asked = q;
            return error{errc::unreachable, "the database does not answer"};
        }
    };
    history_query asked;
    console_database const events{"events", scripted{&asked}};
    console_world w{{events}};
    auto const runs =
        w.get("databases/events/executions?job=settle&success=false&from=2026-01-01T00:00:00Z&sort=-jobName&limit=7");
    CHECK(runs.in_row(0, "id") == "1");
    CHECK(runs.text("next") == "c");
    CHECK(asked.job == "settle");
    CHECK(asked.is_success == false);
    CHECK(asked.from == wall_time{1'767'225'600s});
    CHECK(asked.sort == history_sort::job);
    CHECK(asked.is_descending);
    CHECK(asked.rows_max == 7);
    CHECK(w.get("databases/events/states?state=TASK_ERROR").status == 503);
    CHECK(asked.state == "TASK_ERROR");
    CHECK(w.get("databases/events/executions?success=maybe").status == 400);
    CHECK(w.get("databases/events/executions?until=noon").status == 400);
    CHECK(w.get("databases/other/executions").status == 404);
}

TEST_CASE("console.api: roles apply to each job, in lists too") {
    console_world w;
    REQUIRE(w.m.schedule(make_job("billing-eu", never, 1)));
    w.c.run_for(1s);
    w.options.authentication = console_authentication::proxy;
    w.options.proxies = {"127.0.0.1"};
    w.options.grants = {{"ann", "billing-*", console_role::operator_}, {"bob", "*", console_role::viewer}};
    auto const as = [&](std::string const& who, std::string_view method, std::string const& target) {
        return w.send(method, target, method == "GET" ? "" : "{}", {{"x-remote-user", who}});
    };
    CHECK(names(as("ann", "GET", here + "jobs")) == "billing-eu");
    CHECK(names(as("bob", "GET", here + "jobs")) == "billing-eu settle");
    CHECK(as("ann", "GET", settle).status == 403);
    CHECK(as("ann", "POST", settle + "/trigger").status == 403);
    CHECK(as("ann", "POST", here + "jobs/billing-eu/trigger").status == 200);
    CHECK(as("ann", "PUT", here + "jobs/billing-eu/configuration").status == 403);
    CHECK(as("bob", "POST", here + "jobs/billing-eu/trigger").status == 403);
    CHECK(as("ann", "POST", here + "servers/" + w.m.ip + "/disable").status == 403);
    CHECK(as("ann", "GET", here + "servers").in_row(0, "job_count") == "1");
    // Jobs that follow each other are named only to operators who may see them.
    for (auto const& [name, other] : {std::pair{"secret-x", "secret-y"}, std::pair{"secret-y", "billing-eu"}}) {
        auto follower = make_job(name, "", 1);
        follower.schedules = {job_schedule::after_job(other)};
        REQUIRE(add_job(w.c.by_hand, follower));
    }
    auto const loop_for = [&](std::string const& who) {
        return w.send("POST", here + "jobs/billing-eu/check", R"({"schedules": [{"after_job": "secret-x"}]})",
                      {{"x-remote-user", who}}).body;
    };
    CHECK(loop_for("ann").find("would wait forever") != std::string::npos);
    CHECK(loop_for("ann").find("secret-y") == std::string::npos);
    CHECK(loop_for("bob").find("secret-x after secret-y after billing-eu") != std::string::npos);
    // Cursors tell no more than rows.
    REQUIRE(trigger_job(w.c.by_hand, "settle", {"bob"}));
    for (std::string const list : {"audit", "dead-letters"})
        for (auto const& page : {as("ann", "GET", here + list + "?limit=1"), as("ann", "GET", here + list)})
            CHECK_MESSAGE(page.body.find("settle") == std::string::npos, page.body);
    w.c.create("/settle/ext/hosts");
    w.c.create("/settle/ext/hosts/" + w.m.ip, "of-another-job");
    CHECK(as("bob", "GET", here + "servers").in_row(0, "host") == "of-another-job");
    CHECK_FALSE(as("ann", "GET", here + "servers").json["rows"][0].HasMember("host"));
    CHECK(as("eve", "GET", here + "jobs").status == 403);
    CHECK(as("ann", "GET", "me").json["verbs"].Size() == 2);
    CHECK(w.get("me").status == 401);
    CHECK(w.send("GET", "me", {}, {{"x-remote-user", "ann"}, {"x-remote-user", "bob"}}).status == 401);
    w.options.proxies = {"10.0.0.1"};
    CHECK(as("ann", "GET", "me").status == 401);
}
