// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/operations/item_overview.hpp>
#include <elasticjob/operations/job_overview.hpp>
#include <elasticjob/operations/server_overview.hpp>

#include <elasticjob/cron/time_zone.hpp>
#include <support/cluster.hpp>
#include <support/counting_registry.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace elasticjob;
using namespace elasticjob::test;

namespace {

using names = std::vector<std::string>;

names names_of(job_page const& page) {
    names all;
    for (auto const& job : page.jobs) all.push_back(job.name);
    return all;
}

/// Jobs that consist only of nodes, as other clients have left them.
struct tree {
    virtual_loop loop;
    basic_memory_server<virtual_loop> server{loop};
    counting_registry registry{server};

    void write(std::string const& path, std::string data = {}) {
        auto const at = node_path::parse(path).value();
        for (auto const& one : {at.parent().parent().parent(), at.parent().parent(), at.parent()})
            if (!one.is_root()) (void)block_on(loop, registry.create(one, {}, create_mode::persistent));
        if (!block_on(loop, registry.create(at, data, create_mode::persistent)))
            REQUIRE(block_on(loop, registry.set(at, std::move(data))));
    }
    /// With Java nodes alone: its items are read one by one.
    void add_job(std::string const& name, names const& owners = {}, names const& instances = {}) {
        write("/" + name + "/config", to_json(make_job(name, never, 2)));
        for (std::size_t i = 0; i < owners.size(); ++i)
            write("/" + name + "/sharding/" + std::to_string(i) + "/instance", owners[i]);
        for (auto const& id : instances) {
            write("/" + name + "/instances/" + id);
            write("/" + name + "/servers/" + id.substr(0, id.find("@-@")));
        }
    }
    job_overview job(std::string const& name) { return describe_job(registry, name).value(); }
};

} // namespace

TEST_CASE("operations.overview: the status of 2.1.5 and ours") {
    tree t;
    names const a{"10.0.0.1@-@7"}, b{"10.0.0.2@-@8"};
    t.add_job("settle");
    CHECK(t.job("settle").status == console_status::crashed);
    CHECK(t.job("settle").health == job_health::no_instances);
    t.add_job("settle", {}, a);
    CHECK(t.job("settle").status == console_status::sharding_flag); // no item has an owner
    CHECK(t.job("settle").health == job_health::unowned);
    t.add_job("settle", {a[0], b[0]});
    CHECK(t.job("settle").status == console_status::sharding_flag); // its owner is gone
    CHECK(t.job("settle").health == job_health::orphaned);
    t.add_job("settle", {a[0], ""});
    CHECK(t.job("settle").status == console_status::ok); // 2.1.5 looks for owners only
    CHECK(t.job("settle").health == job_health::unowned);
    t.add_job("settle", {a[0], a[0]});
    CHECK(t.job("settle").status == console_status::ok);
    CHECK(t.job("settle").health == job_health::ok);
    CHECK(t.job("settle").item_count == 2);
    CHECK(t.job("settle").instance_count == 1);
    CHECK(t.job("settle").cron == never);
    t.write("/settle/leader/sharding/necessary");
    CHECK(t.job("settle").status == console_status::ok);
    CHECK(t.job("settle").health == job_health::sharding_due);
    t.write("/settle/servers/10.0.0.1", "DISABLED");
    CHECK(t.job("settle").status == console_status::disabled);
    CHECK(t.job("settle").health == job_health::disabled);
    t.write("/settle/servers/10.0.0.9"); // an enabled one without an instance
    CHECK(t.job("settle").status == console_status::ok);
    CHECK(t.job("settle").health == job_health::disabled);
    t.add_job("settle", {}, b); // the first instance is disabled, the second is not
    CHECK(t.job("settle").health == job_health::sharding_due);
    CHECK(name_of(console_status::sharding_flag) == "SHARDING_FLAG");
    CHECK(name_of(job_health::sharding_due) == "sharding_due");
}

TEST_CASE("operations.overview: the assignment shows members of this library") {
    cluster c;
    auto& m = c.add();
    auto& other = c.add();
    REQUIRE(m.schedule(make_job("settle", never, 5)));
    REQUIRE(other.schedule(make_job("settle", never, 5)));
    c.run_for(1s);
    auto const job = describe_job(c.by_hand, "settle").value();
    CHECK(job.status == console_status::ok);
    CHECK(job.health == job_health::ok);
    CHECK(job.item_count == 5);
    CHECK(job.instance_count == 2);
    post(c.loop, [&m] { m.registry.disconnect(); });
    post(c.loop, [&other] { other.registry.disconnect(); });
    c.run_for(15s);
    CHECK(describe_job(c.by_hand, "settle").value().health == job_health::no_instances);
}

TEST_CASE("operations.overview: jobs come in pages, and only those that are wanted") {
    tree t;
    for (auto const* name : {"bill", "settle", "settle-again", "sweep"}) t.add_job(name);
    t.write("/no-job");
    CHECK(names_of(list_jobs(t.registry).value()) == names{"bill", "settle", "settle-again", "sweep"});
    CHECK(list_jobs(t.registry).value().next.empty());
    auto page = list_jobs(t.registry, {.jobs_max = 2}).value();
    CHECK(names_of(page) == names{"bill", "settle"});
    CHECK(page.next == "settle");
    page = list_jobs(t.registry, {.after = page.next, .jobs_max = 2}).value();
    CHECK(names_of(page) == names{"settle-again", "sweep"});
    CHECK(page.next.empty());
    CHECK(names_of(list_jobs(t.registry, {.name_contains = "settle"}).value()) == names{"settle", "settle-again"});
    t.add_job("sweep", {}, {"10.0.0.1@-@7"});
    CHECK(names_of(list_jobs(t.registry, {.status = console_status::sharding_flag}).value()) == names{"sweep"});
    CHECK(names_of(list_jobs(t.registry, {.health = job_health::unowned}).value()) == names{"sweep"});
    CHECK(list_jobs(t.registry, {.health = job_health::ok}).value().jobs.empty());
}

TEST_CASE("operations.overview: a configuration that cannot be read hides no other job") {
    tree t;
    t.add_job("bill");
    t.add_job("settle", {}, {"10.0.0.1@-@7"});
    t.write("/settle/config", "{nonsense");
    auto const page = list_jobs(t.registry).value();
    REQUIRE(page.jobs.size() == 2);
    CHECK_FALSE(page.jobs[0].fault);
    CHECK(page.jobs[1].health == job_health::unreadable);
    CHECK(page.jobs[1].status == console_status::sharding_flag);
    CHECK(*page.jobs[1].fault == errc::malformed_data);
    CHECK(page.jobs[1].fault->where.starts_with("/settle/config"));
}

TEST_CASE("operations.overview: names the reason if a node is no job") {
    tree t;
    CHECK(list_jobs(t.registry).value().jobs.empty());
    CHECK(describe_job(t.registry, "settle").error() == errc::no_node);
    CHECK(describe_job(t.registry, "a/b").error() == errc::invalid_argument);
    t.write("/settle/ext/removed");
    CHECK(describe_job(t.registry, "settle").error() == errc::removed);
    CHECK(list_instances(t.registry, "settle").error() == errc::no_node);
    CHECK(list_items(t.registry, "settle").error() == errc::no_node);
    CHECK(describe_server(t.registry, "10.0.0.1").error() == errc::no_node);
    CHECK(describe_server(t.registry, "a/b").error() == errc::invalid_argument);
    t.registry.disconnect();
    CHECK(list_jobs(t.registry).error() == errc::not_sent);
    CHECK(list_servers(t.registry).error() == errc::not_sent);
}

TEST_CASE("operations.overview: 3,000 jobs take seven requests each, a few at a time") {
    tree t;
    cluster c; // an assignment as ours, copied to all jobs: both nodes are of one transaction
    REQUIRE(c.add().schedule(make_job("settle", never, 4)));
    c.run_for(1s);
    auto const id = c.owner("settle", 0);
    auto const assigned = c.data("/settle/ext/assignment");
    for (int n = 0; n < 3'000; ++n) {
        auto const name = "job-" + std::to_string(10'000 + n);
        t.add_job(name, {}, {id});
        transaction both{t.registry.session().generation};
        auto const at = job_layout{job_name::parse(name).value()};
        for (auto const& path : {at.ext(), at.sharding(), at.item(0)}) both.create(path, {});
        both.create(at.assignment(), assigned).set(at.assignment(), assigned);
        both.create(at.item_instance(0), id).set(at.item_instance(0), id);
        REQUIRE(block_on(t.loop, t.registry.commit(std::move(both))).value());
    }
    t.registry.reset();
    auto const all = list_jobs(t.registry, {.jobs_max = 5'000}).value();
    CHECK(all.jobs.size() == 3'000);
    CHECK(std::all_of(all.jobs.begin(), all.jobs.end(), [](auto const& j) { return j.health == job_health::ok; }));
    CHECK(t.registry.requests() == 1 + 3'000 * 7);
    CHECK(t.registry.most_at_once == 60);

    t.registry.reset();
    CHECK(list_jobs(t.registry).value().jobs.size() == 100);
    CHECK(t.registry.requests() <= 1 + 108 * 7); // whole batches of 12
    t.registry.reset();
    CHECK(list_jobs(t.registry, {.name_contains = "job-12345"}).value().jobs.size() == 1);
    CHECK(t.registry.requests() == 1 + 7);
    t.registry.reset();
    CHECK(list_servers(t.registry).value().size() == 1);
    CHECK(t.registry.requests() == 1 + 3'000 * 5);
    CHECK(t.registry.most_at_once == 64);
    t.registry.reset();
    CHECK(describe_server(t.registry, c.members[0]->ip).value().size() == 3'000);
    CHECK(t.registry.requests() == 1 + 3'000 * 4);
}

TEST_CASE("operations.overview: servers and instances") {
    cluster c;
    auto& one = c.add_labelled("gpu", 3);
    auto& two = c.add();
    for (auto* m : {&one, &two}) REQUIRE(m->schedule(make_job("settle", never, 5)));
    REQUIRE(two.schedule(make_job("bill", never, 1)));
    c.create("/bill/servers/10.0.0.9", "DISABLED");
    c.create("/bill/servers/10.0.0.8");
    c.run_for(1s);
    REQUIRE(two.disable("settle"));
    c.run_for(1s);

    auto const servers = list_servers(c.by_hand).value();
    REQUIRE(servers.size() == 4);
    CHECK(servers[0].server == "10.0.0.1");
    CHECK(servers[0].jobs == names{"settle"});
    CHECK(servers[0].instances == names{one.id("settle")});
    CHECK(servers[1].server == "10.0.0.2");
    CHECK(servers[1].jobs == names{"bill", "settle"});
    CHECK(servers[1].disabled_jobs == names{"settle"});
    CHECK(servers[1].idle_jobs.empty());
    CHECK(servers[2].idle_jobs == names{"bill"});
    CHECK(servers[2].disabled_jobs.empty());
    CHECK(servers[3].server == "10.0.0.9");
    CHECK(servers[3].disabled_jobs == names{"bill"});
    CHECK(servers[3].instances.empty());

    auto const of_two = describe_server(c.by_hand, "10.0.0.2").value();
    REQUIRE(of_two.size() == 2);
    CHECK(of_two[0].job == "bill");
    CHECK_FALSE(of_two[0].is_disabled);
    CHECK(of_two[1].is_disabled);
    CHECK(of_two[1].has_node);
    CHECK(of_two[1].instances == names{two.id("settle")});

    auto const instances = list_instances(c.by_hand, "settle").value();
    REQUIRE(instances.size() == 2);
    CHECK(instances[0].id == one.id("settle"));
    CHECK(instances[0].weight == 3);
    CHECK(instances[0].labels == "gpu");
    CHECK(instances[0].item_count == 5);
    CHECK(instances[0].is_leader);
    CHECK_FALSE(instances[0].is_java);
    CHECK_FALSE(instances[0].is_disabled);
    CHECK(instances[1].is_disabled);
    CHECK(instances[1].item_count == 0);
    CHECK(instances[1].weight == 1);

    tree t;
    t.add_job("settle", {"10.0.0.1@-@7", "10.0.0.1@-@7"}, {"10.0.0.1@-@7"});
    t.write("/settle/instances/10.0.0.1@-@7", "TRIGGER");
    auto const java = list_instances(t.registry, "settle").value();
    REQUIRE(java.size() == 1);
    CHECK(java[0].is_java);
    CHECK(java[0].is_left_over); // no session stands behind it
    CHECK(java[0].is_triggered);
    CHECK(java[0].item_count == 2);
}

TEST_CASE("operations.overview: servers and instances have the host name that was written last") {
    cluster c;
    c.host_name = "db-1.example";
    auto& one = c.add();
    c.host_name.clear();
    auto& two = c.add();
    for (auto* m : {&one, &two})
        for (auto const* job : {"settle", "bill"}) REQUIRE(m->schedule(make_job(job, never, 2)));
    c.run_for(1s);
    CHECK(c.data("/settle/ext/hosts/10.0.0.1") == "db-1.example");
    CHECK_FALSE(c.has("/settle/ext/hosts/10.0.0.2"));
    c.set("/bill/ext/hosts/10.0.0.1", "db-2.example");
    c.create("/bill/ext/hosts/10.0.0.2", "not a name");

    auto const servers = list_servers(c.by_hand).value();
    REQUIRE(servers.size() == 2);
    CHECK(servers[0].host == "db-2.example");
    CHECK(servers[1].host.empty());
    c.set("/settle/ext/hosts/10.0.0.1", "db-3.example");
    CHECK(list_servers(c.by_hand).value()[0].host == "db-3.example");

    auto const in_jobs = describe_server(c.by_hand, "10.0.0.1").value();
    REQUIRE(in_jobs.size() == 2);
    CHECK(in_jobs[0].host == "db-2.example");
    CHECK(in_jobs[1].host == "db-3.example");

    auto const instances = list_instances(c.by_hand, "bill").value();
    REQUIRE(instances.size() == 2);
    CHECK(instances[0].host == "db-2.example");
    CHECK(instances[1].host.empty());
}

TEST_CASE("operations.overview: items show their state, their last outcome, and their next due instant") {
    cluster c;
    auto& m = c.add();
    m.body = [](sharding_context const& ctx) -> result<void> {
        if (ctx.item == 1) return error{errc::job_failed, "out of paper"};
        return success();
    };
    auto job = make_job("settle", "0 0 * * * ?", 4);
    job.retry = {.attempts_max = 2, .pause = 20s, .spread_percent = 0};
    REQUIRE(m.schedule(job));
    c.run_for(1s);
    auto const now = c.loop.wall_now();
    auto page = list_items(c.by_hand, "settle").value();
    REQUIRE(page.items.size() == 4);
    CHECK(page.item_count == 4);
    CHECK_FALSE(page.next);
    CHECK(page.items[3].item == 3);
    CHECK(page.items[3].owner == m.id("settle"));
    CHECK(page.items[3].health == item_health::idle);
    CHECK(page.items[3].status == console_item_status::pending);
    CHECK_FALSE(page.items[3].next_due); // it has never run, and no member has written the zone
    auto const full_hour = std::chrono::ceil<std::chrono::hours>(now);
    UtcZone const utc{};
    page = list_items(c.by_hand, "settle", {.zone = utc}).value();
    CHECK(page.items[3].next_due == full_hour);

    c.create("/settle/sharding/2/disabled");
    c.run_for(1h);
    page = list_items(c.by_hand, "settle").value();
    CHECK(page.items[0].health == item_health::idle);
    REQUIRE(page.items[0].ledger.size() == 1);
    CHECK(page.items[0].ledger[0].outcome == run_outcome::completed);
    CHECK(page.items[0].ledger[0].run.due == full_hour);
    CHECK(page.items[0].next_due == full_hour + 1h);
    CHECK(page.items[1].health == item_health::retrying);
    REQUIRE(page.items[1].retry);
    CHECK(page.items[1].retry->attempt == 2);
    CHECK(page.items[1].next_due == page.items[1].retry->at);
    CHECK(page.items[2].health == item_health::disabled);
    CHECK(page.items[2].status == console_item_status::disabled);
    c.run_for(1min);
    CHECK(list_items(c.by_hand, "settle").value().items[1].dead_letters == 1);

    m.holds = true;
    c.run_for(1h);
    page = list_items(c.by_hand, "settle", {.first = 3, .items_max = 100}).value();
    REQUIRE(page.items.size() == 1);
    CHECK(page.items[0].health == item_health::running);
    CHECK(page.items[0].status == console_item_status::running);
    REQUIRE(page.items[0].running);
    CHECK(page.items[0].running->due == full_hour + 1h);
    page = list_items(c.by_hand, "settle", {.first = 1, .items_max = 2}).value();
    REQUIRE(page.items.size() == 2);
    CHECK(page.next == 3);
    CHECK(list_items(c.by_hand, "settle", {.first = 9}).value().items.empty());

    post(c.loop, [&m] { m.registry.disconnect(); });
    c.run_for(15s);
    page = list_items(c.by_hand, "settle").value();
    CHECK(page.items[0].health == item_health::interrupted);
    CHECK(page.items[0].status == console_item_status::sharding_flag);
    CHECK(page.items[2].health == item_health::disabled);
    c.remove("/settle/sharding/2/disabled");
    CHECK(list_items(c.by_hand, "settle").value().items[2].health == item_health::orphaned);
    c.set("/settle/ext/run/0", "nonsense");
    page = list_items(c.by_hand, "settle").value();
    CHECK(page.items[0].health == item_health::unreadable);
    CHECK(page.items[0].fault->where.starts_with("/settle/ext/run/0"));
}

TEST_CASE("operations.overview: a page of items costs only the requests for its own items") {
    tree t;
    t.write("/settle/config", to_json(make_job("settle", never, 10'000)));
    t.registry.reset();
    auto const page = list_items(t.registry, "settle", {.first = 5'000}).value();
    CHECK(page.items.size() == 100);
    CHECK(page.items[0].health == item_health::unowned);
    CHECK(page.next == 5'100);
    CHECK(t.registry.requests() == 5 + 100 * 5);
    CHECK(t.registry.most_at_once == 64);
}
