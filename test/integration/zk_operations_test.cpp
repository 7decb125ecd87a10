// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/operations/add_job.hpp>
#include <elasticjob/operations/clock.hpp>
#include <elasticjob/operations/dead_letter_query.hpp>
#include <elasticjob/operations/history.hpp>
#include <elasticjob/operations/item_overview.hpp>
#include <elasticjob/operations/job_overview.hpp>
#include <elasticjob/operations/job_settings.hpp>
#include <elasticjob/operations/pauses.hpp>
#include <elasticjob/operations/remove_job.hpp>
#include <elasticjob/operations/restore_job.hpp>
#include <elasticjob/operations/server_overview.hpp>
#include <elasticjob/operations/shut_down.hpp>
#include <elasticjob/operations/stop_run.hpp>
#include <elasticjob/operations/switches.hpp>
#include <elasticjob/operations/tree_health.hpp>
#include <elasticjob/operations/trigger.hpp>


#include <integration/zk_lab.hpp>
#include <integration/zk_proxy.hpp>
#include <support/full_run.hpp>
#include <support/measured.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace elasticjob;
using namespace elasticjob::test;

namespace {

/// The nodes of a job with one instance, without a process.
void put_job(transaction& t, std::string const& name, std::string const& id) {
    job_layout const at{job_name::parse(name).value()};
    t.create(at.root(), {});
    t.create(at.config(), to_json({.name = name, .cron = "0 0 0 1 1 ? 2099", .sharding_total_count = 1}));
    for (auto const& path : {at.servers(), at.instances(), at.ext(), at.sharding(), at.item(0)}) t.create(path, {});
    t.create(at.server(id.substr(0, id.find("@-@"))), {});
    t.create(at.instances() / id, {});
    // One transaction writes both, like a leader's.
    using ids = std::vector<instance_id>;
    assignment const a{1, "AverageAllocation", ids{*instance_id::parse(id)}, closed_form{1, 1}};
    t.create(at.assignment(), {}).set(at.assignment(), a.to_text());
    t.create(at.item_instance(0), {}).set(at.item_instance(0), id);
}

/// Gets no reply to its next transaction.
struct deaf_registry : ZkRegistry {
    deaf_registry(ZkRegistry r, tcp_proxy& p) : ZkRegistry{std::move(r)}, proxy{p} {}

    task<result<commit_reply>> commit(transaction t) {
        if (std::exchange(is_deaf, false)) proxy.set_replies(wire::lossy);
        return ZkRegistry::commit(std::move(t));
    }

    tcp_proxy& proxy;
    bool is_deaf = false;
};
static_assert(registry<deaf_registry>);

} // namespace

TEST_CASE("zk_operations: the overview of many jobs takes seven requests and less than 2 kB for each") {
    auto const jobs = amount_for_this_run({.full = 3'000, .usual = 600, .sanitized = 600});
    shared_zk_server server;
    auto r = connected(to(server));
    auto const id = std::string{"10.0.0.1@-@7-0123456789abcdef"};
    for (std::size_t n = 0; n < jobs; n += 20) {
        transaction t{r.session().generation};
        for (auto i = n; i < n + 20; ++i) put_job(t, "job-" + std::to_string(10'000 + i), id);
        REQUIRE(block_on(r.loop(), r.commit(std::move(t))).value());
    }
    tcp_proxy wire{server.port()};
    auto through = to(server);
    through.servers = wire.endpoint();
    auto reader = connected(through);
    std::size_t requests = 0;
    auto const count = [&](registry_request const&) { ++requests; };
    measured<ZkRegistry> counted{reader, count};
    auto const before = wire.bytes();
    auto const all = list_jobs(counted, {.jobs_max = 5'000});
    REQUIRE(all);
    auto const bytes = wire.bytes() - before;
    MESSAGE(bytes << " bytes for " << jobs << " jobs");
    CHECK(bytes < jobs * 2'000); // both ways
    CHECK(all->jobs.size() == jobs);
    CHECK(std::all_of(all->jobs.begin(), all->jobs.end(), [](auto const& j) { return j.health == job_health::ok; }));
    CHECK(requests == 1 + jobs * 7);

    auto const servers = list_servers(r);
    REQUIRE(servers);
    REQUIRE(servers->size() == 1);
    CHECK(servers->front().jobs.size() == jobs);
    CHECK(describe_server(r, "10.0.0.1").value().size() == jobs);
    auto const instances = list_instances(r, "job-10007");
    REQUIRE(instances);
    REQUIRE(instances->size() == 1);
    CHECK(instances->front().item_count == 1);
    CHECK(instances->front().is_left_over);
    auto const items = list_items(r, "job-10007");
    REQUIRE(items);
    CHECK(items->items.at(0).owner == id);
    CHECK(items->items[0].health == item_health::idle);
}

TEST_CASE("zk_operations: every command is one transaction, on record, and takes effect once") {
    shared_zk_server server;
    auto r = connected(to(server));
    auto const id = std::string{"10.0.0.1@-@7-0123456789abcdef"};
    transaction t{r.session().generation};
    put_job(t, "settle", id);
    REQUIRE(block_on(r.loop(), r.commit(std::move(t))).value());
    auto const data = [&](std::string const& path) {
        auto const there = block_on(r.loop(), r.get(at(path)));
        return there ? there->data : std::string{name_of(there.error().code)};
    };
    auto const by = [](std::string key) { return command_by{"ann", std::move(key)}; };
    std::string const refused = "refused";
    auto const what = [&](result<command_result> const& c) { return c ? std::string{name_of(c->what)} : refused; };

    CHECK(what(trigger_job(r, "settle", by("1"))) == "done");
    CHECK(what(trigger_job(r, "settle", by("1"))) == "repeated");
    CHECK(data("/settle/ext/orders").empty());
    CHECK(what(trigger_server(r, "settle", "10.0.0.1", by("2"))) == "done");
    CHECK(data("/settle/instances/" + id) == "TRIGGER");
    CHECK(what(trigger_item(r, "settle", 0, by("3"))) == "done");
    CHECK(what(trigger_item(r, "settle", 0, by("4"))) == refused);
    CHECK(data("/settle/ext/orders/look-0").empty());
    auto const record = run_record::parse(data("/settle/ext/run/0"));
    REQUIRE(record);
    CHECK(record->retry->source == run_source::trigger);

    CHECK(what(switch_item(r, "settle", 0, switched::off, by("5"))) == "done");
    CHECK(data("/settle/sharding/0/disabled").empty());
    CHECK(what(switch_item(r, "settle", 0, switched::on, by("6"))) == "done");
    CHECK(data("/settle/sharding/0/disabled") == "no_node");
    CHECK(what(switch_server(r, "settle", "10.0.0.1", switched::off, by("7"))) == "done");
    CHECK(data("/settle/servers/10.0.0.1") == "DISABLED");
    CHECK(what(switch_job(r, "settle", switched::on, by("8"))) == "done");
    CHECK(data("/settle/servers/10.0.0.1").empty());
    auto const everywhere = switch_server_everywhere(r, "10.0.0.1", switched::off, by("9"));
    REQUIRE(everywhere);
    CHECK(what(everywhere->at(0).outcome) == "done");

    auto settings = read_settings(r, "settle");
    REQUIRE(settings);
    settings->config.description = "monthly";
    settings_change const change{settings->config, settings->tag};
    CHECK(what(change_settings(r, change, by("10"))) == "done");
    CHECK(what(change_settings(r, change, by("11"))) == refused);
    CHECK(read_settings(r, "settle")->config.description == "monthly");
    auto other = settings->config;
    other.name = "bill";
    CHECK(what(change_settings(r, {other, {}, true}, by("1"))) == "done");
    CHECK(describe_job(r, "bill").has_value());

    CHECK(what(remove_server(r, "settle", "10.0.0.1", by("12"))) == refused);
    CHECK(what(shut_down_instance(r, "settle", id, by("13"))) == "done");
    CHECK(data("/settle/instances/" + id) == "no_node");
    CHECK(what(shut_down_server(r, "settle", "10.0.0.1", by("14"))) == refused);
    CHECK(what(shut_down_job(r, "settle", by("15"))) == refused);
    CHECK(what(remove_server(r, "settle", "10.0.0.1", by("16"))) == "done");
    CHECK(data("/settle/servers/10.0.0.1") == "no_node");
    CHECK(data("/settle/instances").empty());

    auto const trail = list_commands(r, "settle");
    REQUIRE(trail);
    CHECK(trail->entries().size() == 16);
    CHECK(trail->find("16")->verb == "remove");
}

TEST_CASE("zk_operations: a job is added, paused, removed and restored, each once and on record") {
    shared_zk_server server;
    auto r = connected(to(server));
    job_config const config{.name = "settle", .cron = "0 0 0 1 1 ? 2099", .sharding_total_count = 2};
    auto const by = [](std::string key) { return command_by{"ann", std::move(key)}; };
    auto const what = [](result<command_result> const& c) {
        return c ? std::string{name_of(c->what)} : std::string{name_of(c.error().code)};
    };
    CHECK(what(add_job(r, config, by("1"))) == "done");
    CHECK(what(add_job(r, config, by("1"))) == "repeated");
    CHECK(what(add_job(r, config, by("2"))) == "unchanged");
    CHECK(what(pause_job(r, "settle", by("3"))) == "done");
    CHECK(what(pause_job(r, "settle", by("4"))) == "unchanged");
    CHECK(what(resume_job(r, "settle", by("5"))) == "done");
    CHECK(what(pause_server(r, "settle", "10.0.0.1", by("6"))) == "no_node");
    CHECK(list_pauses(r, "settle").value().size() == 1);
    CHECK(what(remove_job(r, "settle", by("7"))) == "done");
    CHECK(what(remove_job(r, "settle", by("8"))) == "unchanged");
    CHECK(what(add_job(r, config, by("9"))) == "removed");
    CHECK(what(restore_job(r, "settle", by("10"))) == "done");
    CHECK(what(restore_job(r, "settle", by("10"))) == "repeated");
    CHECK(what(add_job(r, config, by("11"))) == "done");
    CHECK(what(restore_job(r, "settle", by("12"))) == "no_node");
    CHECK(list_commands(r, "settle").value().entries().size() == 12); // one for each key
}

TEST_CASE("zk_operations: dead letters, the runs on record, a run to stop, the clock") {
    shared_zk_server server;
    auto r = connected(to(server));
    auto const id = std::string{"10.0.0.1@-@7-0123456789abcdef"};
    transaction t{r.session().generation};
    put_job(t, "settle", id);
    job_layout const layout{job_name::parse("settle").value()};
    wall_time const due{std::chrono::hours{24}};
    run_record record;
    for (int n = 0; n < 3; ++n) {
        run_entry const e{
            {due + n * 1h, run_source::schedule, 1, id, due + n * 1h}, run_outcome::failed, due + n * 1h + 1s};
        record.ledger.push_back(e);
        record.dead_letters.push_back(e);
    }
    t.create(layout.run_records(), {}).create(layout.run_record(0), record.to_text());
    REQUIRE(block_on(r.loop(), r.commit(std::move(t))).value());

    CHECK(list_dead_letters(r, dead_letter_query{}).value().letters.size() == 3);
    CHECK(discard(r, "settle", 0, due, {"ann", "1"}).value().what == command_result::effect::done);
    CHECK(discard(r, "settle", 0, due, {"ann", "1"}).value().what == command_result::effect::repeated);
    auto const again = run_again(r, dead_letter_query{.job = "settle"}, {"ann", "2"}).value();
    REQUIRE(again.letters.size() == 2);
    CHECK(again.letters[0].outcome.value().what == command_result::effect::done);
    CHECK(again.letters[1].outcome.error() == errc::version_conflict);
    auto const runs = list_executions(r, {.job = "settle", .is_descending = false, .rows_max = 2}).value();
    REQUIRE(runs.rows.size() == 2);
    CHECK(runs.rows[0].started == due);
    CHECK(list_executions(r, {.job = "settle", .is_descending = false, .after = runs.next}).value().rows.size() == 1);

    CHECK(stop_run(r, "settle", 0, {"ann", "3"}).error() == errc::not_running);
    record.running = run_begin{due + 9h, run_source::schedule, 1, id, due + 9h};
    REQUIRE(block_on(r.loop(), r.set(layout.run_record(0), record.to_text())));
    std::jthread const instance{[&] { // it notes the order
        auto one = connected(to(server));
        on_loop(one.loop(), [&]() -> task<> { return until_exists(one, layout.stop_order(0), true); });
        CHECK(block_on(one.loop(), one.remove(layout.stop_order(0))));
    }};
    CHECK(stop_run(r, "settle", 0, {"ann", "4"}, 60s).value().what == command_result::effect::done);

    auto const clock = read_clock(r).value();
    CHECK(clock.samples >= 1);
    CHECK(std::chrono::abs(clock.offset) <= clock.uncertainty + 1s); // both are the clock of this machine
    auto const names = block_on(r.loop(), r.children(node_path{})).value();
    CHECK(std::none_of(names.begin(), names.end(), [](auto const& n) { return n.starts_with("clock"); }));
}

TEST_CASE("zk_operations: faults in a job's nodes are found and repaired") {
    shared_zk_server server;
    auto r = connected(to(server));
    auto const id = std::string{"10.0.0.1@-@7-0123456789abcdef"};
    transaction t{r.session().generation};
    put_job(t, "settle", id);
    t.create(at("/settle/sharding/0/running"), {}).create(at("/settle/sharding/5"), {});
    t.create(at("/settle/sharding/5/instance"), {});
    t.create(at("/settle/ext/run"), {}).create(at("/settle/ext/run/0"), "nonsense");
    REQUIRE(block_on(r.loop(), r.commit(std::move(t))).value());
    for (int n = 0; n < 8; ++n) {
        auto const found = check_tree(r).value().findings;
        auto const next = std::find_if(found.begin(), found.end(), [](auto const& f) { return f.is_repairable; });
        if (next == found.end()) break;
        INFO(next->path);
        auto const done = repair(r, *next, {"ann"});
        CHECK_MESSAGE(done.has_value(), (done ? std::string{} : to_string(done.error())));
    }
    CHECK(check_job(r, "settle").value().empty());
    for (auto const* gone : {"/settle/instances/10.0.0.1@-@7-0123456789abcdef", "/settle/sharding/0/running",
                             "/settle/sharding/5", "/settle/ext/run/0"})
        CHECK_FALSE(block_on(r.loop(), r.exists(at(gone))).value().has_value());
    CHECK(list_commands(r, "settle").value().entries().size() == 4);
    // A live mark stays.
    REQUIRE(block_on(r.loop(), r.create(at("/settle/sharding/0/running"), {}, create_mode::ephemeral)));
    auto const orphans = check_job(r, "settle").value();
    REQUIRE(orphans.size() == 1);
    CHECK(orphans[0].what == tree_fault::orphan);
    CHECK(repair(r, orphans[0], {"ann"}).error() == errc::version_conflict);
}

TEST_CASE("zk_operations: a command whose reply is lost is found on record") {
    shared_zk_server server;
    tcp_proxy proxy{server.port()};
    deaf_registry r{connected(to(proxy.endpoint(), server.name_space())), proxy};
    REQUIRE(change_settings(r, {{.name = "settle", .cron = "0 0 0 1 1 ? 2099"}, {}, true}, {"ann"}));
    auto watcher = connected(to(server));
    r.is_deaf = true;
    std::jthread const mender{[&] { // once the change has happened, its reply is lost with the connection
        on_loop(watcher.loop(),
                [&]() -> task<> { return until_exists(watcher, at("/settle/sharding/0/disabled"), true); });
        proxy.cut_and_repair();
    }};
    auto const done = switch_item(r, "settle", 0, switched::off, {"ann"});
    REQUIRE(done);
    CHECK(done->what == command_result::effect::done);
    CHECK_FALSE(r.is_deaf);
    CHECK(list_commands(watcher, "settle")->entries().size() == 2);
}
