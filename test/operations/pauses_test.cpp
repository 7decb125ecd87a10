// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/operations/pauses.hpp>

#include <elasticjob/operations/explain.hpp>
#include <elasticjob/operations/job_overview.hpp>
#include <elasticjob/operations/server_overview.hpp>
#include <elasticjob/operations/trigger.hpp>

#include <support/cluster.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

using namespace elasticjob;
using namespace elasticjob::test;

namespace {

using effect = command_result::effect;

command_by const ann{"ann"};

/// Two servers that each have items of a job that is due every minute.
struct minutely {
    cluster c;
    member& one = c.add();
    member& two = c.add();

    minutely() {
        for (auto* m : {&one, &two}) REQUIRE(m->schedule(make_job("settle", "0 * * * * ?", 4)));
        c.run_for(30s);
    }
    /// The number of runs in the next minute.
    std::size_t begun() {
        auto const before = c.count(heard::kind::started);
        c.run_for(1min);
        return c.count(heard::kind::started) - before;
    }
};

bool is(result<command_result> const& r, effect what) { return r && r->what == what; }

} // namespace

TEST_CASE("operations.pauses: while a job or a server is paused no run begins there, and the items stay") {
    minutely w;
    CHECK(w.begun() == 4);
    auto const owners = w.c.owners("settle", 4);
    CHECK(is(pause_server(w.c.by_hand, "settle", "10.0.0.1", {"ann", {}, true}), effect::planned));
    CHECK(list_pauses(w.c.by_hand, "settle")->empty());
    CHECK(is(pause_server(w.c.by_hand, "settle", "10.0.0.1", {"ann", "key-1"}), effect::done));
    CHECK(w.begun() == 2);
    CHECK(is(pause_server(w.c.by_hand, "settle", "10.0.0.1", {"ann", "key-1"}), effect::repeated));
    CHECK(is(pause_server(w.c.by_hand, "settle", "10.0.0.1", ann), effect::unchanged));
    CHECK(is(pause_job(w.c.by_hand, "settle", ann), effect::done));
    CHECK(w.begun() == 0);
    CHECK(is(resume_server(w.c.by_hand, "settle", "10.0.0.1", ann), effect::done));
    CHECK(w.begun() == 0);
    auto const pauses = list_pauses(w.c.by_hand, "settle").value();
    REQUIRE(pauses.size() == 2);
    CHECK(pauses[0].server == "10.0.0.1");
    CHECK(pauses[0].until.has_value());
    CHECK_FALSE(pauses[1].until.has_value());
    CHECK(is(resume_job(w.c.by_hand, "settle", ann), effect::done));
    CHECK(is(resume_job(w.c.by_hand, "settle", ann), effect::unchanged));
    CHECK(w.begun() == 4);
    CHECK(w.c.owners("settle", 4) == owners);
    auto const trail = list_commands(w.c.by_hand, "settle").value();
    REQUIRE(trail.entries().size() == 6);
    CHECK(trail.entries()[0].verb == "pause");
    CHECK(trail.entries()[0].subject == "server 10.0.0.1");
    CHECK(trail.entries()[3].verb == "resume");
}

TEST_CASE("operations.pauses: the lists show what is paused") {
    minutely w;
    auto& r = w.c.by_hand;
    auto const paused_instances = [&] {
        auto const all = list_instances(r, "settle").value();
        return std::count_if(all.begin(), all.end(), [](instance_overview const& i) { return i.is_paused; });
    };
    CHECK(paused_instances() == 0);
    REQUIRE(pause_server(r, "settle", "10.0.0.1", ann));
    auto const job = describe_job(r, "settle").value();
    CHECK_FALSE(job.is_paused);
    CHECK(job.paused_servers == std::vector<std::string>{"10.0.0.1"});
    CHECK(paused_instances() == 1);
    CHECK(describe_server(r, "10.0.0.1").value().front().is_paused);
    CHECK_FALSE(describe_server(r, "10.0.0.2").value().front().is_paused);
    auto const servers = list_servers(r).value();
    REQUIRE(servers.size() == 2);
    CHECK(servers[0].paused_jobs == std::vector<std::string>{"settle"});
    CHECK(servers[1].paused_jobs.empty());

    REQUIRE(pause_job(r, "settle", ann));
    REQUIRE(resume_server(r, "settle", "10.0.0.1", ann));
    CHECK(list_jobs(r).value().jobs.front().is_paused);
    CHECK(list_jobs(r).value().jobs.front().paused_servers.empty());
    CHECK(paused_instances() == 2);
    CHECK(list_servers(r).value()[1].paused_jobs.size() == 1);
    REQUIRE(resume_job(r, "settle", ann));
    CHECK_FALSE(describe_job(r, "settle").value().is_paused);
}

TEST_CASE("operations.pauses: a trigger that no instance can obey is refused, and an explanation names the pause") {
    minutely w;
    auto& r = w.c.by_hand;
    auto const item = w.c.owner("settle", 0) == w.one.id("settle") ? item_index{0} : item_index{2};
    CHECK(explain(r, "settle", item)->text.find("paused") == std::string::npos);
    REQUIRE(pause_server(r, "settle", "10.0.0.1", ann));
    CHECK(explain(r, "settle", item)->text.find("The server 10.0.0.1 has been paused since 2026-01-01 00:00:30") !=
          std::string::npos);
    CHECK(trigger_job(r, "settle", ann)); // the other server can run its items, and the order waits here
    auto const refused = trigger_server(r, "settle", "10.0.0.1", ann);
    CHECK(refused.error() == errc::version_conflict);
    CHECK(refused.error().where == "/settle/ext/orders/pause");
    REQUIRE(pause_job(r, "settle", ann));
    CHECK(trigger_job(r, "settle", ann).error() == errc::version_conflict);
    CHECK(explain(r, "settle", item)->text.find("The job has been paused since") != std::string::npos);
    REQUIRE(resume_job(r, "settle", ann));
    REQUIRE(resume_server(r, "settle", "10.0.0.1", ann));
    CHECK(trigger_server(r, "settle", "10.0.0.1", ann));
}

TEST_CASE("operations.pauses: impossible pauses are refused, and a pause begins once, whatever is lost") {
    minutely w;
    CHECK(pause_job(w.c.by_hand, "nobody", ann).error() == errc::no_node);
    CHECK(pause_server(w.c.by_hand, "settle", "10.0.0.9", ann).error() == errc::no_node);
    CHECK(pause_server(w.c.by_hand, "settle", "", ann).error() == errc::invalid_argument);
    CHECK(resume_server(w.c.by_hand, "settle", "a/b", ann).error() == errc::invalid_argument);
    for (auto const fate : {request_fate::reply_lost, request_fate::request_lost}) {
        {
            losing const lost{w.c.server, losing::nth_write(w.c.by_hand.session().id, 0, fate)};
            CHECK(is(pause_job(w.c.by_hand, "settle", ann), effect::done));
        }
        CHECK(w.begun() == 0);
        losing const lost{w.c.server, losing::nth_write(w.c.by_hand.session().id, 0, fate)};
        CHECK(is(resume_job(w.c.by_hand, "settle", ann), effect::done));
    }
    REQUIRE(w.one.schedule(make_job("bill", never, 1)));
    w.c.run_for(1s);
    auto const all = pause_server_everywhere(w.c.by_hand, "10.0.0.1", {"ann", "key-2"}).value();
    REQUIRE(all.size() == 2);
    CHECK(is(all[0].outcome, effect::done));
    CHECK(is(all[1].outcome, effect::done));
    auto const back = resume_server_everywhere(w.c.by_hand, "10.0.0.1", {"ann", "key-3"}).value();
    CHECK(is(back[1].outcome, effect::done));
    w.c.set("/settle/ext/orders/pause", "nonsense");
    auto const refused = pause_job(w.c.by_hand, "settle", ann);
    CHECK(refused.error() == errc::malformed_data);
    CHECK(refused.error().where == "/settle/ext/orders/pause");
}
