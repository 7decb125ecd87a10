// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/operations/add_job.hpp>
#include <elasticjob/operations/remove_job.hpp>
#include <elasticjob/operations/restore_job.hpp>
#include <elasticjob/operations/stop_run.hpp>
#include <elasticjob/operations/trigger.hpp>

#include <support/cluster.hpp>
#include <support/measured.hpp>

#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace elasticjob;
using namespace elasticjob::test;

namespace {

using effect = command_result::effect;
using strings = std::vector<std::string>;

command_by const ann{"ann"};
command_by const dry{"ann", {}, true};

struct world : cluster {
    using cluster::cluster;

    strings paths() const {
        strings all;
        server.tree().for_each([&](std::string const& p, node const&) {
            if (p != "/") all.push_back(p);
        });
        return all;
    }
    losing lose(std::uint64_t nth, request_fate fate) {
        return losing{server, losing::nth_write(by_hand.session().id, nth, fate)};
    }
    audit_trail trail() { return list_commands(by_hand, "settle").value(); }
    /// The recorded commands, as `outcome verb`.
    strings history() {
        strings all;
        auto const now = trail();
        for (auto const& e : now.entries()) all.push_back(std::string{name_of(e.outcome)} + " " + e.verb);
        return all;
    }
};

effect effect_of(result<command_result> const& r) {
    REQUIRE_MESSAGE(r.has_value(), (r ? std::string{} : to_string(r.error())));
    return r->what;
}

strings const tombstone{"/settle", "/settle/ext", "/settle/ext/audit", "/settle/ext/removed"};
strings const free_name{"/settle", "/settle/ext", "/settle/ext/audit"};

} // namespace

TEST_CASE("operations.add_job: as a command it adds a job once, and changes none") {
    world w;
    auto const job = make_job("settle", never, 3);
    CHECK(effect_of(add_job(w.by_hand, job, dry)) == effect::planned);
    CHECK(w.paths().empty());
    auto const added = add_job(w.by_hand, job, {"ann", "key-1"});
    CHECK(effect_of(added) == effect::done);
    CHECK(added->text == "the job is added");
    CHECK(effect_of(add_job(w.by_hand, job, {"ann", "key-1"})) == effect::repeated);
    CHECK(effect_of(add_job(w.by_hand, job, ann)) == effect::unchanged);
    auto other = job;
    other.sharding_total_count = 5;
    other.overwrite = true;
    auto const refused = add_job(w.by_hand, other, ann);
    CHECK(refused.error() == errc::node_exists);
    CHECK(refused.error().what.find("shardingTotalCount is 5, was 3") != std::string::npos);
    CHECK(w.history() == strings{"done add", "unchanged add", "refused add"});
    CHECK(read_settings(w.by_hand, "settle")->config.sharding_total_count == 3);
    other.cron = "nonsense";
    CHECK(add_job(w.by_hand, other, ann).error() == errc::invalid_cron);
    other = make_job("bill", never, 1);
    other.job_sharding_strategy_class = "mine";
    CHECK(add_job(w.by_hand, other, ann).error() == errc::unknown_strategy);
    CHECK(effect_of(add_job(w.by_hand, other, ann, {"mine"})) == effect::done);
}

TEST_CASE("operations.remove_job: as a command it is on record beside the tombstone") {
    world w;
    REQUIRE(w.add().schedule(make_job("settle", "0/1 * * * * ?", 2)));
    w.run_for(3s);
    auto const before = w.paths();
    CHECK(effect_of(remove_job(w.by_hand, "settle", dry)) == effect::planned);
    CHECK(w.paths() == before);
    CHECK(effect_of(remove_job(w.by_hand, "settle", {"ann", "key-1"})) == effect::done);
    CHECK(w.paths() == tombstone);
    CHECK(effect_of(remove_job(w.by_hand, "settle", {"ann", "key-1"})) == effect::repeated);
    w.create("/settle/sharding"); // by a late writer
    CHECK(effect_of(remove_job(w.by_hand, "settle", ann)) == effect::unchanged);
    CHECK(w.paths() == tombstone);
    CHECK(trigger_job(w.by_hand, "settle", ann).error() == errc::removed);
    CHECK(add_job(w.by_hand, make_job("settle", never, 1), ann).error() == errc::removed);
    CHECK(w.history() == strings{"done remove", "unchanged remove", "refused trigger", "refused add"});
    CHECK(remove_job(w.by_hand, "nobody", ann).error() == errc::no_node);
    CHECK(w.paths() == tombstone);
    // As a program's call it keeps the trail.
    REQUIRE(remove_job(w.by_hand, "settle"));
    REQUIRE(restore_job(w.by_hand, "settle"));
    CHECK(w.paths() == free_name);
    CHECK(w.trail().entries().size() == 4);
}

TEST_CASE("operations.restore_job: as a command it frees the name, and the trail goes on") {
    world w;
    CHECK(restore_job(w.by_hand, "settle", ann).error() == errc::no_node);
    CHECK(w.paths().empty());
    REQUIRE(add_job(w.by_hand, make_job("settle", never, 1), ann));
    CHECK(restore_job(w.by_hand, "settle", ann).error() == errc::no_node);
    REQUIRE(remove_job(w.by_hand, "settle", ann));
    w.create("/settle/sharding"); // by a late writer
    auto const before = w.paths();
    CHECK(effect_of(restore_job(w.by_hand, "settle", dry)) == effect::planned);
    CHECK(w.paths() == before);
    CHECK(effect_of(restore_job(w.by_hand, "settle", {"ann", "key-1"})) == effect::done);
    CHECK(w.paths() == free_name);
    REQUIRE(add_job(w.by_hand, make_job("settle", never, 2), ann));
    REQUIRE(w.add().schedule(make_job("settle", never, 2)));
    w.run_for(1s);
    CHECK(describe_job(w.by_hand, "settle")->health == job_health::ok);
    // A late repetition does not take back a later removal.
    REQUIRE(remove_job(w.by_hand, "settle", ann));
    CHECK(effect_of(restore_job(w.by_hand, "settle", {"ann", "key-1"})) == effect::repeated);
    CHECK(w.paths() == tombstone);
    CHECK(w.history() ==
          strings{"done add", "refused restore", "done remove", "done restore", "done add", "done remove"});
}

TEST_CASE("operations.restore_job: nothing comes back with the name, whenever another client writes") {
    int hits = 0;
    for (int turns = 0; turns < 60; ++turns) {
        INFO("after " << turns << " turns");
        world w;
        REQUIRE(add_job(w.by_hand, make_job("settle", never, 1), ann));
        REQUIRE(remove_job(w.by_hand, "settle", ann));
        std::optional<result<command_result>> restored;
        basic_memory_registry<virtual_loop> other{w.server};
        task_scope tasks;
        auto restore = [&]() -> task<void> {
            auto name = job_name::parse("settle").value();
            restored.emplace(co_await order_restoration(w.by_hand, std::move(name), ann, mono_time::max()));
        };
        auto write = [&](int n) -> task<void> {
            for (; n > 0; --n) co_await yield(w.loop);
            (void)co_await other.create(w.parsed("/settle/servers"), "late", create_mode::persistent);
        };
        post(w.loop, [&] {
            tasks.spawn(restore());
            tasks.spawn(write(turns));
        });
        w.run_for(1min);
        REQUIRE(restored);
        CHECK(effect_of(*restored) == effect::done);
        auto const* late = w.find("/settle/servers");
        if (late) CHECK(late->stat.created > w.find("/settle/ext/audit")->stat.created);
        hits += !late;
    }
    CHECK(hits > 3);
    CHECK(hits < 60);
}

TEST_CASE("operations.add_job, remove_job, restore_job: whatever is lost, each is carried out once") {
    for (auto const fate : {request_fate::reply_lost, request_fate::request_lost})
        for (std::uint64_t n = 0; n < 4; ++n) {
            INFO("write " << n << (fate == request_fate::reply_lost ? ": the reply" : ": the request"));
            world w;
            {
                auto const lost = w.lose(n, fate);
                CHECK(effect_of(add_job(w.by_hand, make_job("settle", never, 2), ann)) == effect::done);
            }
            {
                auto const lost = w.lose(n, fate);
                CHECK(effect_of(remove_job(w.by_hand, "settle", ann)) == effect::done);
            }
            CHECK(w.paths() == tombstone);
            {
                auto const lost = w.lose(n, fate);
                CHECK(effect_of(restore_job(w.by_hand, "settle", ann)) == effect::done);
            }
            CHECK(w.paths() == free_name);
            CHECK(w.history() == strings{"done add", "done remove", "done restore"});
        }
}

TEST_CASE("operations.remove_job: the command waits for current runs, and continues with the same key") {
    world w;
    auto& m = w.add();
    REQUIRE(m.schedule(make_job("settle", "0/1 * * * * ?", 1)));
    m.holds = true;
    w.run_for(2s);
    REQUIRE(m.held() == 1);
    auto const waiting = remove_job(w.by_hand, "settle", {"ann", "key-1"}, 5s);
    CHECK(waiting.error() == errc::timed_out);
    CHECK(waiting.error().where == "/settle/instances/" + m.id("settle"));
    CHECK(restore_job(w.by_hand, "settle", ann, 5s).error() == errc::timed_out);
    m.holds = false;
    m.release_all();
    CHECK(effect_of(remove_job(w.by_hand, "settle", {"ann", "key-1"})) == effect::repeated);
    CHECK(w.paths() == tombstone);
}

TEST_CASE("operations.stop_run: as a command it tells the instance once, and is on record") {
    world w;
    auto& m = w.add();
    REQUIRE(m.schedule(make_job("settle", never, 2)));
    w.run_for(1s);
    CHECK(stop_run(w.by_hand, "settle", 1, ann).error() == errc::not_running);
    CHECK(stop_run(w.by_hand, "nobody", 1, ann).error() == errc::no_node);
    m.holds = true;
    REQUIRE(trigger_item(w.by_hand, "settle", 1, ann));
    w.run_for(1s);
    CHECK(effect_of(stop_run(w.by_hand, "settle", 1, dry)) == effect::planned);
    CHECK_FALSE(w.has("/settle/ext/orders/stop-1"));
    auto const session = m.registry.session().id;
    auto const kept = [session](std::int64_t s, auto const* write) {
        return s == session && write ? request_fate::request_lost : request_fate::served;
    };
    {
        losing const deaf{w.server, kept};
        std::string const order = "/settle/ext/orders/stop-1";
        CHECK(stop_run(w.by_hand, "settle", 1, 1s).error() == errc::timed_out);
        CHECK_FALSE(w.has(order));                                        // withdrawn
        w.create(order, stop_request_text(record_of(w, 1).running->due)); // as another program does
        CHECK(stop_run(w.by_hand, "settle", 1, 1s).error() == errc::timed_out);
        CHECK(w.find(order)->stat.version == 1); // that program leaves it now, too
        w.remove(order);
        auto const program = [&]() -> task<void> {
            auto name = job_name::parse("settle").value();
            auto const stopped = co_await request_stop(w.by_hand, std::move(name), 1, w.loop.now() + 2s);
            CHECK(stopped.error() == errc::timed_out);
        };
        task_scope tasks;
        post(w.loop, [&] { tasks.spawn(program()); });
        w.run_for(1s);
        REQUIRE(w.has(order));
        auto const waiting = stop_run(w.by_hand, "settle", 1, {"ann", "key-1"}, 5s);
        CHECK(waiting.error() == errc::timed_out);
        CHECK(waiting.error().where == order);
        CHECK(tasks.empty());
        CHECK(w.has(order)); // now it is the operator's too, so the program has not withdrawn it
        CHECK(stop_run(w.by_hand, "settle", 1, 1s).error() == errc::timed_out);
        CHECK(w.has(order));
    }
    CHECK(effect_of(stop_run(w.by_hand, "settle", 1, {"ann", "key-1"})) == effect::repeated);
    CHECK_FALSE(w.has("/settle/ext/orders/stop-1"));
    CHECK(w.history() == strings{"refused stop", "done trigger", "done stop"});
    CHECK(w.trail().entries().back().subject == "item 1");
    m.holds = false;
    m.release_all();
    w.run_for(1s);
    CHECK(stop_run(w.by_hand, "settle", 1, ann).error() == errc::not_running);
}

TEST_CASE("operations.stop_run: a lost reply is found on record, and an order for a run that is over is replaced") {
    for (auto const fate : {request_fate::reply_lost, request_fate::request_lost}) {
        world w;
        auto& m = w.add();
        REQUIRE(m.schedule(make_job("settle", never, 1)));
        m.holds = true;
        REQUIRE(trigger_item(w.by_hand, "settle", 0, ann));
        w.run_for(1s);
        {
            auto const lost = w.lose(0, fate);
            CHECK(effect_of(stop_run(w.by_hand, "settle", 0, ann)) == effect::done);
        }
        CHECK(w.history() == strings{"done trigger", "done stop"});
        transaction t{w.by_hand.session().generation}; // before the member hears of it
        t.create(w.parsed("/settle/ext/orders/stop-0"), "17");
        std::optional<result<command_result>> done;
        task_scope tasks;
        auto stop = [&]() -> task<void> {
            auto name = job_name::parse("settle").value();
            (void)co_await w.by_hand.commit(std::move(t));
            done.emplace(co_await order_stop(w.by_hand, std::move(name), 0, ann, mono_time::max()));
        };
        post(w.loop, [&] { tasks.spawn(stop()); });
        w.run_for(10s);
        REQUIRE(done);
        CHECK(effect_of(*done) == effect::done);
        CHECK_FALSE(w.has("/settle/ext/orders/stop-0"));
    }
}

TEST_CASE("operations.job_commands: each takes as many requests as its documentation says") {
    world w;
    std::size_t requests = 0;
    auto const count = [&](registry_request const&) { ++requests; };
    measured<basic_memory_registry<virtual_loop>> r{w.by_hand, count};
    auto const cost_of = [&](result<command_result> const& done) {
        CHECK(effect_of(done) == effect::done);
        return std::exchange(requests, 0);
    };
    CHECK(cost_of(add_job(r, make_job("settle", never, 1), ann)) == 9);
    auto& m = w.add();
    REQUIRE(m.schedule(make_job("settle", never, 1)));
    w.run_for(1s);
    m.holds = true;
    CHECK(cost_of(trigger_item(r, "settle", 0, ann)) == 17 + 1);
    w.run_for(1s);
    CHECK(cost_of(stop_run(r, "settle", 0, ann)) == 12);
    m.holds = false;
    m.release_all();
    REQUIRE(m.shutdown("settle"));
    w.run_for(1s);
    auto const nodes = w.paths().size();
    CHECK(cost_of(remove_job(r, "settle", ann)) == 25 + nodes);
    CHECK(cost_of(restore_job(r, "settle", ann)) == 16);
}
