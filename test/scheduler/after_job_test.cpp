// SPDX-License-Identifier: Apache-2.0
// Jobs that follow others: `fetch` is due by its own schedule, and `settle` behind it. The world begins on 2026-01-01
// at midnight, UTC.
#include <support/cluster.hpp>

#include <elasticjob/config/followed_rounds.hpp>
#include <elasticjob/config/json_codec.hpp>
#include <elasticjob/config/schedule_text.hpp>
#include <elasticjob/execution/run_record.hpp>

#include <doctest/doctest.h>

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace elasticjob;
using namespace elasticjob::test;

namespace {

using seconds_list = std::vector<long>;

wall_time at(std::chrono::milliseconds since_midnight) { return wall_time{1'767'225'600s} + since_midnight; }

job_config following(std::string name, std::string job, int count, round_end end = round_end::completed) {
    auto c = make_job(std::move(name), "", count);
    c.schedules = {job_schedule::after_job(std::move(job), end)};
    return c;
}

/// Members of any jobs. Their bodies record the rounds that each run follows.
struct world {
    explicit world(int members = 2) {
        for (int n = 0; n < members; ++n) {
            auto& m = c.add();
            m.body = [this](sharding_context const& ctx) { return run(ctx); };
        }
    }

    result<void> run(sharding_context const& ctx) {
        if (ctx.after) followed[ctx.job_name + " " + std::to_string(ctx.item)].push_back((*ctx.after - at(0ms)) / 1s);
        bool const fails = failing && failing(ctx);
        return fails ? result<void>{error{errc::job_failed, "as told", ""}} : result<void>{success()};
    }
    void join(job_config const& job) {
        for (auto& m : c.members) REQUIRE(m->schedule(job));
    }
    member& leader_of(std::string const& job) {
        for (auto& m : c.members)
            if (c.data("/" + job + "/leader/election/instance") == m->id(job)) return *m;
        FAIL("nobody leads " << job);
        return *c.members.front();
    }
    member& owner_of(std::string const& job, item_index i) {
        for (auto& m : c.members)
            if (c.owner(job, i) == m->id(job)) return *m;
        FAIL("nobody owns the item");
        return *c.members.front();
    }
    void disconnect(member& m) {
        post(c.loop, [&m] { m.registry.disconnect(); });
        c.loop.run_ready();
    }
    /// The rounds of the other job that the item has run for, by their due instants, in seconds since midnight.
    seconds_list rounds(std::string const& job, item_index i) { return followed[job + " " + std::to_string(i)]; }
    std::vector<heard> starts(std::string const& job, item_index i) const {
        std::vector<heard> found;
        for (auto const& h : c.all(heard::kind::started, i))
            if (h.job == job) found.push_back(h);
        return found;
    }
    run_record record_of(std::string const& job, item_index i) const {
        return run_record::parse(c.data("/" + job + "/ext/run/" + std::to_string(i))).value();
    }
    followed_rounds written(std::string const& job) const {
        return followed_rounds::parse(c.data("/" + job + "/ext/after")).value();
    }

    std::function<bool(sharding_context const&)> failing;
    std::map<std::string, seconds_list> followed;
    cluster c;
};

bool is_of(sharding_context const& ctx, std::string_view job, item_index i, std::chrono::seconds due) {
    return ctx.job_name == job && ctx.item == i && ctx.due == at(due);
}

} // namespace

TEST_CASE("after_job: each round of the followed job makes the follower run one round, and each run learns its round") {
    world w;
    w.join(make_job("fetch", "0/10 * * * * ?", 3));
    w.join(following("settle", "fetch", 2));
    w.c.run_for(35s);
    for (item_index i = 0; i < 2; ++i) {
        CHECK(w.rounds("settle", i) == seconds_list{10, 20, 30});
        auto const starts = w.starts("settle", i);
        REQUIRE(starts.size() == 3);
        CHECK(starts[0].source == run_source::schedule);
        CHECK(starts[0].due >= at(10s));
        CHECK(starts[0].due == w.starts("settle", 1 - i)[0].due);
        for (item_index j = 0; j < 3; ++j) CHECK(starts[0].at >= w.starts("fetch", j)[0].at);
    }
    CHECK(w.c.data("/settle/ext/schedule") == "elasticjob schedule 1\nafter-job completed fetch\n");
    // Nothing else makes it due. An order is no round, and jobs that follow no other job receive no rounds.
    REQUIRE(w.c.members[0]->trigger("fetch"));
    w.c.run_for(2s);
    CHECK(w.starts("fetch", 0).size() == 4);
    CHECK(w.starts("settle", 0).size() == 3);
    REQUIRE(w.c.members[0]->trigger("settle"));
    w.c.run_for(2s);
    CHECK(w.starts("settle", 0).size() == 4);
    CHECK(w.rounds("settle", 0).size() == 3);
    CHECK(w.rounds("fetch", 0).empty());
    CHECK(w.c.count(heard::kind::trouble) == 0);
    CHECK(w.c.violations.empty());
}

TEST_CASE("after_job: each follower runs after the round ends that it asked for") {
    world w;
    w.failing = [](sharding_context const& ctx) { return is_of(ctx, "fetch", 1, 20s); };
    w.join(make_job("fetch", "0/10 * * * * ?", 2));
    w.join(following("on_success", "fetch", 1));
    w.join(following("on_failure", "fetch", 1, round_end::failed));
    w.join(following("always", "fetch", 1, round_end::ended));
    w.c.run_for(35s);
    CHECK(w.rounds("on_success", 0) == seconds_list{10, 30});
    CHECK(w.rounds("on_failure", 0) == seconds_list{20});
    CHECK(w.rounds("always", 0) == seconds_list{10, 20, 30});
}

TEST_CASE("after_job: a round ends when its last item is done with it, and skipped rounds are not completed rounds") {
    world w{1};
    auto& m = *w.c.members[0];
    m.holds = true;
    auto fetch = make_job("fetch", "0/10 * * * * ?", 2);
    fetch.misfire = false;
    w.join(fetch);
    w.join(following("settle", "fetch", 1));
    w.join(following("always", "fetch", 1, round_end::ended));
    w.c.run_for(11s);
    REQUIRE(m.held() == 2);
    m.release(0);
    w.c.run_for(20s); // item 1 misses two rounds; in the first of them item 0 is held
    CHECK(w.starts("settle", 0).empty());
    m.holds = false;
    m.release_all();
    w.c.run_for(5s);
    CHECK(w.rounds("settle", 0) == seconds_list{10});
    w.c.run_for(10s);
    CHECK(w.rounds("settle", 0) == seconds_list{10, 40});
    CHECK(w.rounds("always", 0).back() == 40);
    CHECK(w.rounds("always", 0).front() == 10);
}

TEST_CASE("after_job: a job slower than the job it follows makes up for rounds as its misfire policy says") {
    world w{1};
    auto& m = *w.c.members[0];
    w.join(make_job("fetch", "0/10 * * * * ?", 1));
    auto settle = following("settle", "fetch", 1);
    bool is_all = false;
    SUBCASE("once") {}
    SUBCASE("all") {
        is_all = true;
        settle.on_misfire.rule = misfire_rule::all;
    }
    w.join(settle);
    w.c.run_for(9s);
    post(w.c.loop, [&] {
        m.body = [&](sharding_context const& ctx) {
            m.holds = ctx.job_name == "fetch" && ctx.due == at(10s); // the next that begins
            return w.run(ctx);
        };
    });
    w.c.run_for(2s);
    REQUIRE(m.held() == 1);
    m.holds = false;
    w.c.run_for(30s);
    REQUIRE(m.held() == 1);
    m.release_all();
    w.c.run_for(5s);
    CHECK(w.rounds("settle", 0) == (is_all ? seconds_list{10, 20, 30, 40} : seconds_list{10, 40}));
    CHECK(w.starts("settle", 0).back().source == run_source::misfire);
}

TEST_CASE("after_job: a leader that dies before or after its write neither loses nor doubles a round") {
    for (bool const is_written : {false, true}) {
        INFO("written: ", is_written);
        world w{3};
        w.join(make_job("fetch", "0/30 * * * * ?", 2));
        w.join(following("settle", "fetch", 2));
        w.c.run_for(29s);
        auto& dead = w.leader_of("settle");
        if (is_written) {
            w.c.run_for(1'500ms);
            REQUIRE(w.written("settle").rounds.size() == 1);
        } else {
            w.disconnect(dead); // its items of `fetch` are made up for, too
        }
        if (is_written) w.disconnect(dead);
        w.c.run_for(95s);
        CHECK(&w.leader_of("settle") != &dead);
        auto const& rounds = w.written("settle").rounds;
        std::vector<long> of;
        for (auto const& r : rounds) of.push_back((r.of - at(0ms)) / 1s);
        CHECK(of == seconds_list{30, 60, 90, 120});
        for (std::size_t n = 1; n < rounds.size(); ++n) CHECK(rounds[n - 1].due < rounds[n].due);
        for (item_index i = 0; i < 2; ++i) CHECK(w.rounds("settle", i) == seconds_list{30, 60, 90, 120});
        CHECK(w.c.violations.empty());
    }
}

TEST_CASE("after_job: a leader may die at any step") {
    // From just before the round on, after the n-th request: the request or its reply is lost.
    int steps = 0;
    for (bool is_over = false; !is_over; ++steps) {
        for (auto const fate : {request_fate::request_lost, request_fate::reply_lost}) {
            INFO("request ", steps, ", its reply is lost: ", fate == request_fate::reply_lost);
            world w{3};
            w.join(make_job("fetch", "0/30 * * * * ?", 1));
            auto settle = following("settle", "fetch", 3);
            settle.failover = true;
            w.join(settle);
            w.c.run_for(29s);
            auto& dead = w.leader_of("settle");
            {
                int seen = 0;
                auto const session = dead.registry.session().id;
                losing const network{w.c.server, [&](std::int64_t who, operation::kind const*) {
                                         if (who != session || seen++ != steps) return request_fate::served;
                                         post(w.c.loop, [&dead] { dead.registry.disconnect(); });
                                         return fate;
                                     }};
                w.c.run_for(16s);
                is_over = seen <= steps;
            }
            w.c.run_for(20s);
            for (item_index i = 0; i < 3; ++i) {
                CHECK(w.rounds("settle", i).back() == 60);
                CHECK(w.written("settle").rounds.size() == 2);
                seconds_list completed;
                for (auto const& e : w.record_of("settle", i).ledger)
                    if (e.outcome == run_outcome::completed) completed.push_back((e.run.due - at(0ms)) / 1s);
                CHECK(completed.size() == 2);
            }
            CHECK(w.c.violations.empty());
        }
    }
    CHECK(steps > 5);
}

TEST_CASE("after_job: the death of an instance during a round delays the end of the round or makes the round fail") {
    for (bool const failover : {true, false}) {
        INFO("failover: ", failover);
        world w{3};
        auto fetch = make_job("fetch", "0 0/1 * * * ?", 3);
        fetch.failover = failover;
        w.join(fetch);
        w.join(following("settle", "fetch", 1));
        w.join(following("mend", "fetch", 1, round_end::failed));
        w.c.run_for(59s);
        auto& dead = w.owner_of("fetch", 1);
        dead.holds = true;
        w.c.run_for(2s);
        CHECK(w.starts("settle", 0).empty());
        w.disconnect(dead);
        w.c.run_for(5s); // its session lives
        CHECK(w.starts("settle", 0).empty());
        CHECK(w.starts("mend", 0).empty());
        w.c.run_for(100s);
        CHECK(w.rounds("settle", 0) == (failover ? seconds_list{60, 120} : seconds_list{120}));
        CHECK(w.rounds("mend", 0) == (failover ? seconds_list{} : seconds_list{60}));
        CHECK(w.c.violations.empty());
    }
}

TEST_CASE("after_job: jobs that follow one another form a chain, and each runs as often as the first") {
    world w;
    w.join(following("archive", "settle", 2));
    w.join(following("settle", "fetch", 3)); // the order of joining does not matter
    w.c.run_for(5s);
    w.join(make_job("fetch", "0/10 * * * * ?", 2));
    w.c.run_for(35s);
    for (item_index i = 0; i < 2; ++i) {
        CHECK(w.rounds("settle", i) == seconds_list{10, 20, 30, 40});
        CHECK(w.starts("archive", i).size() == 4);
    }
    for (std::size_t n = 0; n < 4; ++n) {
        CHECK(w.starts("archive", 0)[n].at >= w.starts("settle", 2)[n].at);
        CHECK(w.written("archive").rounds[n].of == w.written("settle").rounds[n].due);
    }
}

TEST_CASE("after_job: rounds that ended while the follower had no instance are made up for by one run") {
    world w;
    w.join(make_job("fetch", "0/10 * * * * ?", 1));
    auto const settle = following("settle", "fetch", 1);
    w.join(settle);
    w.c.run_for(15s);
    for (auto& m : w.c.members) REQUIRE(m->shutdown("settle"));
    w.c.run_for(10min);
    CHECK(w.rounds("settle", 0) == seconds_list{10});
    w.join(settle);
    w.c.run_for(1s);
    CHECK(w.rounds("settle", 0) == seconds_list{10, 610});
    auto const& ledger = w.record_of("settle", 0).ledger;
    REQUIRE(ledger.size() == 3);
    CHECK(ledger[1].outcome == run_outcome::coalesced);
    CHECK(ledger[1].count == run_record::ledger_max - 1); // as far back as the records of the followed job go
    CHECK(ledger[2].run.due == at(610s));
}

TEST_CASE("after_job: a job keeps its rounds when the rest of its schedule changes, and loses them when it follows "
          "another job") {
    world w;
    w.join(make_job("fetch", "0/10 * * * * ?", 1));
    w.join(make_job("load", "5/10 * * * * ?", 1));
    w.join(following("settle", "fetch", 1));
    w.c.run_for(21s);
    CHECK(w.rounds("settle", 0) == seconds_list{10, 20});
    w.c.set("/settle/ext/schedule", "elasticjob schedule 1\nafter-job completed fetch\ntime-zone UTC\n");
    w.c.run_for(6s);
    CHECK(w.rounds("settle", 0) == seconds_list{10, 20});
    w.c.run_for(6s);
    CHECK(w.rounds("settle", 0) == seconds_list{10, 20, 30});
    // Another kind of end: rounds that have ended before are not considered again.
    w.c.set("/settle/ext/schedule", "elasticjob schedule 1\nafter-job ended fetch\n");
    w.c.run_for(6s);
    CHECK(w.rounds("settle", 0) == seconds_list{10, 20, 30});
    w.c.run_for(3s);
    CHECK(w.rounds("settle", 0) == seconds_list{10, 20, 30, 40});
    // Another job.
    w.c.set("/settle/ext/schedule", "elasticjob schedule 1\nafter-job completed load\n");
    w.c.run_for(1s);
    CHECK(w.rounds("settle", 0) == seconds_list{10, 20, 30, 40});
    w.c.run_for(10s);
    CHECK(w.rounds("settle", 0) == seconds_list{10, 20, 30, 40, 45});
    // No followed job, and then the same one again: rounds that ended meanwhile are not made up for.
    w.c.set("/settle/ext/schedule", "elasticjob schedule 1\nonce-at 1767225653500\n");
    w.c.run_for(60s);
    CHECK(w.starts("settle", 0).size() == 6);
    w.c.set("/settle/ext/schedule", "elasticjob schedule 1\nafter-job completed load\n");
    w.c.run_for(1s);
    CHECK(w.starts("settle", 0).size() == 6);
    w.c.run_for(10s);
    CHECK(w.rounds("settle", 0) == seconds_list{10, 20, 30, 40, 45, 115});
    CHECK(w.c.count(heard::kind::trouble) == 0);
}

TEST_CASE("after_job: a job repeats no round when it is told to follow another job by mistake, and then the same again") {
    world w;
    w.join(make_job("fetch", "0/10 * * * * ?", 1));
    auto load = make_job("load", "5/10 * * * * ?", 1);
    load.monitor_execution = false; // nobody can follow it
    w.join(load);
    w.join(following("settle", "fetch", 1));
    w.c.run_for(21s);
    CHECK(w.rounds("settle", 0) == seconds_list{10, 20});
    w.c.set("/settle/ext/schedule", "elasticjob schedule 1\nafter-job completed load\n");
    w.c.run_for(2s);
    CHECK(w.written("settle").rounds.empty());
    w.c.set("/settle/ext/schedule", "elasticjob schedule 1\nafter-job completed fetch\n");
    w.c.run_for(5s);
    CHECK(w.rounds("settle", 0) == seconds_list{10, 20});
    w.c.run_for(4s);
    CHECK(w.rounds("settle", 0) == seconds_list{10, 20, 30});
}

TEST_CASE("after_job: a job repeats no round if both changes come while its leader is away") {
    world w;
    w.join(make_job("fetch", "0 0/10 * * * ?", 1));
    w.join(make_job("load", "5 0/10 * * * ?", 1));
    w.join(following("settle", "fetch", 2));
    w.c.run_for(21min);
    auto& leader = w.leader_of("settle");
    w.disconnect(leader);
    w.c.set("/settle/ext/schedule", "elasticjob schedule 1\nafter-job completed load\n");
    w.c.run_for(500ms);
    w.c.set("/settle/ext/schedule", "elasticjob schedule 1\nafter-job completed fetch\n");
    w.c.run_for(500ms);
    post(w.c.loop, [&] { leader.registry.reconnect(); });
    w.c.run_for(10s);
    for (item_index i = 0; i < 2; ++i) CHECK(w.rounds("settle", i) == seconds_list{600, 1200});
}

TEST_CASE("after_job: rounds that end while the job is switched off are skipped") {
    world w{1};
    w.join(make_job("fetch", "0/10 * * * * ?", 1));
    w.join(following("settle", "fetch", 1));
    w.c.run_for(11s);
    REQUIRE(w.c.members[0]->disable("settle"));
    w.c.run_for(20s);
    REQUIRE(w.c.members[0]->enable("settle"));
    w.c.run_for(5s);
    CHECK(w.rounds("settle", 0) == seconds_list{10});
    w.c.run_for(5s);
    CHECK(w.rounds("settle", 0) == seconds_list{10, 40});
    auto const& ledger = w.record_of("settle", 0).ledger;
    REQUIRE(ledger.size() == 3);
    CHECK(ledger[1].outcome == run_outcome::skipped);
    CHECK(ledger[1].count == 2);
    CHECK(ledger[1].note == "disabled");
}

TEST_CASE("after_job: added items run from the next round on and spoil no round") {
    world w;
    auto fetch = make_job("fetch", "0/10 * * * * ?", 1);
    w.join(fetch);
    w.join(following("settle", "fetch", 1));
    w.c.run_for(9s);
    w.owner_of("fetch", 0).holds = true;
    w.c.run_for(2s);
    fetch.sharding_total_count = 2; // in the middle of a round
    w.c.set("/fetch/config", to_json(fetch));
    w.c.run_for(2s);
    CHECK(w.starts("settle", 0).empty());
    for (auto& m : w.c.members) {
        m->holds = false;
        m->release_all();
    }
    w.c.run_for(2s);
    CHECK(w.rounds("settle", 0) == seconds_list{10});
    auto settle = following("settle", "fetch", 2);
    w.c.set("/settle/config", to_json(settle));
    w.c.run_for(20s);
    CHECK(w.rounds("settle", 0) == seconds_list{10, 20, 30});
    CHECK(w.rounds("settle", 1) == seconds_list{20, 30});
}

TEST_CASE("after_job: only the run records of all items of the followed job count") {
    world w{1};
    auto const record = [](std::chrono::seconds through, std::vector<std::chrono::seconds> completed) {
        run_record r;
        r.through = at(through);
        for (auto const due : completed)
            r.add(
                {{at(due), run_source::schedule, 1, "10.0.0.9@-@9-x", at(due)}, run_outcome::completed, at(due + 1s)});
        return r.to_text();
    };
    for (auto const* path : {"/fetch", "/fetch/ext", "/fetch/ext/run"}) w.c.create(path);
    w.c.create("/fetch/config", to_json(make_job("fetch", "0/10 * * * * ?", 2)));
    w.c.create("/fetch/ext/run/0", record(10s, {10s}));
    w.c.run_for(20s);
    w.join(following("settle", "fetch", 1));
    w.c.run_for(1s);
    // An item that is taken up late ends rounds from before the follower joined.
    w.c.create("/fetch/ext/run/1", record(21s, {}));
    w.c.run_for(1s);
    CHECK(w.starts("settle", 0).empty());
    w.c.set("/fetch/ext/run/0", record(30s, {10s, 30s}));
    w.c.run_for(1s);
    CHECK(w.starts("settle", 0).empty());
    w.c.remove("/fetch/ext/run/1"); // by an operator
    w.c.run_for(1s);
    CHECK(w.starts("settle", 0).empty());
    w.c.create("/fetch/ext/run/1", record(30s, {30s}));
    w.c.run_for(1s);
    CHECK(w.rounds("settle", 0) == seconds_list{30});
}

TEST_CASE("after_job: a round that a leader has written is due at once, although the leader's clock differs") {
    world w{1};
    auto& m = *w.c.members[0];
    auto settle = following("settle", "fetch", 1);
    settle.misfire = false; // a round that finds the item running is dropped
    w.join(settle);
    w.c.run_for(5s);
    auto written = w.written("settle");
    auto const write = [&](std::chrono::milliseconds of, std::chrono::milliseconds due) {
        written.add(at(of), at(due));
        w.c.set("/settle/ext/after", written.to_text());
        w.c.run_for(1s);
    };
    m.holds = true;
    write(1s, 5s);
    REQUIRE(m.held() == 1);
    w.c.run_for(10s);
    write(2s, 15s); // finds it running
    m.holds = false;
    m.release_all();
    w.c.run_for(5s);
    CHECK(w.rounds("settle", 0) == seconds_list{1});
    write(3s, 15'500ms); // by a clock that is behind, before the item's last run ended
    CHECK(w.rounds("settle", 0) == seconds_list{1, 3});
    write(4s, 60s); // by one that is ahead
    CHECK(w.rounds("settle", 0) == seconds_list{1, 3, 4});
    write(5s, 30s);
    CHECK(w.rounds("settle", 0) == seconds_list{1, 3, 4, 5});
    w.c.run_for(2min);
    CHECK(w.starts("settle", 0).size() == 4);
}

TEST_CASE("after_job: items that begin to follow, or are added, lose no round to a leader whose clock is behind") {
    world w{1};
    w.join(make_job("settle", "0/10 * * * * ?", 1));
    w.c.run_for(31s);
    CHECK(w.starts("settle", 0).size() == 3);
    auto settle = following("settle", "fetch", 1);
    w.c.set("/settle/config", to_json(settle));
    w.c.create("/settle/ext/schedule", to_schedule_text(settle));
    w.c.run_for(1s);
    auto written = w.written("settle");
    auto const write = [&](std::chrono::milliseconds of, std::chrono::milliseconds due) {
        written.add(at(of), at(due));
        w.c.set("/settle/ext/after", written.to_text());
        w.c.run_for(1s);
    };
    write(21s, 25s); // before its last run
    CHECK(w.rounds("settle", 0) == seconds_list{21});
    settle.sharding_total_count = 2;
    w.c.set("/settle/config", to_json(settle));
    w.c.run_for(5s);
    CHECK(w.rounds("settle", 1).empty());
    write(22s, 27s); // before the item was there
    CHECK(w.rounds("settle", 0) == seconds_list{21, 22});
    CHECK(w.rounds("settle", 1) == seconds_list{22});
}

TEST_CASE("after_job: a condition that hides the rounds of the followed job is reported once") {
    world w{1};
    auto fetch = make_job("fetch", "0/10 * * * * ?", 1);
    SUBCASE("it does not monitor its execution") { fetch.monitor_execution = false; }
    SUBCASE("its items are due at times of their own") { fetch.schedules = {job_schedule::fixed_delay(10s)}; }
    w.join(fetch);
    w.join(following("settle", "fetch", 1));
    w.c.run_for(60s);
    REQUIRE(w.c.count(heard::kind::trouble) == 1);
    CHECK(*w.c.last_trouble() == errc::invalid_config);
    CHECK(w.c.last_trouble()->where == "/fetch");
    CHECK(w.starts("settle", 0).empty());
    // The job runs as soon as the cause is corrected.
    fetch.monitor_execution = true;
    fetch.schedules.clear();
    w.c.set("/fetch/config", to_json(fetch));
    if (w.c.has("/fetch/ext/schedule")) w.c.remove("/fetch/ext/schedule");
    w.c.run_for(11s);
    CHECK(w.starts("settle", 0).size() >= 1);
    CHECK(w.c.count(heard::kind::trouble) == 1);
}

TEST_CASE("after_job: a followed job that only Java members run is reported") {
    world w{1};
    for (auto const* path : {"/fetch", "/fetch/instances", "/fetch/ext"}) w.c.create(path);
    w.c.create("/fetch/config", to_json(make_job("fetch", "0/10 * * * * ?", 1)));
    w.c.create("/fetch/instances/10.0.0.9@-@4711", {}, create_mode::ephemeral);
    w.join(following("settle", "fetch", 1));
    w.c.run_for(30s);
    REQUIRE(w.c.count(heard::kind::trouble) == 1);
    CHECK(w.c.last_trouble()->what.find("2.1.5") != std::string::npos);
}

TEST_CASE("after_job: jobs that would wait for each other are refused, and the chain is named") {
    world w{1};
    auto& m = *w.c.members[0];
    REQUIRE(m.schedule(following("a", "b", 1)));
    REQUIRE(m.schedule(following("b", "c", 1)));
    auto const refused = m.schedule(following("c", "a", 1));
    REQUIRE_FALSE(refused);
    CHECK(refused.error() == errc::invalid_config);
    CHECK(refused.error().what.find("c after a after b after c") != std::string::npos);
    CHECK_FALSE(w.c.has("/c"));
    REQUIRE(m.schedule(make_job("c", "0/10 * * * * ?", 1)));
    w.c.run_for(11s);
    CHECK(w.starts("a", 0).size() == 1);
    // An operator writes the chain by hand: an unusable schedule changes nothing.
    w.c.set("/c/config", to_json(following("c", "b", 1)));
    w.c.create("/c/ext/schedule", "elasticjob schedule 1\nafter-job completed b\n");
    w.c.run_for(10s);
    REQUIRE(w.c.last_trouble());
    CHECK(w.c.last_trouble()->what.find("c after b after c") != std::string::npos);
}
