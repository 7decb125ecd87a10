// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/operations/tree_health.hpp>

#include <elasticjob/operations/add_job.hpp>
#include <elasticjob/operations/remove_job.hpp>

#include <support/cluster.hpp>
#include <support/measured.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

using namespace elasticjob;
using namespace elasticjob::test;

namespace {

using effect = command_result::effect;
using strings = std::vector<std::string>;

command_by const ann{"ann"};

/// Two members of a job that is due every minute.
struct job_of_two {
    cluster c;
    member& one = c.add();
    member& two = c.add();

    job_of_two() {
        for (auto* m : {&one, &two}) REQUIRE(m->schedule(make_job("settle", "0 * * * * ?", 4)));
        c.run_for(90s);
        REQUIRE(findings().empty());
    }
    std::vector<tree_finding> findings() {
        auto found = check_job(c.by_hand, "settle");
        REQUIRE(found);
        return *std::move(found);
    }
    /// The findings, as `fault path`, with a `!` if they cannot be repaired.
    strings faults() {
        strings all;
        for (auto const& f : findings())
            all.push_back(std::string{name_of(f.what)} + " " + f.path.substr(std::string{"/settle/"}.size() - 1) +
                          (f.is_repairable ? "" : "!"));
        return all;
    }
    /// Repairs everything that can be repaired.
    void repair_all() {
        for (auto const& f : findings()) {
            if (!f.is_repairable) continue;
            INFO(f.path);
            auto const done = repair(c.by_hand, f, ann);
            CHECK_MESSAGE(done.has_value(), (done ? std::string{} : to_string(done.error())));
        }
    }
    /// Runs of all items in the next minute.
    std::size_t begun() {
        auto const before = c.count(heard::kind::started);
        c.run_for(1min);
        return c.count(heard::kind::started) - before;
    }
};

} // namespace

TEST_CASE("operations.tree_health: persistent nodes in the place of ephemeral ones go") {
    cluster c;
    REQUIRE(add_job(c.by_hand, make_job("settle", never, 2), ann));
    for (auto const* path : {"servers", "instances", "leader", "leader/election", "leader/election/latch",
                             "leader/sharding", "sharding", "sharding/0", "sharding/1", "ext/instances"})
        c.create(std::string{"/settle/"} + path);
    CHECK(check_job(c.by_hand, "settle")->empty());
    strings const ghosts{"ext/instances/10.0.0.9@-@7-0123456789abcdef",
                         "instances/10.0.0.9@-@7-0123456789abcdef",
                         "leader/election/instance",
                         "leader/election/latch/_c_1-latch-0000000001",
                         "leader/sharding/processing",
                         "sharding/0/running",
                         "sharding/1/failover"};
    for (auto const& path : ghosts) c.create("/settle/" + path);
    auto const found = check_job(c.by_hand, "settle").value();
    REQUIRE(found.size() == ghosts.size());
    for (std::size_t n = 0; n < found.size(); ++n) {
        CHECK(found[n].job == "settle");
        CHECK(found[n].path == "/settle/" + ghosts[n]);
        CHECK(found[n].what == tree_fault::ghost);
        REQUIRE(found[n].is_repairable);
        auto const done = repair(c.by_hand, found[n], ann);
        REQUIRE_MESSAGE(done.has_value(), (done ? std::string{} : to_string(done.error())));
        CHECK(done->text == found[n].text + ": the node is removed");
        CHECK_FALSE(c.has(found[n].path));
    }
    CHECK(check_job(c.by_hand, "settle")->empty());
    auto const trail = list_commands(c.by_hand, "settle").value();
    CHECK(trail.entries().back().verb == "repair");
    CHECK(trail.entries().back().subject == "sharding/1/failover");
}

TEST_CASE("operations.tree_health: a healthy job has no findings, whatever it does") {
    job_of_two w;
    w.one.holds = true;
    w.c.run_for(1min);
    CHECK(w.faults().empty());
    w.one.holds = false;
    w.one.release_all();
    disconnect(w.c, w.two);
    w.c.run_for(1min);
    reconnect(w.c, w.two);
    w.c.run_for(1min);
    CHECK(w.faults().empty());
    REQUIRE(w.two.shutdown("settle"));
    w.c.run_for(1s);
    CHECK(w.faults() == strings{"abandoned /servers/10.0.0.2"});
    REQUIRE(w.one.shutdown("settle"));
    w.c.run_for(1s);
    CHECK(w.faults().empty()); // no instance runs it, and its servers are needed when one does
}

TEST_CASE("operations.tree_health: damaged nodes are found, and those that a leader can recreate are removed") {
    job_of_two w;
    w.c.set("/settle/ext/run/1", "nonsense");
    w.c.set("/settle/ext/assignment", "nonsense");
    w.c.create("/settle/ext/orders/pause", "nonsense");
    w.c.create("/settle/ext/orders/nonsense");
    CHECK(w.faults() == strings{"damaged /ext/assignment", "surplus /ext/orders/nonsense", "damaged /ext/orders/pause",
                                "damaged /ext/run/1"});
    w.repair_all();
    w.c.run_for(10s);
    CHECK(w.faults().empty());
    w.c.run_for(1min);
    CHECK(w.begun() == 4);
    CHECK(list_commands(w.c.by_hand, "settle")->entries().size() == 4);
    // What it takes an operator to write.
    auto const config = w.c.data("/settle/config");
    w.c.create("/settle/ext/schedule", "nonsense");
    w.c.create("/settle/ext/labels", "nonsense\n\n=");
    auto const broken = w.faults();
    CHECK(std::count(broken.begin(), broken.end(), "damaged /ext/schedule!") == 1);
    w.c.remove("/settle/ext/schedule");
    CHECK(w.faults() == strings{"damaged /ext/labels!"});
    w.c.remove("/settle/ext/labels");
    w.c.set("/settle/config", "nonsense");
    CHECK(w.faults() == strings{"damaged /config!"});
    auto const no = repair(w.c.by_hand, w.findings().front(), ann);
    CHECK(no.error() == errc::version_conflict);
    CHECK(no.error().what.find("change_settings") != std::string::npos);
    w.c.set("/settle/config", config);
    w.c.set("/settle/ext/audit", "nonsense");
    CHECK(w.faults() == strings{"damaged /ext/audit!"});
}

TEST_CASE("operations.tree_health: nodes of items that the job does not have") {
    job_of_two w;
    for (auto const* path : {"sharding/7", "sharding/7/instance", "sharding/7/disabled", "sharding/x", "ext/run/7",
                             "ext/orders/stop-7", "ext/orders/look-7"})
        w.c.create(std::string{"/settle/"} + path);
    CHECK(w.faults() == strings{"surplus /ext/orders/look-7", "surplus /ext/orders/stop-7", "surplus /ext/run/7",
                                "surplus /sharding/7", "surplus /sharding/x"});
    w.c.create("/settle/sharding/7/running", {}, create_mode::ephemeral); // an instance runs it
    CHECK(w.faults() == strings{"surplus /ext/orders/look-7", "surplus /ext/orders/stop-7", "surplus /ext/run/7!",
                                "surplus /sharding/7!", "orphan /sharding/7/running!", "surplus /sharding/x"});
    w.c.remove("/settle/sharding/7/running");
    w.repair_all();
    CHECK(w.faults().empty());
    CHECK_FALSE(w.c.has("/settle/sharding/7"));
    CHECK(w.begun() == 4);
}

TEST_CASE("operations.tree_health: a live member's nodes are not touched") {
    job_of_two w;
    auto const path = "/settle/instances/" + w.one.id("settle");
    node_path const at = cluster::parsed(path);
    tree_finding made_up{"settle", path, tree_fault::ghost, "", true, "", "1-1"};
    CHECK(repair(w.c.by_hand, made_up, ann).error() == errc::version_conflict);
    CHECK(w.c.has(path));
    CHECK(list_commands(w.c.by_hand, "settle")->entries().back().outcome == command_outcome::refused);
    // A record is damaged while its item runs.
    w.one.holds = w.two.holds = true;
    w.c.run_for(1min);
    w.c.set("/settle/ext/run/1", "nonsense");
    CHECK(w.faults() == strings{"damaged /ext/run/1!"});
    CHECK(repair(w.c.by_hand, w.findings().front(), ann).error() == errc::version_conflict);
    CHECK(w.c.data("/settle/ext/run/1") == "nonsense");
}

TEST_CASE("operations.tree_health: items that an unusable configuration lacks keep their records") {
    job_of_two w;
    auto broken = from_json(w.c.data("/settle/config")).value().value();
    broken.sharding_total_count = 1;
    broken.cron = "0 0 99 * * ?";
    w.c.set("/settle/config", to_json(broken));
    w.c.run_for(10s);
    CHECK(w.faults() == strings{"damaged /config!"});
    w.repair_all();
    CHECK(w.c.has("/settle/ext/run/3"));
}

TEST_CASE("operations.tree_health: a candidate of a process that is no member no longer blocks the election") {
    cluster c;
    REQUIRE(add_job(c.by_hand, make_job("settle", "0 * * * * ?", 2), ann));
    for (auto const* path : {"leader", "leader/election", "leader/election/latch"})
        c.create(std::string{"/settle/"} + path);
    basic_memory_registry<virtual_loop> other{c.server};
    auto const stale = cluster::parsed("/settle/leader/election/latch/_c_1-latch-");
    c.wait_for(other.create(stale, {}, create_mode::ephemeral_sequential)).value();
    REQUIRE(c.add().schedule(make_job("settle", "0 * * * * ?", 2)));
    c.run_for(1min);
    CHECK_FALSE(c.has("/settle/leader/election/instance"));
    auto const found = check_job(c.by_hand, "settle").value();
    REQUIRE(found.size() == 1);
    CHECK(found[0].what == tree_fault::orphan);
    REQUIRE(repair(c.by_hand, found[0], ann));
    c.run_for(1s);
    CHECK(c.has("/settle/leader/election/instance"));
    CHECK(check_job(c.by_hand, "settle")->empty());
}

TEST_CASE("operations.tree_health: an abandoned server is removed, unless an operator has disabled it") {
    job_of_two w;
    w.c.create("/settle/servers/10.0.0.8");
    w.c.create("/settle/servers/10.0.0.9", "DISABLED");
    CHECK(w.faults() == strings{"abandoned /servers/10.0.0.8", "abandoned /servers/10.0.0.9!"});
    w.repair_all();
    CHECK(w.faults() == strings{"abandoned /servers/10.0.0.9!"});
}

TEST_CASE("operations.tree_health: a repair takes effect once, also after a lost reply, and only for the finding") {
    for (auto const fate : {request_fate::reply_lost, request_fate::request_lost}) {
        job_of_two w;
        w.c.create("/settle/ext/orders/stop-7");
        auto const finding = w.findings().front();
        auto const dry = repair(w.c.by_hand, finding, {"ann", {}, true}).value();
        CHECK(dry.what == effect::planned);
        CHECK(w.c.has(finding.path));
        {
            losing const lost{w.c.server, losing::nth_write(w.c.by_hand.session().id, 0, fate)};
            CHECK(repair(w.c.by_hand, finding, {"ann", "key-1"})->what == effect::done);
        }
        CHECK(repair(w.c.by_hand, finding, {"ann", "key-1"})->what == effect::repeated);
        CHECK(repair(w.c.by_hand, finding, ann).error() == errc::version_conflict);
        w.c.create("/settle/ext/orders/stop-7"); // another one
        CHECK(repair(w.c.by_hand, finding, ann).error() == errc::version_conflict);
        CHECK(w.c.has(finding.path));
    }
}

TEST_CASE("operations.tree_health: all jobs, page by page, and the remains of removed jobs") {
    cluster c;
    for (auto const* job : {"a", "b", "c"}) REQUIRE(add_job(c.by_hand, make_job(job, never, 1), ann));
    c.create("/b/ext/orders");
    c.create("/b/ext/orders/nonsense");
    c.create("/gone");
    c.create("/gone/servers");
    REQUIRE(remove_job(c.by_hand, "c", ann));
    c.create("/c/sharding");
    c.create("/zookeeper");
    c.create("/zookeeper/quota");
    std::size_t requests = 0;
    auto const count = [&](registry_request const&) { ++requests; };
    measured<basic_memory_registry<virtual_loop>> r{c.by_hand, count};
    auto const whole = check_tree(r).value();
    // Each node, and once more those that have children: a (4, 2), b (6, 3), c (5, 2), gone (2, 1), zookeeper (2, 1).
    CHECK(requests == 1 + 19 + 9);
    CHECK(whole.jobs == 5);
    CHECK(whole.next.empty());
    REQUIRE(whole.findings.size() == 3);
    CHECK(whole.findings[0].path == "/b/ext/orders/nonsense");
    CHECK(whole.findings[1].path == "/c");
    CHECK(whole.findings[1].what == tree_fault::leftover);
    CHECK(whole.findings[1].text == "1 nodes of a removed job are left");
    CHECK(whole.findings[2].path == "/gone");
    std::size_t seen = 0;
    tree_query query{.jobs_max = 2};
    int pages = 0;
    do {
        auto const page = check_tree(c.by_hand, query).value();
        seen += page.findings.size();
        query.after = page.next;
    } while (!query.after.empty() && ++pages < 10);
    CHECK(seen == 3);
    CHECK(pages == 2);
    CHECK(check_tree(c.by_hand, {.name_contains = "b"})->jobs == 1);
    auto const small = check_tree(c.by_hand, {.nodes_max = 4}).value();
    CHECK(small.faults.size() == 2);
    CHECK(small.faults[0] == errc::too_large);
    CHECK(check_job(c.by_hand, "nobody").error() == errc::no_node);
    CHECK(check_job(c.by_hand, "a/b").error() == errc::invalid_argument);
}
