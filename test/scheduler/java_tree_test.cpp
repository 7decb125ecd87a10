// SPDX-License-Identifier: Apache-2.0
// What ElasticJob-Lite 2.1.5 leaves in ZooKeeper after each step of a job's life, recorded from Java members, and what
// our members leave after the same steps. Ours shard at once where Java waits for the next firing, so `necessary` does
// not stay, and the items have nodes earlier; otherwise the trees are the same, but for `ext`.
#include <support/cluster.hpp>

#include <doctest/doctest.h>

#include <algorithm>

using namespace elasticjob;
using namespace elasticjob::test;

namespace {

constexpr char const* stored_config =
    R"({"jobName":"interop","jobClass":"NodeJob","jobType":"SIMPLE","cron":"0 0 0 1 1 ? 2099","shardingTotalCount":4,)"
    R"("shardingItemParameters":"0\u003dalpha,1\u003dbeta,2\u003dgamma,3\u003ddelta","jobParameter":"","failover":true,)"
    R"("misfire":true,"description":"","jobProperties":{"job_exception_handler":)"
    R"("com.dangdang.ddframe.job.executor.handler.impl.DefaultJobExceptionHandler","executor_service_handler":)"
    R"("com.dangdang.ddframe.job.executor.handler.impl.DefaultExecutorServiceHandler"},"monitorExecution":true,)"
    R"("maxTimeDiffSeconds":-1,"monitorPort":-1,"jobShardingStrategyClass":"","reconcileIntervalMinutes":10,)"
    R"("disabled":false,"overwrite":true})";

job_config recorded_job() {
    auto c = make_job("interop", never, 4);
    c.sharding_item_parameters = "0=alpha,1=beta,2=gamma,3=delta";
    c.job_class = "NodeJob";
    c.failover = true;
    c.overwrite = true;
    return c;
}

using lines = std::vector<std::string>;

/// The recorded trees, with the parts that differ from step to step.
struct tree {
    lines instances{};
    std::string leader{};
    lines servers{};
    lines owners{};
    bool running = false;
    bool item_1_disabled = false;

    lines expected() const {
        lines all{"/interop P ", std::string{"/interop/config P "} + stored_config, "/interop/instances P ",
                  "/interop/leader P ", "/interop/leader/election P ", "/interop/leader/election/latch P ",
                  "/interop/leader/sharding P ", "/interop/servers P "};
        for (auto const& i : instances) all.push_back("/interop/instances/" + i + " E ");
        if (!leader.empty()) all.push_back("/interop/leader/election/instance E " + leader);
        for (auto const& s : servers) all.push_back("/interop/servers/" + s);
        if (!owners.empty()) all.push_back("/interop/sharding P ");
        for (std::size_t i = 0; i < owners.size(); ++i) {
            auto const item = "/interop/sharding/" + std::to_string(i);
            all.push_back(item + " P ");
            all.push_back(item + "/instance P " + owners[i]);
            if (running) all.push_back(item + "/running E " + owners[i]); // Java's are empty, and no member reads them
            if (i == 1 && item_1_disabled) all.push_back(item + "/disabled P ");
        }
        std::sort(all.begin(), all.end());
        return all;
    }
};

lines now(cluster const& c) {
    auto all = c.dump("/interop");
    std::sort(all.begin(), all.end());
    return all;
}

} // namespace

TEST_CASE("scheduler.job: our members leave the same nodes as Java members, step by step") {
    cluster c;
    auto& one = c.add();
    REQUIRE(one.schedule(recorded_job()));
    c.run_for(1s);
    auto const id1 = one.id("interop");
    tree t;
    t.instances = {id1};
    t.leader = id1;
    t.servers = {"10.0.0.1 P "};
    t.owners = {id1, id1, id1, id1};
    INFO("01: one instance");
    CHECK(now(c) == t.expected());

    auto& two = c.add();
    REQUIRE(two.schedule(recorded_job()));
    c.run_for(1s);
    auto const id2 = two.id("interop");
    t.instances = {id1, id2};
    t.servers = {"10.0.0.1 P ", "10.0.0.2 P "};
    t.owners = {id2, id2, id1, id1}; // the higher id first: the order is descending
    INFO("02: two instances");
    CHECK(now(c) == t.expected());

    INFO("03: running");
    one.holds = two.holds = true;
    REQUIRE(one.trigger("interop"));
    c.run_for(1s);
    t.running = true;
    CHECK(now(c) == t.expected());
    for (item_index i = 0; i < 4; ++i) {
        auto const* mark = c.find("/interop/sharding/" + std::to_string(i) + "/running");
        REQUIRE(mark);
        CHECK(mark->stat.owner == (i < 2 ? two : one).registry.session().id);
    }

    INFO("04: idle again");
    one.holds = two.holds = false;
    one.release_all();
    two.release_all();
    c.run_for(1s);
    t.running = false;
    CHECK(now(c) == t.expected());
    CHECK(c.started() == std::vector<item_index>{0, 1, 2, 3});

    INFO("05, 06: item 1 disabled, and then a trigger");
    c.create("/interop/sharding/1/disabled");
    t.item_1_disabled = true;
    c.run_for(1s);
    CHECK(now(c) == t.expected());
    c.log.clear();
    REQUIRE(one.trigger("interop"));
    c.run_for(1s);
    CHECK(now(c) == t.expected());
    CHECK(c.started() == std::vector<item_index>{0, 2, 3});
    CHECK(c.skips(events::skip_reason::disabled) == 1);
    c.remove("/interop/sharding/1/disabled");
    t.item_1_disabled = false;

    INFO("07, 08: the first server disabled: leadership and items move");
    c.set("/interop/servers/10.0.0.1", "DISABLED");
    c.run_for(1s);
    t.servers = {"10.0.0.1 P DISABLED", "10.0.0.2 P "};
    t.leader = id2;
    t.owners = {id2, id2, id2, id2};
    CHECK(now(c) == t.expected());
    c.log.clear();
    REQUIRE(one.trigger("interop"));
    c.run_for(1s);
    CHECK(now(c) == t.expected());
    CHECK(c.started(0).empty());
    CHECK(c.started(1) == std::vector<item_index>{0, 1, 2, 3});

    INFO("09, 10: enabled again, and running");
    c.set("/interop/servers/10.0.0.1", "");
    c.run_for(1s);
    t.servers = {"10.0.0.1 P ", "10.0.0.2 P "};
    t.owners = {id2, id2, id1, id1};
    CHECK(now(c) == t.expected());

    INFO("11, 12: an operator takes the second instance out, which leads");
    c.remove("/interop/instances/" + id2);
    c.run_for(1s);
    t.instances = {id1};
    t.leader = id1;
    t.owners = {id1, id1, id1, id1};
    CHECK(now(c) == t.expected());

    INFO("13: the last instance leaves; its items belong to nobody, so that nothing is taken for a crash");
    REQUIRE(one.shutdown("interop"));
    c.run_for(1s);
    t.instances = {};
    t.leader = {};
    t.owners = std::vector<std::string>(4, "-@-@-");
    auto expected = t.expected();
    expected.push_back("/interop/leader/sharding/necessary P "); // for the next member that joins
    std::sort(expected.begin(), expected.end());
    CHECK(now(c) == expected);
}

TEST_CASE("scheduler.job: four items over two instances and back are distributed as Java distributes them") {
    cluster c;
    auto& one = c.add();
    auto& two = c.add();
    auto& three = c.add();
    REQUIRE(one.schedule(make_job("interop", never, 4)));
    REQUIRE(two.schedule(make_job("interop", never, 4)));
    c.run_for(1s);
    auto const id1 = one.id("interop"), id2 = two.id("interop");
    CHECK(c.owners("interop", 4) == lines{id2, id2, id1, id1});
    REQUIRE(three.schedule(make_job("interop", never, 4)));
    c.run_for(1s);
    auto const id3 = three.id("interop");
    CHECK(c.owners("interop", 4) == lines{id3, id2, id1, id3});
    REQUIRE(two.shutdown("interop"));
    c.run_for(1s);
    CHECK(c.owners("interop", 4) == lines{id3, id3, id1, id1});
}
