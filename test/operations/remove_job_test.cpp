// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/operations/remove_job.hpp>

#include <elasticjob/operations/add_job.hpp>
#include <elasticjob/operations/restore_job.hpp>

#include <support/cluster.hpp>

#include <doctest/doctest.h>

using namespace elasticjob;
using namespace elasticjob::test;

namespace {

using strings = std::vector<std::string>;

struct world : cluster {
    using cluster::cluster;

    strings paths() const {
        strings all;
        server.tree().for_each([&](std::string const& p, node const&) {
            if (p != "/") all.push_back(p);
        });
        return all;
    }
    std::size_t begun() const { return count(heard::kind::started); }

    /// A job with a history: an owner and a record for each item, and no members.
    void leave_behind(int items) {
        {
            auto& m = add();
            REQUIRE(m.schedule(make_job("settle", "0/1 * * * * ?", items)));
            run_for(3s);
            m.destroy_scheduler();
        }
        REQUIRE(has("/settle/ext/run/0"));
    }

    /// The result of `remove(job)`, which waits for a run, if meanwhile an operator helps himself: the tree goes, with the
    /// instance, and the job is added anew.
    template <class Remove>
    auto replace_job_during(Remove remove) {
        auto& m = add();
        REQUIRE(m.schedule(make_job("settle", "0/1 * * * * ?", 1)));
        m.holds = true;
        run_for(2s);
        REQUIRE(m.held() == 1);
        using outcome = decltype(block_on(loop, remove(std::declval<job_name>())));
        std::optional<outcome> removal;
        task_scope tasks;
        auto begin = [&]() -> task<void> {
            auto name = job_name::parse("settle").value();
            removal.emplace(co_await remove(std::move(name)));
        };
        post(loop, [&] { tasks.spawn(begin()); });
        run_for(1s);
        REQUIRE_FALSE(removal);
        remove_tree("/settle");
        basic_memory_registry<virtual_loop> other{server};
        REQUIRE(add_job(other, make_job("settle", never, 1)));
        run_for(5s);
        REQUIRE(removal);
        return *std::move(removal);
    }
};
strings const tombstone{"/settle", "/settle/ext", "/settle/ext/removed"};

} // namespace

TEST_CASE("operations.add_job: writes the configuration as a member does, and starts no run") {
    world w;
    auto job = make_job("settle", "0/1 * * * * ?", 3);
    job.jitter = 5ms; // Java's part does not have it
    auto const added = add_job(w.by_hand, job);
    REQUIRE(added);
    CHECK(added->what == config_decision::action::write_local);
    CHECK(w.paths() == strings{"/settle", "/settle/config", "/settle/ext", "/settle/ext/schedule"});

    // Once more, with something else: what is there counts, unless it is to be replaced.
    auto other = job;
    other.sharding_total_count = 5;
    auto const again = add_job(w.by_hand, other);
    REQUIRE(again);
    CHECK(to_string(*again) ==
          "the configuration in the registry counts, not the local one: shardingTotalCount is 3, not 5");
    other.overwrite = true;
    REQUIRE(add_job(w.by_hand, other));
    auto& m = w.add();
    REQUIRE(m.schedule(job));
    w.run_for(1s);
    CHECK(w.owners("settle", 5) == strings(5, m.id("settle")));
}

TEST_CASE("operations.add_job: an invalid job is refused, and nothing is written") {
    world w;
    auto job = make_job("settle", never, 0);
    CHECK(add_job(w.by_hand, job).error() == errc::invalid_config);
    job.sharding_total_count = 1;
    REQUIRE(add_job(w.by_hand, job));
    auto const before = w.paths();
    job.job_class = "another";
    CHECK(add_job(w.by_hand, job).error() == errc::job_conflict);
    w.set("/settle/config", "{");
    CHECK(add_job(w.by_hand, make_job("settle", never, 1)).error() == errc::malformed_data);
    CHECK(w.paths() == before);
}

TEST_CASE("operations.remove_job: only jobs can be removed") {
    world w;
    CHECK(remove_job(w.by_hand, "settle").error() == errc::no_node);
    CHECK(remove_job(w.by_hand, "a/b").error() == errc::invalid_argument);
    w.create("/zookeeper");
    w.create("/zookeeper/quota");
    CHECK(remove_job(w.by_hand, "zookeeper").error() == errc::no_node);
    CHECK(restore_job(w.by_hand, "settle").error() == errc::no_node);
    CHECK(w.paths() == strings{"/zookeeper", "/zookeeper/quota"});
}

TEST_CASE("operations.remove_job: live instances leave in order, and only the tombstone is left") {
    world w;
    std::vector<member*> all{&w.add(), &w.add(), &w.add()};
    auto const job = make_job("settle", "0/1 * * * * ?", 6);
    for (auto* m : all) REQUIRE(m->schedule(job));
    w.run_for(5s);
    REQUIRE(w.begun() >= 24);
    REQUIRE(remove_job(w.by_hand, "settle"));
    CHECK(w.paths() == tombstone);
    CHECK(w.count(heard::kind::left) == 3);
    CHECK(w.count(heard::kind::fenced) == 0);
    auto const begun = w.begun();
    w.run_for(1min);
    CHECK(w.begun() == begun);
    CHECK(w.paths() == tombstone);
    CHECK_FALSE(w.last_trouble());

    // For good: no restart brings it back, and no configuration.
    REQUIRE(remove_job(w.by_hand, "settle"));
    auto insistent = job;
    insistent.overwrite = true;
    for (auto const& config : {job, insistent}) {
        auto const back = w.add().schedule(config);
        REQUIRE_FALSE(back);
        CHECK(back.error() == errc::removed);
        CHECK(back.error().where == "/settle/ext/removed");
        CHECK(add_job(w.by_hand, config).error() == errc::removed);
    }
    CHECK(w.paths() == tombstone);
}

TEST_CASE("operations.remove_job: current runs may end, no new ones begin, and the nodes stay until then") {
    world w;
    auto& m = w.add();
    REQUIRE(m.schedule(make_job("settle", "0/1 * * * * ?", 2)));
    m.holds = true;
    w.run_for(2s);
    REQUIRE(m.held() == 2);
    auto const begun = w.begun();
    auto const waiting = remove_job(w.by_hand, "settle", 5s);
    REQUIRE_FALSE(waiting);
    CHECK(waiting.error() == errc::timed_out);
    CHECK(waiting.error().where == "/settle/instances/" + m.id("settle"));
    CHECK(w.has("/settle/ext/removed"));
    CHECK_FALSE(w.has("/settle/config"));
    CHECK(w.is_marked("settle", 0));
    CHECK(w.has("/settle/ext/run/0"));
    m.holds = false;
    m.release_all();
    w.run_for(5s);
    CHECK(w.count(heard::kind::finished) == begun);
    CHECK(w.count(heard::kind::fenced) == 0); // their ends are on record
    CHECK(w.begun() == begun);
    CHECK_FALSE(w.has("/settle/instances/" + m.id("settle")));
    REQUIRE(remove_job(w.by_hand, "settle"));
    CHECK(w.paths() == tombstone);
}

TEST_CASE("operations.remove_job: no run begins after the removal, although its instance does not know of it yet") {
    int before = 0;
    for (int turns = 0; turns < 30; ++turns) {
        INFO(turns << " turns behind an order to run");
        world w;
        auto& m = w.add();
        REQUIRE(m.schedule(make_job("settle", never, 1)));
        w.run_for(9s);
        basic_memory_registry<virtual_loop> other{w.server};
        task_scope tasks;
        auto order = [&]() -> task<void> { (void)co_await other.set(w.parsed("/settle/ext/orders"), {}); };
        auto remove = [&](int n) -> task<void> {
            for (; n > 0; --n) co_await yield(w.loop);
            transaction t{w.by_hand.session().generation}; // the first one of a removal
            t.create(w.parsed("/settle/ext/removed"), {}).remove(w.parsed("/settle/config"));
            (void)co_await w.by_hand.commit(std::move(t));
        };
        post(w.loop, [&] {
            tasks.spawn(order());
            tasks.spawn(remove(turns));
        });
        w.run_for(30s);
        REQUIRE(remove_job(w.by_hand, "settle"));
        CHECK(w.paths() == tombstone);
        auto const removed = w.find("/settle/ext/removed")->stat.created;
        for (auto const& run : w.all(heard::kind::started, 0)) CHECK(run.token < removed);
        before += w.begun() == 1;
    }
    CHECK(before > 0);
    CHECK(before < 30);
}

TEST_CASE("operations.remove_job: members that know no tombstone are told to leave, and ghosts are removed (D-47)") {
    world w;
    w.leave_behind(2);
    basic_memory_registry<virtual_loop> java{w.server};
    w.wait_for(java.create(w.parsed("/settle/instances/10.0.0.9@-@4711"), {}, create_mode::ephemeral)).value();
    w.create("/settle/instances/TRIGGER");
    REQUIRE(remove_job(w.by_hand, "settle"));
    CHECK(w.paths() == tombstone);

    // If one of them writes its configuration again, none of our members joins, and another call cleans up.
    w.create("/settle/config", "{}");
    CHECK(w.add().schedule(make_job("settle", never, 1)).error() == errc::removed);
    REQUIRE(remove_job(w.by_hand, "settle"));
    CHECK(w.paths() == tombstone);
}

TEST_CASE("operations.remove_job: if a remover dies at any step, the next one finishes the removal") {
    memory_server_options o;
    o.limits.operations_max = 25; // so that there are many transactions
    for (std::uint64_t n = 0;; ++n) {
        INFO("at write " << n);
        world w{o};
        w.leave_behind(20);
        result<void> first = success();
        {
            auto const session = w.by_hand.session().id;
            losing all_behind{w.server, [session, n, seen = std::uint64_t{0}](std::int64_t s, auto const* write) mutable {
                                  return s == session && write && seen++ >= n ? request_fate::request_lost
                                                                              : request_fate::served;
                              }};
            first = remove_job(w.by_hand, "settle", 500ms);
        }
        // Whatever has happened: a job that has its configuration has no tombstone, and the other way round.
        CHECK(w.has("/settle/config") != w.has("/settle/ext/removed"));
        w.run_for(1min);
        REQUIRE(remove_job(w.by_hand, "settle"));
        CHECK(w.paths() == tombstone);
        if (first) {
            CHECK(n > 3);
            break;
        }
        REQUIRE(n < 50);
    }
}

TEST_CASE("operations.remove_job, restore_job: a reply that is lost does no harm") {
    for (std::uint64_t n = 0; n < 4; ++n) {
        INFO("the reply of write " << n);
        world w;
        w.leave_behind(2);
        auto const session = w.by_hand.session().id;
        {
            losing one{w.server, losing::nth_write(session, n, request_fate::reply_lost)};
            CHECK(remove_job(w.by_hand, "settle"));
        }
        w.run_for(1min);
        CHECK(w.paths() == tombstone);
        w.create("/settle/sharding"); // by a late writer
        {
            losing one{w.server, losing::nth_write(session, n, request_fate::reply_lost)};
            CHECK(restore_job(w.by_hand, "settle"));
        }
        w.run_for(1min);
        CHECK(w.paths().empty());
    }
}

TEST_CASE("operations.remove_job: a tombstone that has gone since it was seen does not remove the next job of the name") {
    world w;
    for (auto const* path : {"/settle", "/settle/ext", "/settle/ext/removed", "/settle/config"}) w.create(path);
    job_layout const at{job_name::parse("settle").value()};
    auto const facts = w.wait_for(detail::read_removal_facts(w.by_hand, at));
    REQUIRE(facts);
    w.remove("/settle/ext/removed"); // by another operator; then the configuration is that of the next job
    transaction t{w.by_hand.session().generation};
    REQUIRE(detail::plan_removal(t, at, *facts));
    auto const reply = w.wait_for(w.by_hand.commit(std::move(t)));
    REQUIRE(reply);
    CHECK_FALSE(*reply);
    CHECK(w.has("/settle/config"));
}

TEST_CASE("operations.remove_job: a command that is on record is never reported as not sent") {
    world w;
    REQUIRE(w.add().schedule(make_job("settle", never, 2)));
    w.run_for(1s);
    losing const network{w.server, losing::cut_at_write(w.by_hand.session().id, request_fate::served)};
    CHECK(remove_job(w.by_hand, "settle", {"ann"}, 5s).error() == errc::timed_out);
    CHECK(w.has("/settle/ext/removed"));
}

TEST_CASE("operations.remove_job: a command that is on record is done, although the job is restored meanwhile") {
    world w;
    auto const removal = w.replace_job_during([&](job_name job) {
        command_by by{"ann"};
        return order_removal(w.by_hand, std::move(job), std::move(by), mono_time::max());
    });
    REQUIRE(removal);
    CHECK(removal->what == command_result::effect::done);
}

TEST_CASE("operations.restore_job: the name is free again, and nothing of the past comes back with it") {
    world w;
    auto& m = w.add();
    REQUIRE(m.schedule(make_job("settle", "0/1 * * * * ?", 2)));
    w.run_for(2s);
    w.set("/settle/servers/10.0.0.1", "DISABLED");
    REQUIRE(remove_job(w.by_hand, "settle"));
    REQUIRE(restore_job(w.by_hand, "settle"));
    CHECK(w.paths().empty());
    auto& next = w.add("10.0.0.1");
    REQUIRE(next.schedule(make_job("settle", "0/1 * * * * ?", 2)));
    auto const begun = w.begun();
    w.run_for(3s);
    CHECK(w.begun() > begun);
    // Not while it exists.
    CHECK(restore_job(w.by_hand, "settle").error() == errc::no_node);
    CHECK(w.has("/settle/config"));
}

TEST_CASE("operations.restore_job: a remover that waits for a former job does not remove a job added since") {
    world w;
    auto const removal = w.replace_job_during(
        [&](job_name job) { return request_removal(w.by_hand, std::move(job), mono_time::max()); });
    CHECK(removal.error() == errc::version_conflict);
    CHECK(w.has("/settle/config"));
}

TEST_CASE("operations.remove_job: two removers do not disturb each other") {
    memory_server_options o;
    o.limits.operations_max = 25;
    world w{o};
    w.leave_behind(20);
    basic_memory_registry<virtual_loop> other{w.server};
    std::vector<result<void>> done;
    task_scope tasks;
    auto remove = [&](basic_memory_registry<virtual_loop>& r) -> task<void> {
        auto name = job_name::parse("settle").value();
        done.push_back(co_await request_removal(r, std::move(name), mono_time::max()));
    };
    post(w.loop, [&] {
        tasks.spawn(remove(w.by_hand));
        tasks.spawn(remove(other));
    });
    w.run_for(1min);
    REQUIRE(done.size() == 2);
    CHECK(done[0]);
    CHECK(done[1]);
    CHECK(w.paths() == tombstone);
}

TEST_CASE("operations.remove_job, restore_job: a job in the place of the removed one keeps its nodes, whenever it comes") {
    strings const job{"/settle", "/settle/config", "/settle/servers", "/settle/sharding", "/settle/sharding/0"};
    bool restores = false;
    SUBCASE("while it is removed") {}
    SUBCASE("while it is restored") { restores = true; }
    int hits = 0;
    for (int turns = 0; turns < 60; ++turns) {
        INFO("after " << turns << " turns");
        world w;
        for (auto const& path : job) w.create(path);
        if (restores) {
            w.remove("/settle/config");
            w.create("/settle/ext");
            w.create("/settle/ext/removed");
        }
        std::optional<result<void>> removal;
        task_scope tasks;
        auto remove = [&]() -> task<void> {
            auto name = job_name::parse("settle").value();
            if (restores)
                removal.emplace(co_await request_restoration(w.by_hand, std::move(name), mono_time::max()));
            else
                removal.emplace(co_await request_removal(w.by_hand, std::move(name), mono_time::max()));
        };
        basic_memory_registry<virtual_loop> other{w.server};
        w.run_for(0s);
        std::optional<result<commit_reply>> replaced;
        auto replace = [&](int n) -> task<void> {
            for (; n > 0; --n) co_await yield(w.loop);
            transaction t{other.session().generation};
            auto const old = w.paths();
            for (auto at = old.rbegin(); at != old.rend(); ++at) t.remove(w.parsed(*at));
            for (auto const& path : job) t.create(w.parsed(path), "new");
            bool const was_removed = w.has("/settle/ext/removed");
            auto reply = co_await other.commit(std::move(t));
            if (was_removed && reply && *reply) replaced.emplace(std::move(reply));
        };
        post(w.loop, [&] {
            tasks.spawn(remove());
            tasks.spawn(replace(turns));
        });
        w.run_for(1min);
        REQUIRE(removal);
        if (!replaced) continue;
        ++hits;
        CHECK(w.paths() == job);
    }
    CHECK(hits > 3);
}
