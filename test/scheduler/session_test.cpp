// SPDX-License-Identifier: Apache-2.0
// A job while its session is cut off, and after it has another session.
#include <elasticjob/config/json_codec.hpp>
#include <elasticjob/core/start_on.hpp>
#include <elasticjob/execution/stop_request.hpp>
#include <support/cluster.hpp>
#include <support/job_world.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <optional>
#include <stop_token>
#include <string>

using namespace elasticjob;
using namespace elasticjob::test;

namespace {

using items = std::vector<item_index>;

} // namespace

TEST_CASE("scheduler.job: an idle job sends nothing for an hour, but for the leader's look every ten minutes") {
    cluster c;
    auto job = make_job("settle", never, 10);
    SUBCASE("switched off") { job.reconcile_interval_minutes = 0; }
    SUBCASE("every ten minutes, as by default") {}
    for (int n = 0; n < 3; ++n) REQUIRE(c.add().schedule(job));
    c.run_for(1min);
    c.server.counts() = {};
    c.run_for(1h);
    std::uint64_t const looks = job.reconcile_interval_minutes == 0 ? 0 : 6;
    CHECK(c.server.counts().reads == looks * (3 + 10)); // flags, servers, items, and each item's owner
    CHECK(c.server.counts().writes == 0);
}

TEST_CASE("scheduler.job: a connection that comes back in time costs no request, and no member notices (D-16, D-43)") {
    cluster c;
    auto& one = c.add();
    auto& two = c.add();
    REQUIRE(one.schedule(make_job("settle", never, 4)));
    REQUIRE(two.schedule(make_job("settle", never, 4)));
    c.run_for(1s);
    auto const before = c.dump("/settle");
    auto const epoch = c.data("/settle/ext/assignment");
    c.log.clear();
    c.server.counts() = {};
    for (auto* m : {&one, &two}) {
        disconnect(c, *m);
        c.run_for(9s);
        reconnect(c, *m);
        c.run_for(5s);
    }
    CHECK(c.server.counts().writes == 0);
    CHECK(c.server.counts().reads == 0);
    CHECK(c.dump("/settle") == before);
    CHECK(c.data("/settle/ext/assignment") == epoch);
    CHECK(c.count(heard::kind::resharded) == 0);
}

TEST_CASE("scheduler.job: runs continue while the connection is down, and their marks go when it is back") {
    cluster c;
    auto& m = c.add();
    bool was_stopped = false;
    m.body = [&](sharding_context const& ctx) -> result<void> {
        was_stopped = ctx.stop.stop_requested();
        return success();
    };
    REQUIRE(m.schedule(make_job("settle", never, 1)));
    c.run_for(1s);
    m.holds = true;
    REQUIRE(m.trigger("settle"));
    c.run_for(1s);
    disconnect(c, m);
    c.run_for(2s);
    m.release_all();
    c.run_for(3s);
    CHECK(c.is_marked("settle", 0));
    reconnect(c, m);
    c.run_for(1s);
    CHECK_FALSE(c.is_marked("settle", 0));
    CHECK_FALSE(was_stopped);
}

TEST_CASE("scheduler.job: a run is asked to stop before its session can be over, though the process receives nothing") {
    cluster c; // sessions end after 10 s
    auto& m = c.add();
    std::vector<stop_reason> why;
    m.body = [&](sharding_context const& ctx) -> result<void> {
        CHECK(ctx.stop.stop_requested() == (ctx.why_stop() != stop_reason::none));
        why.push_back(ctx.why_stop());
        return success();
    };
    REQUIRE(m.schedule(make_job("settle", never, 1)));
    for (auto const span : {3s, 7s}) { // the lease ends six seconds behind the last heartbeat but one
        c.run_for(1s);
        m.holds = true;
        REQUIRE(m.trigger("settle"));
        c.run_for(30s); // with heartbeats, it may take as long as it likes
        disconnect(c, m);
        c.run_for(span);
        m.holds = false;
        m.release_all();
        c.run_for(1s);
        reconnect(c, m);
        c.run_for(1s);
    }
    CHECK(why == std::vector{stop_reason::none, stop_reason::lease_over});
    CHECK(c.count(heard::kind::fenced) == 0); // no instance has taken the item over: both runs count
    CHECK(c.count(heard::kind::finished) == 2);
}

TEST_CASE("scheduler.job: when the leader's session ends another member leads, and its items go to the others") {
    cluster c;
    auto& one = c.add();
    auto& two = c.add();
    for (auto* m : {&one, &two}) REQUIRE(m->schedule(make_job("settle", "0/5 * * * * ?", 4)));
    c.run_for(1s);
    REQUIRE(c.data("/settle/leader/election/instance") == one.id("settle"));
    disconnect(c, one);
    c.run_for(11s);
    CHECK(c.data("/settle/leader/election/instance") == two.id("settle"));
    CHECK(c.owners("settle", 4) == std::vector<std::string>(4, two.id("settle")));
    c.log.clear();
    c.run_for(5s);
    CHECK(c.started() == items{0, 1, 2, 3});
    CHECK(c.started(0).empty());
}

TEST_CASE(
    "scheduler.job: a new session registers everything again, and is not taken for an operator's removal (D-18)") {
    cluster c;
    auto& one = c.add();
    auto& two = c.add();
    for (auto* m : {&one, &two}) REQUIRE(m->schedule(make_job("settle", "0/5 * * * * ?", 4)));
    c.run_for(1s);
    for (int n = 0; n < 5; ++n) {
        expire(c, one);
        expire(c, two);
        c.run_for(2s);
    }
    CHECK(c.count(heard::kind::left) == 0);
    CHECK(c.find("/settle/instances")->stat.children == 2);
    for (auto* m : {&one, &two})
        CHECK(c.find("/settle/instances/" + m->id("settle"))->stat.owner == m->registry.session().id);
    c.run_for(1s);
    c.log.clear();
    c.run_for(5s);
    CHECK(c.started() == items{0, 1, 2, 3});
}

TEST_CASE("scheduler.job: a session may end at any moment, and the member comes back") {
    for (int turns = 0; turns < 80; ++turns) {
        cluster c;
        auto& one = c.add();
        auto& two = c.add();
        for (auto* m : {&one, &two}) REQUIRE(m->schedule(make_job("settle", "* * * * * ?", 3)));
        c.run_for(999ms);
        for (int n = 0; n < turns; ++n) c.loop.step();
        post(c.loop, [&] { one.registry.expire(); });
        c.run_for(10s);
        INFO("after " << turns << " turns");
        CHECK(c.violations.empty());
        CHECK(c.count(heard::kind::left) == 0);
        CHECK(c.find("/settle/leader/election/latch")->stat.children == 0);
        c.log.clear();
        c.run_for(1s);
        CHECK(c.started() == items{0, 1, 2});
        c.run_for(500ms);
        for (item_index i = 0; i < 3; ++i) CHECK_FALSE(c.is_marked("settle", i));
    }
}

TEST_CASE("scheduler.job: runs that continue when the session ends are asked to stop, and marked again under the new "
          "one (D-17)") {
    cluster c;
    auto& one = c.add();
    auto& two = c.add();
    std::vector<bool> stopped;
    one.body = [&](sharding_context const& ctx) -> result<void> {
        stopped.push_back(ctx.stop.stop_requested());
        return success();
    };
    REQUIRE(one.schedule(make_job("settle", "0/5 * * * * ?", 2)));
    c.run_for(1s);
    one.holds = true;
    c.run_for(5s);
    REQUIRE(one.held() == 2);
    expire(c, one);
    c.run_for(100ms);
    for (item_index i = 0; i < 2; ++i) {
        REQUIRE(c.is_marked("settle", i));
        CHECK(c.find("/settle/sharding/" + std::to_string(i) + "/running")->stat.owner == one.registry.session().id);
    }
    // No other member runs the items meanwhile, though others own them.
    REQUIRE(two.schedule(make_job("settle", "0/5 * * * * ?", 2)));
    c.run_for(10s);
    CHECK(c.owner("settle", 0) == two.id("settle"));
    CHECK(c.count(heard::kind::started, 0) == 1);
    CHECK(c.violations.empty());
    one.holds = false;
    one.release_all();
    c.run_for(1s);
    stopped.resize(2); // the later ones make up for the missed instants
    CHECK(stopped == std::vector<bool>{true, true});
    CHECK_FALSE(c.is_marked("settle", 1));
    CHECK(c.count(heard::kind::started, 0) == 2); // the runs that waited for it
    c.run_for(10s);
    CHECK(c.violations.empty());
}

TEST_CASE(
    "scheduler.job: a run that outlives its session takes the mark of that session over, if the servers still have "
    "it (D-17)") {
    cluster c;
    auto& one = c.add();
    REQUIRE(one.schedule(make_job("settle", "0/5 * * * * ?", 1)));
    c.run_for(1s);
    one.holds = true;
    c.run_for(5s);
    REQUIRE(one.held() == 1);
    auto const path = cluster::parsed("/settle/sharding/0/running");
    bool is_there = false;
    on_loop(c, [&] { // the servers keep the mark: another session plays the part of the old one
        one.registry.expire();
        start_on(c.loop, c.by_hand.create(path, one.id("settle"), create_mode::ephemeral),
                 [&](result<node_path> const& made) { is_there = made.has_value(); });
    });
    c.run_for(100ms);
    REQUIRE(is_there);
    REQUIRE(c.is_marked("settle", 0));
    CHECK(c.find("/settle/sharding/0/running")->stat.owner == one.registry.session().id);
    one.holds = false;
    one.release_all();
    c.run_for(1s);
    CHECK_FALSE(c.is_marked("settle", 0));
    CHECK(record_of(c, 0).ledger.back().outcome == run_outcome::completed);
    CHECK(c.violations.empty());
}

TEST_CASE("scheduler.job: a run that was overtaken does not take the mark of the one that overtook it") {
    cluster c;
    auto& one = c.add();
    auto& two = c.add();
    for (auto* m : {&one, &two}) REQUIRE(m->schedule(make_job("settle", "0/5 * * * * ?", 2)));
    c.run_for(1s);
    REQUIRE(c.owner("settle", 1) == one.id("settle"));
    one.holds = true;
    c.run_for(5s);
    REQUIRE(one.held() == 1);
    disconnect(c, one);
    two.holds = true;
    c.run_for(16s); // its session ends; the other one starts its item
    REQUIRE(c.is_marked("settle", 1));
    auto const* mark = c.find("/settle/sharding/1/running");
    REQUIRE(mark->stat.owner == two.registry.session().id);
    // It comes back, and its run ends just while it looks for its mark.
    for (int turns = 0; turns < 12; ++turns) {
        post(c.loop, [&one] { one.registry.reconnect(); });
        for (int n = 0; n < turns; ++n) c.loop.step();
        one.release_all();
        c.run_for(1s);
        REQUIRE(c.is_marked("settle", 1));
        CHECK(c.find("/settle/sharding/1/running")->stat.owner == two.registry.session().id);
        disconnect(c, one);
        c.run_for(11s);
    }
    CHECK(c.violations.empty());
}

TEST_CASE("scheduler.job: a shutdown while the registry is away ends with the drain time-out") {
    cluster c;
    auto& m = c.add();
    REQUIRE(m.schedule(make_job("settle", never, 2)));
    c.run_for(1s);
    m.holds = true;
    REQUIRE(m.trigger("settle"));
    c.run_for(1s);
    disconnect(c, m);
    m.release_all();
    auto const begin = c.loop.now();
    (void)m.shutdown("settle");
    CHECK(c.loop.now() - begin >= c.drain_timeout); // until then the ends may still be recorded
    CHECK(c.loop.now() - begin <= c.drain_timeout + 5s);
    c.run_for(20s);
    CHECK(c.find("/settle/instances")->stat.children == 0);
}

TEST_CASE("scheduler.job: the leader's node of a former session of the same instance is not taken for leadership") {
    cluster c;
    auto& one = c.add();
    REQUIRE(one.schedule(make_job("settle", never, 1)));
    c.run_for(1s);
    c.create("/settle/leader/x"); // keeps the parent
    auto const id = one.id("settle");
    // As after an expiry that the server has not carried out yet: the node is there, with our id, of another session.
    c.wait_for(one.registry.remove(cluster::parsed("/settle/leader/election/instance"))).value();
    c.create("/settle/leader/election/instance", id, create_mode::ephemeral);
    c.run_for(1s);
    CHECK(c.log.back().what == heard::kind::leads_no_more);
    c.remove("/settle/leader/election/instance");
    c.run_for(1s);
    CHECK(c.find("/settle/leader/election/instance")->stat.owner == one.registry.session().id);
}

TEST_CASE("scheduler.job: a registration under an id that a live session holds is refused") {
    cluster c;
    auto& first = c.add("10.0.0.1");
    member second{c, first.number, "10.0.0.1"}; // the seed is made from the number
    REQUIRE(first.schedule(make_job("settle", never, 2)));
    c.run_for(1s);
    auto const before = first.id("settle");
    auto const outcome = second.schedule(make_job("settle", never, 2));
    c.run_for(1min);
    REQUIRE_FALSE(outcome);
    CHECK(outcome.error() == errc::job_conflict);
    CHECK(c.find("/settle/instances/" + first.id("settle"))->stat.owner == first.registry.session().id);
}

TEST_CASE("scheduler.job: a leader that dies is replaced in time, though the server has removed the empty queue") {
    cluster c;
    auto& one = c.add();
    auto& two = c.add();
    for (auto* m : {&one, &two}) REQUIRE(m->schedule(make_job("settle", "0/5 * * * * ?", 4)));
    c.run_for(1s);
    REQUIRE(c.data("/settle/leader/election/instance") == one.id("settle"));
    c.remove("/settle/leader/election/latch"); // Curator made it as a container
    post(c.loop, [&] { one.registry.disconnect(); });
    c.run_for(11s); // the session's time-out, and one second
    CHECK(c.data("/settle/leader/election/instance") == two.id("settle"));
    for (auto const& owner : c.owners("settle", 4)) CHECK(owner == two.id("settle"));
    CHECK(c.count(heard::kind::trouble) == 0);
}

TEST_CASE("scheduler.job: an election that keeps failing is reported once") {
    cluster c;
    auto& m = c.add();
    REQUIRE(m.schedule(make_job("settle", never, 1)));
    c.run_for(1s);
    std::string const latch = "/settle/leader/election/latch";
    for (int time = 1; time <= 2; ++time) {
        c.remove(latch);
        c.create(latch, {}, create_mode::ephemeral); // no candidate can be below it
        c.log.clear();
        c.remove("/settle/leader/election/instance");
        c.run_for(1min);
        CHECK(c.count(heard::kind::trouble) == 1);
        REQUIRE(c.last_trouble());
        CHECK(*c.last_trouble() == errc::no_children_for_ephemerals);
        c.remove(latch);
        c.run_for(5s); // the pause after a failure that lasts
        CHECK(c.data("/settle/leader/election/instance") == m.id("settle"));
        CHECK(c.count(heard::kind::trouble) == 1);
    }
}

TEST_CASE("scheduler.job: a checkpoint does not keep a run that is asked to stop") {
    cluster c;
    auto& m = c.add();
    REQUIRE(m.schedule(make_job("settle", never, 1)));
    c.run_for(1s);
    task_scope later;
    std::optional<mono_time> stopped_at, returned_at;
    std::optional<result<void>> saved, saved_again;
    m.holds = true;
    m.body = [&](sharding_context const& ctx) -> result<void> {
        std::stop_callback const note{ctx.stop, [&] { stopped_at = c.loop.now(); }};
        post(c.loop, [&] {
            m.registry.disconnect();
            later.spawn([](cluster& where, member& who) -> task<void> {
                co_await sleep_until(where.loop, where.loop.now() + 60s);
                who.registry.reconnect();
            }(c, m));
        });
        saved.emplace(ctx.checkpoint("half"));
        returned_at = c.loop.now();
        saved_again.emplace(ctx.checkpoint("more"));
        return success();
    };
    REQUIRE(m.trigger("settle"));
    c.run_for(1s);
    REQUIRE(m.call_held(0));
    REQUIRE(stopped_at);
    CHECK(*returned_at - *stopped_at <= 1ms);
    REQUIRE_FALSE(*saved);
    CHECK(saved->error() == errc::unknown_outcome);
    REQUIRE_FALSE(*saved_again);
    CHECK(saved_again->error() == errc::session_lost);
    CHECK(c.loop.now() == *returned_at);
    c.run_for(2min);
    CHECK_FALSE(c.is_marked("settle", 0));
}

TEST_CASE("scheduler.job: a run that an operator stops may save how far it has come") {
    cluster c;
    auto& m = c.add();
    REQUIRE(m.schedule(make_job("settle", never, 1)));
    c.run_for(1s);
    std::optional<result<void>> saved;
    m.holds = true;
    m.body = [&](sharding_context const& ctx) -> result<void> {
        CHECK(ctx.why_stop() == stop_reason::ordered);
        saved.emplace(ctx.checkpoint("half"));
        return success();
    };
    REQUIRE(m.trigger("settle"));
    c.run_for(1s);
    auto const due = c.all(heard::kind::started, 0).front().due;
    c.create("/settle/ext/orders/stop-0", stop_request_text(due));
    c.run_for(1s);
    REQUIRE(m.call_held(0));
    REQUIRE(saved);
    CHECK(*saved);
}

TEST_CASE("scheduler.job: nodes that a copying tool has left in the place of ephemeral ones are removed and reported "
          "(EL-8)") {
    cluster c;
    auto& one = c.add();
    auto& two = c.add();
    auto const job = make_job("settle", "0/5 * * * * ?", 4);
    for (auto const* path : {"/settle", "/settle/instances", "/settle/leader", "/settle/leader/election",
                             "/settle/leader/election/latch", "/settle/ext"})
        c.create(path);
    c.create("/settle/config", to_json(job));
    c.create("/settle/instances/10.9.9.9@-@9-copied", "TRIGGER");
    c.create("/settle/leader/election/instance", "10.9.9.9@-@9-copied");
    c.create("/settle/leader/election/latch/_c_6f2c1b9e-7f0f-4a57-9b1e-0a3f0e8a8d11-latch-0000000000");
    REQUIRE(one.schedule(job));
    REQUIRE(two.schedule(job));
    c.run_for(6s);
    CHECK(c.started() == items{0, 1, 2, 3});
    CHECK(c.owners("settle", 4) ==
          std::vector<std::string>{two.id("settle"), two.id("settle"), one.id("settle"), one.id("settle")});
    CHECK(!c.has("/settle/instances/10.9.9.9@-@9-copied"));
    std::string told;
    for (auto const& h : c.log)
        if (h.what == heard::kind::trouble) told += to_string(*h.failure) + '\n';
    INFO(told);
    CHECK(c.count(heard::kind::trouble) == 3);
    for (auto const* where : {"/instances/10.9.9.9@-@9-copied", "/leader/election/instance", "-latch-0000000000"})
        CHECK(told.find(where) != told.npos);
}

TEST_CASE("scheduler.job: a member that comes back while its stand-in is being removed gets its items (EL-8)") {
    for (int turns = -10; turns < 60; turns += 7) { // before or after the stand-in appears
        CAPTURE(turns);
        cluster c;
        auto& one = c.add();
        auto& two = c.add();
        auto const job = make_job("settle", never, 4);
        REQUIRE(one.schedule(job));
        REQUIRE(two.schedule(job));
        c.run_for(1s);
        auto const id = two.id("settle");
        disconnect(c, two);
        c.run_for(30s);
        REQUIRE(!c.has("/settle/instances/" + id));
        auto const step = [&](int count) {
            for (int i = 0; i < count; ++i) c.loop.step();
        };
        if (turns < 0) two.registry.reconnect();
        step(-turns);
        // Java's console writes to an instance that has just ended, and another instance joins.
        c.server.apply({operation{operation::kind::create, *node_path::parse("/settle/instances/" + id), "TRIGGER"}},
                       one.registry.session().id + 1000);
        c.server.apply({operation{operation::kind::create, *node_path::parse("/settle/instances/10.9.9.9@-@9-x"), "",
                                  create_mode::ephemeral}},
                       4242);
        step(turns);
        if (turns >= 0) two.registry.reconnect();
        c.run_for(1min);
        CHECK(c.has("/settle/instances/" + id));
        auto const owners = c.owners("settle", 4);
        CHECK(std::find(owners.begin(), owners.end(), id) != owners.end());
    }
}

TEST_CASE(
    "scheduler.job: a node that stands in for an instance and cannot be removed gets no items, and is reported once") {
    cluster c;
    auto& one = c.add();
    REQUIRE(one.schedule(make_job("settle", "0/5 * * * * ?", 4)));
    c.run_for(1s);
    c.create("/settle/instances/10.9.9.9@-@9-copied");
    c.create("/settle/instances/10.9.9.9@-@9-copied/below");
    c.run_for(30s);
    CHECK(c.owners("settle", 4) == std::vector<std::string>(4, one.id("settle")));
    CHECK(c.count(heard::kind::trouble) == 1);
    REQUIRE(c.last_trouble());
    CHECK(*c.last_trouble() == errc::not_empty);
    c.remove("/settle/instances/10.9.9.9@-@9-copied/below");
    c.remove("/settle/instances/10.9.9.9@-@9-copied");
    auto& two = c.add();
    REQUIRE(two.schedule(make_job("settle", "0/5 * * * * ?", 4)));
    c.run_for(1s);
    CHECK(c.owner("settle", 0) == two.id("settle"));
    CHECK(c.count(heard::kind::trouble) == 1);
}

TEST_CASE("scheduler.job: the leader looks once at each instance that joins") {
    cluster c;
    c.create("/settle"); // not founded, so all nodes are watched already
    auto const job = make_job("settle", never, 4);
    REQUIRE(c.add().schedule(job));
    c.run_for(1s);
    std::uint64_t looks = 0;
    auto const leader = c.members.front()->registry.session().id;
    losing const network{c.server, [&](std::int64_t s, operation::kind const* write) {
                             looks += s == leader && !write;
                             return request_fate::served;
                         }};
    c.create("/settle/instances/10.9.9.9@-@9-a", {}, create_mode::ephemeral);
    c.run_for(1min);
    auto const of_first = looks;
    CHECK(of_first ==
          6); // names, server, owner; the assignment, the first item and the flags that it has written itself
    c.create("/settle/instances/10.9.9.9@-@9-b", {}, create_mode::ephemeral);
    c.run_for(1min);
    CHECK(looks - of_first <= of_first);
}
