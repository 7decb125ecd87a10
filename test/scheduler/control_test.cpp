// SPDX-License-Identifier: Apache-2.0
// Commands that the owner of a handle or an operator can give to a job.
#include <elasticjob/config/json_codec.hpp>
#include <elasticjob/execution/run_record.hpp>
#include <elasticjob/execution/stop_request.hpp>

#include <support/cluster.hpp>

#include <doctest/doctest.h>

#include <optional>

using namespace elasticjob;
using namespace elasticjob::test;

namespace {

using items = std::vector<item_index>;

} // namespace

TEST_CASE("scheduler.job: a trigger makes every instance run its items once, and the order is removed") {
    cluster c;
    auto& one = c.add();
    auto& two = c.add();
    REQUIRE(one.schedule(make_job("settle", never, 4)));
    REQUIRE(two.schedule(make_job("settle", never, 4)));
    c.run_for(1s);
    auto const created = c.find("/settle/instances/" + two.id("settle"))->stat.created;
    REQUIRE(one.trigger("settle"));
    c.run_for(1s);
    CHECK(c.started(0) == items{2, 3});
    CHECK(c.started(1) == items{0, 1});
    for (auto* m : {&one, &two}) CHECK(c.data("/settle/instances/" + m->id("settle")) == "");
    CHECK(c.find("/settle/instances/" + two.id("settle"))->stat.created == created); // not created again
    REQUIRE(one.wait_idle("settle"));
}

TEST_CASE("scheduler.job: an order that comes before the first sharding reaches every item, including the items of "
          "later members") {
    for (bool const is_monitored : {true, false}) {
        INFO("monitored: " << is_monitored);
        cluster c;
        auto job = make_job("settle", never, 4);
        job.monitor_execution = is_monitored;
        auto& one = c.add();
        auto& two = c.add();
        c.create("/settle"); // the member that creates the job shards it too
        REQUIRE(one.schedule(job));
        REQUIRE(one.trigger("settle"));
        REQUIRE_FALSE(c.find("/settle/ext/assignment"));
        REQUIRE(two.schedule(job));
        c.run_for(1s);
        CHECK(c.started() == items{0, 1, 2, 3});
        c.run_for(1min);
        CHECK(c.started() == items{0, 1, 2, 3});
    }
}

TEST_CASE("scheduler.job: members that join later do not obey an order again") {
    for (bool const is_monitored : {true, false}) {
        INFO("monitored: " << is_monitored);
        cluster c;
        auto job = make_job("settle", never, 4);
        job.monitor_execution = is_monitored;
        auto& one = c.add();
        REQUIRE(one.schedule(job));
        c.run_for(1s);
        REQUIRE(one.trigger("settle"));
        c.run_for(1s);
        REQUIRE(c.started() == items{0, 1, 2, 3});
        auto& two = c.add();
        REQUIRE(two.schedule(job));
        c.run_for(1min);
        CHECK(c.started() == items{0, 1, 2, 3});
        c.create("/settle/ext/orders/look-0", "");
        c.run_for(1min);
        CHECK(c.started() == items{0, 1, 2, 3});
    }
}

TEST_CASE("scheduler.job: a record copied from another registry does not hold orders up, and is reported") {
    cluster c;
    REQUIRE(c.add().schedule(make_job("settle", never, 1)));
    c.run_for(1s);
    REQUIRE(c.members[0]->trigger("settle"));
    c.run_for(1s);
    REQUIRE(c.members[0]->shutdown("settle"));
    auto copied = run_record::parse(c.data("/settle/ext/run/0")).value();
    copied.obeyed = 4'294'967'296; // from an ensemble that had made more changes
    c.set("/settle/ext/run/0", copied.to_text());
    auto& next = c.add();
    REQUIRE(next.schedule(make_job("settle", never, 1)));
    c.run_for(1s);
    CHECK(c.started() == items{0}); // an order from before the copy is not carried out again
    REQUIRE(c.last_trouble());
    CHECK(c.last_trouble()->what.find("copied from another registry") != std::string::npos);
    CHECK(c.last_trouble()->where == "/settle/ext/run/0");
    CHECK(run_record::parse(c.data("/settle/ext/run/0"))->obeyed < copied.obeyed);
    REQUIRE(next.trigger("settle"));
    c.run_for(1s);
    CHECK(c.started() == items{0, 0});
    CHECK(c.count(heard::kind::trouble) == 1);
}

TEST_CASE("scheduler.job: an order that was refused for a disabled item is not carried out later") {
    cluster c;
    auto& one = c.add();
    REQUIRE(one.schedule(make_job("settle", never, 2)));
    c.run_for(1s);
    for (std::string const i : {"0", "1"}) c.create("/settle/sharding/" + i + "/disabled");
    REQUIRE(one.trigger("settle"));
    c.run_for(5s);
    CHECK(c.skips(events::skip_reason::disabled) == 2);
    for (std::string const i : {"0", "1"}) c.remove("/settle/sharding/" + i + "/disabled");
    c.run_for(24h);
    auto& two = c.add();
    REQUIRE(two.schedule(make_job("settle", never, 2)));
    c.run_for(1min);
    CHECK(c.started().empty());
}

TEST_CASE("scheduler.job: an order does not apply to items that are added later") {
    cluster c;
    auto& one = c.add();
    auto job = make_job("settle", never, 2);
    REQUIRE(one.schedule(job));
    c.run_for(1s);
    REQUIRE(one.trigger("settle"));
    c.run_for(24h);
    REQUIRE(c.started() == items{0, 1});
    job.sharding_total_count = 4;
    c.set("/settle/config", to_json(job));
    c.run_for(1min);
    CHECK(c.started() == items{0, 1});
    REQUIRE(one.trigger("settle"));
    c.run_for(1min);
    CHECK(c.started() == items{0, 0, 1, 1, 2, 3});
}

TEST_CASE(
    "scheduler.job: only the named instance obeys an operator's order to one instance; other data is not an order") {
    cluster c;
    auto& one = c.add();
    auto& two = c.add();
    REQUIRE(one.schedule(make_job("settle", never, 2)));
    REQUIRE(two.schedule(make_job("settle", never, 2)));
    c.run_for(1s);
    c.set("/settle/instances/" + two.id("settle"), "trigger");
    c.run_for(1s);
    CHECK(c.started().empty());
    c.set("/settle/instances/" + two.id("settle"), "TRIGGER");
    c.run_for(1s);
    CHECK(c.started() == items{0});
    CHECK(c.data("/settle/instances/" + two.id("settle")) == "");
}

TEST_CASE("scheduler.job: a trigger while the items run makes them run once more, however often it comes (D-48)") {
    cluster c;
    auto& m = c.add();
    REQUIRE(m.schedule(make_job("settle", never, 2)));
    c.run_for(1s);
    m.holds = true;
    for (int n = 0; n < 4; ++n) {
        REQUIRE(m.trigger("settle"));
        c.run_for(1s);
    }
    CHECK(c.started() == items{0, 1});
    CHECK(c.data("/settle/instances/" + m.id("settle")) == "");
    m.holds = false;
    m.release_all();
    c.run_for(1s);
    CHECK(c.started() == items{0, 0, 1, 1});
    CHECK(c.violations.empty());
}

TEST_CASE("scheduler.job: a trigger does not bring back an instance that has gone (D-47)") {
    cluster c;
    auto& one = c.add();
    auto& two = c.add();
    REQUIRE(one.schedule(make_job("settle", never, 2)));
    REQUIRE(two.schedule(make_job("settle", never, 2)));
    c.run_for(1s);
    auto const gone = "/settle/instances/" + two.id("settle");
    post(c.loop, [&] { two.registry.disconnect(); });
    c.run_for(9s);
    // It expires just when the order is on its way.
    c.loop.run_until(c.loop.now() + 999ms);
    for (int n = 0; n < 5; ++n) {
        REQUIRE(one.trigger("settle"));
        c.run_for(1ms);
    }
    c.run_for(5s);
    CHECK_FALSE(c.has(gone));
    CHECK(c.find("/settle/instances")->stat.children == 1);
    CHECK_FALSE(c.started(0).empty());
}

TEST_CASE("scheduler.job: an order is obeyed once, whichever request or reply is lost while the order is removed") {
    for (std::uint64_t n = 0; n < 6; ++n)
        for (auto const fate : {request_fate::request_lost, request_fate::reply_lost}) {
            INFO("request " << n);
            cluster c;
            auto& m = c.add();
            REQUIRE(m.schedule(make_job("settle", never, 1)));
            c.run_for(1s);
            losing const network{c.server, losing::nth(m.registry.session().id, n, fate)};
            c.set("/settle/instances/" + m.id("settle"), "TRIGGER");
            c.run_for(30s);
            CHECK(c.data("/settle/instances/" + m.id("settle")) == "");
            CHECK_FALSE(c.is_marked("settle", 0));
            // A start whose preparation fails is reported. Nothing runs twice.
            CHECK(c.started().size() + c.skips(events::skip_reason::not_ready) == 1);
        }
}

TEST_CASE("scheduler.job: disabling a server moves its items away, enabling it brings items back") {
    cluster c;
    auto& one = c.add();
    auto& two = c.add();
    REQUIRE(one.schedule(make_job("settle", "0/5 * * * * ?", 4)));
    REQUIRE(two.schedule(make_job("settle", "0/5 * * * * ?", 4)));
    c.run_for(6s);
    REQUIRE(one.disable("settle"));
    c.run_for(1s);
    c.log.clear();
    c.run_for(5s);
    CHECK(c.started(0).empty());
    CHECK(c.started(1) == items{0, 1, 2, 3});
    CHECK(c.data("/settle/leader/election/instance") == two.id("settle"));
    REQUIRE(one.enable("settle"));
    c.run_for(1s);
    c.log.clear();
    c.run_for(5s);
    CHECK(c.started(0) == items{2, 3});
}

TEST_CASE("scheduler.job: a member begins nothing until it has read its server's node") {
    cluster c;
    auto& m = c.add();
    REQUIRE(m.schedule(make_job("settle", "* * * * * ?", 1)));
    c.run_for(3s);
    c.remove("/settle/servers/10.0.0.1");
    c.run_for(1500ms); // nothing is due now, which would be read
    {
        int reads = 0;
        losing const network{c.server, [&](std::int64_t s, operation::kind const* write) {
                                 bool const is_read = s == m.registry.session().id && !write;
                                 return is_read && ++reads != 0 ? request_fate::request_lost : request_fate::served;
                             }};
        c.create("/settle/servers/10.0.0.1", "DISABLED");
        c.run_for(1s);
        c.log.clear();
        c.run_for(5s);
        CHECK(reads > 10);
        CHECK(c.count(heard::kind::started) == 0);
        CHECK(c.data("/settle/leader/election/instance") == m.id("settle")); // the leader keeps its office
    }
    c.run_for(5s);
    CHECK(c.count(heard::kind::started) == 0);
    CHECK(c.data("/settle/leader/election/instance") == "(absent)");
    REQUIRE(m.enable("settle"));
    c.run_for(5s);
    CHECK(c.count(heard::kind::started) >= 3);
}

TEST_CASE("scheduler.job: a leader does not shard until it has read the node of each instance's server") {
    cluster c;
    auto& m = c.add();
    REQUIRE(m.schedule(make_job("settle", never, 4)));
    c.run_for(1s);
    c.log.clear();
    {
        int reads = 0; // the first is that of the instances' names; the second and its repetitions are the server's
        losing const network{c.server, [&](std::int64_t s, operation::kind const* write) {
                                 bool const is_read = s == m.registry.session().id && !write;
                                 return is_read && reads++ > 0 ? request_fate::request_lost : request_fate::served;
                             }};
        c.create("/settle/servers/10.0.0.9", "DISABLED");
        c.create("/settle/instances/10.0.0.9@-@9-b", {}, create_mode::ephemeral);
        c.run_for(5s);
        CHECK(reads > 10);
        CHECK(c.count(heard::kind::resharded) == 0);
    }
    c.run_for(5s);
    CHECK(c.owners("settle", 4) == std::vector<std::string>(4, m.id("settle")));
}

TEST_CASE("scheduler.job: a shutdown lets current runs finish and hands the items over in the transaction that leaves "
          "the job") {
    cluster c;
    auto& one = c.add();
    auto& two = c.add();
    auto const job = make_job("settle", "0/5 * * * * ?", 4);
    REQUIRE(one.schedule(job));
    REQUIRE(two.schedule(job));
    bool was_stopped = false;
    one.body = [&](sharding_context const& ctx) -> result<void> {
        was_stopped = was_stopped || ctx.stop.stop_requested();
        return success();
    };
    c.run_for(1s);
    one.holds = true;
    c.run_for(5s);
    REQUIRE(one.held() == 2);

    struct later : timer {
        explicit later(member& who) : timer{&ring}, m{who} {}
        static void ring(timer& t) { static_cast<later&>(t).m.release_all(); }
        member& m;
    } release{one};
    c.loop.arm(release, c.loop.now() + 12s); // within the drain time-out of 30 s
    auto const begin = c.loop.now();
    auto const leader = one.id("settle");
    REQUIRE(c.data("/settle/leader/election/instance") == leader);
    c.log.clear();

    // No other instance runs its items meanwhile, and the instance stays.
    bool too_early = false;
    losing const network{c.server, [&](std::int64_t, operation::kind const*) {
                             bool const runs = c.is_marked("settle", 2) || c.is_marked("settle", 3);
                             if (runs && !c.has("/settle/instances/" + leader)) too_early = true;
                             return request_fate::served;
                         }};
    REQUIRE(one.shutdown("settle"));
    CHECK(c.loop.now() - begin >= 12s);
    CHECK(c.loop.now() - begin < 13s);
    CHECK_FALSE(too_early);
    CHECK_FALSE(was_stopped);
    CHECK(c.started(0).empty());
    CHECK(c.count(heard::kind::finished, 2) == 1);
    CHECK_FALSE(c.has("/settle/instances/" + leader));
    CHECK(c.data("/settle/leader/election/instance") != leader);
    for (auto const& owner : c.owners("settle", 4)) CHECK(owner != leader);
    c.run_for(6s);
    CHECK(c.owners("settle", 4) == std::vector<std::string>(4, two.id("settle")));
    CHECK(c.violations.empty());
}

TEST_CASE(
    "scheduler.job: runs that continue after the drain time-out are asked to stop, and the shutdown waits for them") {
    cluster c;
    auto& m = c.add();
    REQUIRE(m.schedule(make_job("settle", never, 2)));
    c.run_for(1s);
    std::vector<bool> stopped;
    m.body = [&](sharding_context const& ctx) -> result<void> {
        stopped.push_back(ctx.stop.stop_requested());
        return success();
    };
    m.holds = true;
    REQUIRE(m.trigger("settle"));
    c.run_for(1s);
    struct later : timer {
        explicit later(member& who, item_index i) : timer{&ring}, m{who}, item{i} {}
        static void ring(timer& t) { static_cast<later&>(t).m.release(static_cast<later&>(t).item); }
        member& m;
        item_index item;
    } before{m, 0}, after{m, 1};
    auto const begin = c.loop.now();
    c.loop.arm(before, begin + 29s);
    c.loop.arm(after, begin + 40s);
    REQUIRE(m.shutdown("settle"));
    CHECK(stopped == std::vector<bool>{false, true});
    CHECK(c.loop.now() - begin >= 40s);
}

TEST_CASE("scheduler.job: a scheduler that is destroyed drains all its jobs") {
    cluster c;
    auto& m = c.add();
    for (auto const* name : {"a", "b", "c"}) REQUIRE(m.schedule(make_job(name, never, 2)));
    c.run_for(1s);
    m.holds = true;
    for (auto const* name : {"a", "b", "c"}) REQUIRE(m.trigger(name));
    c.run_for(1s);
    REQUIRE(m.held() == 6);
    m.destroy_scheduler();
    CHECK(c.count(heard::kind::finished) == 6);
    CHECK(c.count(heard::kind::left) == 3);
    for (std::string const name : {"a", "b", "c"}) {
        CHECK(c.find("/" + name + "/instances")->stat.children == 0);
        CHECK_FALSE(c.has("/" + name + "/leader/election/instance"));
    }
}

TEST_CASE("scheduler.job: a member that leaves at any moment of its life leaves nothing of itself behind") {
    for (int turns = 0; turns < 80; ++turns) {
        cluster c;
        auto& one = c.add();
        REQUIRE(one.schedule(make_job("settle", "* * * * * ?", 3)));
        for (int n = 0; n < turns; ++n) c.loop.step();
        INFO("after " << turns << " turns");
        auto const id = one.id("settle");
        REQUIRE(one.shutdown("settle"));
        c.run_for(5s);
        CHECK_FALSE(c.has("/settle/instances/" + id));
        CHECK_FALSE(c.has("/settle/leader/election/instance"));
        CHECK(c.find("/settle/leader/election/latch")->stat.children == 0);
        for (item_index i = 0; i < 3; ++i) {
            CHECK_FALSE(c.is_marked("settle", i));
            CHECK(c.owner("settle", i) != id);
        }
        CHECK(one.registry.session().state == session_state::connected); // the session lives on: nothing went with it
    }
}

TEST_CASE("scheduler.job: an instance that an operator removes leaves the job, even while its items run (SD-1)") {
    cluster c;
    auto& one = c.add();
    auto& two = c.add();
    auto const job = make_job("settle", "0/5 * * * * ?", 4);
    REQUIRE(one.schedule(job));
    REQUIRE(two.schedule(job));
    c.run_for(1s);
    one.holds = true;
    c.run_for(5s);
    REQUIRE(one.held() == 2);
    c.remove("/settle/instances/" + one.id("settle"));
    c.run_for(5s);
    CHECK(c.owners("settle", 4) == std::vector<std::string>(4, two.id("settle"))); // no item waits for a resharding,
    CHECK(c.count(heard::kind::left) == 0);
    CHECK(c.started(1).size() > 2);
    one.release_all(); // but its items wait for their runs
    c.run_for(6s);
    CHECK(c.count(heard::kind::left) == 1);
    CHECK(c.violations.empty());
    CHECK(c.data("/settle/leader/election/instance") == two.id("settle"));
    CHECK(one.trigger("settle").error() == errc::closed);
    CHECK(one.disable("settle").error() == errc::closed);
    REQUIRE(one.shutdown("settle"));
    REQUIRE(one.schedule(job)); // it can come back
    c.run_for(1s);
    CHECK(c.find("/settle/instances")->stat.children == 2);
}

TEST_CASE("scheduler.job: a job that an operator removes as a whole ends everywhere") {
    cluster c;
    auto& one = c.add();
    auto& two = c.add();
    REQUIRE(one.schedule(make_job("settle", "0/5 * * * * ?", 4)));
    REQUIRE(two.schedule(make_job("settle", "0/5 * * * * ?", 4)));
    c.run_for(6s);
    c.remove_tree("/settle");
    c.run_for(60s);
    CHECK(c.count(heard::kind::left) == 2);
    CHECK_FALSE(c.has("/settle"));
}

TEST_CASE("scheduler.job_scheduler: after a shutdown the handle says so, and a second shutdown does nothing") {
    cluster c;
    auto& m = c.add();
    REQUIRE(m.schedule(make_job("settle", never, 1)));
    REQUIRE(m.shutdown("settle"));
    REQUIRE(m.schedule(make_job("settle", never, 1))); // the name is free again
    c.run_for(1s);
    CHECK(c.find("/settle/instances")->stat.children == 1);
}

TEST_CASE("scheduler.job: an order to stop a run that is over, or an unknown run, is removed") {
    cluster c;
    auto& m = c.add();
    REQUIRE(m.schedule(make_job("settle", "0/10 * * * * ?", 2)));
    c.run_for(11s);
    REQUIRE(c.count(heard::kind::finished) == 2);
    m.holds = true;
    c.run_for(10s);
    REQUIRE(m.held() == 2);
    std::vector<stop_reason> asked;
    m.body = [&](sharding_context const& ctx) {
        asked.push_back(ctx.why_stop());
        return success();
    };
    c.create("/settle/ext/orders/stop-0", stop_request_text(c.all(heard::kind::started, 0).front().due)); // the run before
    c.create("/settle/ext/orders/stop-1", "now");
    c.run_for(1s);
    CHECK(!c.has("/settle/ext/orders/stop-0"));
    CHECK(!c.has("/settle/ext/orders/stop-1"));
    m.release_all();
    c.run_for(1s);
    CHECK(c.count(heard::kind::finished) == 4);
    CHECK(asked == std::vector{stop_reason::none, stop_reason::none}); // no order meant either of them
}

TEST_CASE("scheduler.job: from time to time the leader checks that the items' nodes match the assignment (RC-1)") {
    cluster c;
    auto job = make_job("settle", never, 4);
    job.reconcile_interval_minutes = 2;
    auto& one = c.add();
    auto& two = c.add();
    REQUIRE(one.schedule(job));
    REQUIRE(two.schedule(job));
    c.run_for(10s);
    auto const right = c.owners("settle", 4);
    auto const reshards = c.count(heard::kind::resharded);

    c.set("/settle/sharding/1/instance", "192.0.2.9@-@1"); // not a member
    c.remove("/settle/sharding/2/instance");
    c.create("/settle/sharding/7");
    c.run_for(60s);
    CHECK(c.owner("settle", 1) == "192.0.2.9@-@1"); // no watch reports it
    c.run_for(60s);
    CHECK(c.owners("settle", 4) == right);
    CHECK(!c.has("/settle/sharding/7"));
    CHECK(c.count(heard::kind::resharded) == reshards + 1);

    c.run_for(10min);
    CHECK(c.count(heard::kind::resharded) == reshards + 1); // and the leader leaves correct nodes alone
}

TEST_CASE("scheduler.job: beside Java members the leader checks soon after its shardings, because a Java member may "
          "still shard") {
    cluster c;
    auto& one = c.add();
    REQUIRE(one.schedule(make_job("settle", never, 4)));
    c.run_for(10s);
    c.create("/settle/instances/10.9.9.9@-@77", {}, create_mode::ephemeral);
    c.run_for(1s);
    auto const reshards = c.count(heard::kind::resharded);
    // A Java member led until its process was stopped. It goes on where it was, and only then notices the change.
    c.remove("/settle/sharding/1/instance");
    c.remove("/settle/sharding/2/instance");
    c.run_for(10s);
    CHECK(c.has("/settle/sharding/1/instance"));
    CHECK(c.has("/settle/sharding/2/instance"));
    CHECK(c.count(heard::kind::resharded) == reshards + 1);
    c.remove("/settle/sharding/3/instance");
    c.run_for(10s); // that was a sharding too
    CHECK(c.has("/settle/sharding/3/instance"));
    c.run_for(12s);
    CHECK(c.count(heard::kind::resharded) == reshards + 2);
    c.remove("/settle/sharding/3/instance");
    c.run_for(5min); // the last check found nothing wrong, so the interval of the job counts again
    CHECK(!c.has("/settle/sharding/3/instance"));
}

TEST_CASE("scheduler.job: the leader removes the server nodes that departed machines have left (SV-6)") {
    cluster c;
    auto& one = c.add();
    REQUIRE(one.schedule(make_job("settle", never, 2)));
    REQUIRE(c.add().schedule(make_job("settle", never, 2)));
    for (int n = 0; n < 450; ++n) c.create("/settle/servers/10.1.1." + std::to_string(n));
    c.set("/settle/servers/10.1.1.7", "DISABLED");
    c.create("/settle/servers/10.9.9.9");
    SUBCASE("members of this library only") {
        c.create("/settle/instances/10.9.9.9@-@77-x", {}, create_mode::ephemeral);
    }
    SUBCASE("a Java member would ask for a sharding each time") {
        c.create("/settle/instances/10.9.9.9@-@77", {}, create_mode::ephemeral);
        c.run_for(48h);
        CHECK(c.has("/settle/servers/10.1.1.1"));
        return;
    }
    c.run_for(23h);
    CHECK(c.has("/settle/servers/10.1.1.1"));
    auto const reshards = c.count(heard::kind::resharded);
    c.run_for(2h);
    std::vector<std::string> left;
    for (auto const& line : c.dump("/settle/servers")) left.push_back(line);
    CHECK(left == std::vector<std::string>{"/settle/servers P ", "/settle/servers/10.0.0.1 P ",
                                           "/settle/servers/10.0.0.2 P ", "/settle/servers/10.1.1.7 P DISABLED",
                                           "/settle/servers/10.9.9.9 P "});
    CHECK(c.count(heard::kind::resharded) == reshards);
    CHECK(c.count(heard::kind::trouble) == 0);
    c.remove("/settle/servers/10.0.0.1");
    REQUIRE(one.disable("settle")); // creates the removed node again
    CHECK(c.data("/settle/servers/10.0.0.1") == "DISABLED");
}

TEST_CASE("scheduler.job: an interval below one minute switches the check off") {
    cluster c;
    auto job = make_job("settle", never, 2);
    job.reconcile_interval_minutes = 0;
    REQUIRE(c.add().schedule(job));
    c.run_for(10s);
    c.set("/settle/sharding/1/instance", "192.0.2.9@-@1");
    c.run_for(24h);
    CHECK(c.owner("settle", 1) == "192.0.2.9@-@1");
}

TEST_CASE("scheduler.job: when failover is switched off, the flags of Java members are removed (FO-8, D-7)") {
    cluster c;
    auto job = make_job("settle", never, 2);
    job.failover = true;
    REQUIRE(c.add().schedule(job));
    c.run_for(10s);
    c.create("/settle/leader/failover");
    c.create("/settle/leader/failover/items");
    c.create("/settle/leader/failover/items/1");
    c.run_for(10s);
    CHECK(c.has("/settle/leader/failover/items/1"));
    job.failover = false;
    c.set("/settle/config", to_json(job));
    c.run_for(1s);
    CHECK(!c.has("/settle/leader/failover/items/1"));
}

TEST_CASE("scheduler.job: a shutdown on the loop is refused, and the handle keeps its job") {
    cluster c;
    auto& m = c.add();
    REQUIRE(m.schedule(make_job("settle", "0/5 * * * * ?", 1)));
    c.run_for(1s);
    std::optional<result<void>> refused;
    post(c.loop, [&] { refused = m.shutdown("settle"); });
    c.run_for(10s);
    REQUIRE(refused);
    REQUIRE_FALSE(*refused);
    CHECK(refused->error() == errc::wrong_thread);
    CHECK(c.started() == items{0, 0});
    CHECK(c.has("/settle/instances/" + m.id("settle")));
    REQUIRE(m.shutdown("settle"));
    CHECK_FALSE(c.has("/settle/instances/" + m.id("settle")));
    CHECK(c.count(heard::kind::left) == 1);
}
