// SPDX-License-Identifier: Apache-2.0
// Members of ours under a leader that follows the 2.1.5 protocol. It shards at its next firing, in several steps, and
// other members request that by `leader/sharding/necessary`.
#include <support/cluster.hpp>

#include <doctest/doctest.h>

using namespace elasticjob;
using namespace elasticjob::test;

namespace {

using items = std::vector<item_index>;

/// The writes of a Java member that leads the job "settle", in its order.
struct java_leader {
    cluster& c;
    std::string id = "10.0.0.9@-@4711";

    explicit java_leader(cluster& where) : c{where} {
        for (auto const* path :
             {"/settle", "/settle/leader", "/settle/leader/election", "/settle/leader/election/latch",
              "/settle/leader/sharding", "/settle/instances", "/settle/sharding"})
            c.create(path);
        c.create("/settle/leader/election/instance", id, create_mode::ephemeral);
        c.create("/settle/instances/" + id, "", create_mode::ephemeral);
    }

    void ask() {
        if (!c.has("/settle/leader/sharding/necessary")) c.create("/settle/leader/sharding/necessary");
    }
    void begin_sharding(std::size_t count) {
        c.create("/settle/leader/sharding/processing", "", create_mode::ephemeral);
        for (std::size_t i = 0; i < count; ++i) {
            auto const item = "/settle/sharding/" + std::to_string(i);
            if (c.has(item + "/instance")) c.remove(item + "/instance");
            if (!c.has(item)) c.create(item);
        }
    }
    void finish_sharding(std::vector<std::string> const& owners) {
        transaction t{c.by_hand.session().generation};
        for (std::size_t i = 0; i < owners.size(); ++i)
            t.create(cluster::parsed("/settle/sharding/" + std::to_string(i) + "/instance"), owners[i]);
        t.remove(cluster::parsed("/settle/leader/sharding/necessary"));
        t.remove(cluster::parsed("/settle/leader/sharding/processing"));
        REQUIRE(c.wait_for(c.by_hand.commit(std::move(t))).value());
    }
    void shard(std::vector<std::string> const& owners) {
        begin_sharding(owners.size());
        finish_sharding(owners);
    }
};

/// Two members under a Java leader, which has given them items 0 and 1 of four.
struct java_led {
    cluster c;
    java_leader java{c};
    member& one = c.add();
    member& two = c.add();
    std::string first, second;

    explicit java_led(char const* cron) {
        for (auto* m : {&one, &two}) REQUIRE(m->schedule(make_job("settle", cron, 4)));
        c.run_for(1s);
        first = one.id("settle");
        second = two.id("settle");
        java.shard({first, second, java.id, java.id});
        c.run_for(1s);
        c.log.clear();
    }

    /// The items that ran for the instant that many seconds after the begin.
    items run_for_instant(int seconds) const {
        items all;
        wall_time const due{std::chrono::seconds{1'767'225'600 + seconds}};
        for (auto const& h : c.log)
            if (h.what == heard::kind::started && h.due == due) all.push_back(h.item);
        std::sort(all.begin(), all.end());
        return all;
    }
};

} // namespace

TEST_CASE(
    "scheduler.job: items due while a Java leader has to shard wait for the sharding, and their new owner runs them") {
    java_led w{"0/10 * * * * ?"};
    w.c.run_for(10s); // 12
    CHECK(w.run_for_instant(10) == items{0, 1});

    w.java.ask(); // another member has joined
    w.c.run_for(8s + 50ms);
    CHECK(w.run_for_instant(20).empty());
    w.java.shard({w.java.id, w.first, w.second, w.java.id});
    w.c.run_for(1s);
    CHECK(w.run_for_instant(20) == items{1, 2}); // the leader runs its own share of this firing itself
    CHECK(w.c.skips(events::skip_reason::too_late) == 0);
    w.c.run_for(10s); // no sharding is requested any more
    CHECK(w.run_for_instant(30) == items{1, 2});
    CHECK(w.c.count(heard::kind::trouble) == 0);
}

TEST_CASE("scheduler.job: the nodes of the items may change before or after the request is removed") {
    java_led w{"0/10 * * * * ?"};
    w.java.ask();
    w.c.run_for(8s + 20ms); // 10
    w.java.begin_sharding(4);
    w.c.run_for(30ms);
    CHECK(w.run_for_instant(10).empty());
    w.java.finish_sharding({w.first, w.java.id, w.java.id, w.first});
    w.c.run_for(1s);
    CHECK(w.run_for_instant(10) == items{0, 3});
    CHECK(w.c.started(0) == items{0, 3});
    CHECK(w.c.started(1).empty());
}

TEST_CASE("scheduler.job: a request that comes again with the sharding does not hold back the runs that the sharding "
          "was made for") {
    // A Java member that joins writes its server's node first and its instance's node a moment later.
    java_led w{"0/10 * * * * ?"};
    w.java.ask();
    w.c.run_for(8s + 20ms); // 10
    CHECK(w.run_for_instant(10).empty());
    w.java.begin_sharding(4);
    transaction t{w.c.by_hand.session().generation};
    std::vector<std::string> const owners{w.java.id, w.first, w.second, w.java.id};
    for (std::size_t i = 0; i < owners.size(); ++i)
        t.create(cluster::parsed("/settle/sharding/" + std::to_string(i) + "/instance"), owners[i]);
    t.remove(cluster::parsed("/settle/leader/sharding/processing"));
    REQUIRE(w.c.wait_for(w.c.by_hand.commit(std::move(t))).value()); // the request seems to be there all the time
    w.c.run_for(1s);
    CHECK(w.run_for_instant(10) == items{1, 2});
    w.c.run_for(9s + 20ms); // 20
    CHECK(w.run_for_instant(20).empty());
    w.java.shard({w.first, w.first, w.first, w.first});
    w.c.run_for(1s);
    CHECK(w.run_for_instant(20) == items{0, 1, 2, 3});
}

TEST_CASE(
    "scheduler.job: under a Java leader we do not rely on our own assignment either while the leader has to shard") {
    cluster c;
    auto& one = c.add();
    auto& two = c.add();
    for (auto* m : {&one, &two}) REQUIRE(m->schedule(make_job("settle", "0/10 * * * * ?", 4)));
    c.run_for(2s);
    auto const id = two.id("settle");
    CHECK(c.owners("settle", 4) == std::vector<std::string>{id, id, one.id("settle"), one.id("settle")});
    // A Java member joins, and the first leaves in the same moment; the Java member is elected.
    c.create("/settle/instances/10.0.0.9@-@4711", "", create_mode::ephemeral);
    c.run_for(1s);
    auto const before = c.owners("settle", 4);
    transaction t{c.by_hand.session().generation};
    t.remove(cluster::parsed("/settle/leader/election/instance"));
    t.create(cluster::parsed("/settle/leader/election/instance"), "10.0.0.9@-@4711", create_mode::ephemeral);
    t.create(cluster::parsed("/settle/leader/sharding/necessary"), {});
    REQUIRE(c.wait_for(c.by_hand.commit(std::move(t))).value());
    c.log.clear();
    c.run_for(7s + 500ms); // past 10
    CHECK(c.owners("settle", 4) == before);
    CHECK(c.started().empty());
    c.remove("/settle/leader/sharding/necessary"); // the request is withdrawn
    c.run_for(1s);
    std::size_t ours = 0;
    for (auto const& owner : before) ours += owner != "10.0.0.9@-@4711";
    CHECK(c.started().size() == ours);
}

TEST_CASE("scheduler.job: a Java leader that does not shard holds a firing back for `sharding_timeout`, once") {
    java_led w{"0/20 * * * * ?"};
    w.java.ask();
    w.c.run_for(18s + 9s); // 29
    CHECK(w.c.started().empty());
    w.c.run_for(2s); // 31
    CHECK(w.run_for_instant(20) == items{0, 1});
    REQUIRE(w.c.last_trouble());
    CHECK(*w.c.last_trouble() == errc::timed_out);
    CHECK(w.c.last_trouble()->what.find(w.java.id) != std::string::npos);
    CHECK(w.c.count(heard::kind::trouble) == 2); // each member reports it once
    w.c.run_for(10s);                            // 41: the request still stands
    CHECK(w.run_for_instant(40) == items{0, 1});
    CHECK(w.c.count(heard::kind::trouble) == 2);
    w.java.shard({w.java.id, w.java.id, w.first, w.second});
    w.java.ask();
    w.c.run_for(20s); // 61: another request
    CHECK(w.run_for_instant(60).empty());
    w.java.shard({w.first, w.second, w.first, w.second});
    w.c.run_for(1s);
    CHECK(w.run_for_instant(60) == items{0, 1, 2, 3});
}

TEST_CASE("scheduler.job: runs that are not firings do not wait for a Java leader") {
    cluster c;
    java_leader java{c};
    auto& m = c.add();
    auto job = make_job("settle", "0 * * * * ?", 2);
    job.retry = {.attempts_max = 2, .pause = 5s};
    REQUIRE(m.schedule(job));
    c.run_for(1s);
    java.shard({m.id("settle"), java.id});
    int runs = 0;
    m.body = [&](sharding_context const&) -> result<void> {
        if (++runs == 1) return error{errc::job_failed, "not now"};
        return success();
    };
    c.run_for(60s); // 61
    CHECK(runs == 1);
    java.ask();
    c.run_for(10s);
    CHECK(runs == 2);
}

TEST_CASE("scheduler.job: a TRIGGER waits for the sharding that a Java leader has to make") {
    java_led w{never};
    w.java.ask();
    w.c.run_for(1s);
    for (auto const& id : {w.first, w.second}) w.c.set("/settle/instances/" + id, "TRIGGER");
    w.c.run_for(500ms);
    CHECK(w.c.data("/settle/instances/" + w.first).empty()); // the member has taken the order
    CHECK(w.c.started().empty());
    w.java.shard({w.java.id, w.java.id, w.first, w.second});
    w.c.run_for(1s);
    CHECK(w.c.started() == items{2, 3});
}

TEST_CASE("scheduler.job: a TRIGGER right after a server was enabled waits for its sharding, asked for or not") {
    java_led w{never};
    w.c.set("/settle/servers/10.0.0.1", "DISABLED");
    w.java.ask();
    w.c.run_for(1s);
    w.java.shard({w.second, w.second, w.java.id, w.java.id});
    w.c.run_for(1s);
    w.c.set("/settle/servers/10.0.0.1", "");
    for (auto const& id : {w.first, w.second}) w.c.set("/settle/instances/" + id, "TRIGGER");
    w.c.run_for(50ms); // before the Java leader has noticed it
    w.java.ask();
    w.c.run_for(50ms);
    w.java.shard({w.first, w.second, w.java.id, w.java.id});
    w.c.run_for(1s);
    CHECK(w.c.started(0) == items{0});
    CHECK(w.c.started(1) == items{1});
}

TEST_CASE("scheduler.job: an order of ours waits for the sharding that a Java leader has to make") {
    java_led w{never};
    w.java.ask();
    w.c.run_for(1s);
    REQUIRE(w.one.trigger("settle"));
    CHECK(w.c.data("/settle/instances/" + w.java.id) == "TRIGGER");
    w.c.run_for(1s);
    CHECK(w.c.started().empty());
    w.java.shard({w.first, w.java.id, w.second, w.java.id});
    w.c.run_for(1s);
    CHECK(w.c.started() == items{0, 2});
}

TEST_CASE("scheduler.job: the share that a Java leader assigns is reported") {
    java_led w{never};
    w.java.ask();
    w.c.run_for(1s);
    CHECK(w.c.count(heard::kind::share) == 0);
    w.java.shard({w.first, w.first, w.java.id, w.second});
    w.c.run_for(1s);
    w.java.ask();
    w.java.shard({w.java.id, w.java.id, w.java.id, w.second});
    w.c.run_for(1s);
    std::vector<std::pair<std::size_t, items>> told;
    for (auto const& h : w.c.log)
        if (h.what == heard::kind::share) told.emplace_back(h.member, h.items);
    std::sort(told.begin(), told.end());
    CHECK(told == std::vector<std::pair<std::size_t, items>>{{0, {}}, {0, {0, 1}}, {1, {3}}});
}

TEST_CASE("scheduler.job: a leader of ours answers a request that comes again before the answer has been seen") {
    // A Java member asks again when it hears of its own joining, and waits for as long as the request stands.
    for (int steps = 0; steps < 40; ++steps) {
        CAPTURE(steps);
        cluster c;
        REQUIRE(c.add().schedule(make_job("settle", never, 2)));
        c.run_for(1s);
        c.create("/settle/leader/sharding/necessary");
        while (c.has("/settle/leader/sharding/necessary")) c.loop.step();
        std::optional<result<node_path>> again;
        auto ask = [&]() -> task<void> {
            again.emplace(co_await c.by_hand.create(cluster::parsed("/settle/leader/sharding/necessary"), {},
                                                    create_mode::persistent));
        };
        task_scope background;
        for (int i = 0; i < steps; ++i) c.loop.step();
        post(c.loop, [&] { background.spawn(ask()); });
        while (!again) c.loop.step();
        REQUIRE(*again);
        c.run_for(1s);
        CHECK_FALSE(c.has("/settle/leader/sharding/necessary"));
    }
}

TEST_CASE("scheduler.job: an answer that comes with the next request ends the wait, even after it was given up") {
    java_led w{"0/10 * * * * ?"};
    w.java.ask();
    w.c.run_for(43s); // 45: the leader's own run lasts so long
    CHECK(w.run_for_instant(40) == items{0, 1});
    w.java.shard({w.second, w.first, w.java.id, w.java.id});
    w.java.ask();
    w.c.run_for(60s);                            // 105
    CHECK(w.run_for_instant(70) == items{0, 1}); // 50 and 60 waited for that request until it was given up, too
    CHECK(w.run_for_instant(90) == items{0, 1});
}

TEST_CASE("scheduler.job: owners that a former Java leader goes on deleting are restored without regular audits, too") {
    cluster c;
    java_leader java{c};
    auto& ours = c.add();
    auto job = make_job("settle", "0 0 * * * ?", 4);
    job.reconcile_interval_minutes = -1;
    REQUIRE(ours.schedule(job));
    c.run_for(1s);
    java.begin_sharding(4);
    c.run_for(1s);
    transaction end_of_session{c.by_hand.session().generation};
    for (auto const* path : {"/settle/leader/election/instance", "/settle/leader/sharding/processing"})
        end_of_session.remove(cluster::parsed(path));
    end_of_session.remove(cluster::parsed("/settle/instances/" + java.id));
    REQUIRE(c.wait_for(c.by_hand.commit(std::move(end_of_session))).value());
    c.run_for(2s); // ours leads and shards; then the Java process comes back with another session
    c.create("/settle/instances/" + java.id, "", create_mode::ephemeral);
    java.ask();
    c.run_for(1s);
    auto const owners = c.owners("settle", 4);
    for (auto const* i : {"1", "2", "3"}) c.remove("/settle/sharding/" + std::string{i} + "/instance");
    c.run_for(10min);
    CHECK(c.owners("settle", 4) == owners);
}

TEST_CASE("scheduler.job: an instance that leaves under a Java leader leaves its name in no item (JV-4)") {
    // Java members take an instance that goes for a crash, and run the items that name it once more.
    java_led w{never};
    w.one.destroy_scheduler();
    CHECK_FALSE(w.c.has("/settle/instances/" + w.first));
    CHECK(w.c.owners("settle", 4) == std::vector<std::string>{"", w.second, w.java.id, w.java.id});
    CHECK(w.c.has("/settle/leader/sharding/necessary"));
}

TEST_CASE("scheduler.job: a leader that loses its office while it waits for more changes does not shard") {
    cluster c;
    c.create("/settle"); // so that it is elected
    REQUIRE(c.add().schedule(make_job("settle", never, 4)));
    c.run_for(1s);
    auto const version = c.find("/settle/ext/assignment")->stat.version;
    std::string const java = "10.0.0.1@-@9"; // on a server that is known
    c.create("/settle/instances/" + java, {}, create_mode::ephemeral);
    c.remove("/settle/leader/election/instance");
    c.create("/settle/leader/election/instance", java, create_mode::ephemeral);
    c.create("/settle/leader/sharding/necessary");
    c.run_for(1s);
    CHECK(c.find("/settle/ext/assignment")->stat.version == version);
    CHECK(c.has("/settle/leader/sharding/necessary")); // the Java leader has to shard
}
