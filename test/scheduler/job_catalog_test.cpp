// SPDX-License-Identifier: Apache-2.0
// Jobs that come and go in the registry, and the processes that follow them.
#include <elasticjob/config/json_codec.hpp>
#include <elasticjob/operations/add_job.hpp>
#include <elasticjob/operations/remove_job.hpp>
#include <elasticjob/operations/restore_job.hpp>

#include <support/catalog_world.hpp>
#include <support/full_run.hpp>
#include <support/sanitized.hpp>

#include <doctest/doctest.h>

#include <malloc.h>

#include <algorithm>
#include <stdexcept>

using namespace elasticjob;
using namespace elasticjob::test;

namespace {

using strings = std::vector<std::string>;

struct world : catalog_world {
    using catalog_world::catalog_world;

    void add(job_config c) { add_job(by_hand, std::move(c)).value(); }
    void disconnect(catalog_process& p) {
        post(loop, [&p] { p.registry.disconnect(); });
        loop.run_ready();
    }
    void reconnect(catalog_process& p) {
        post(loop, [&p] { p.registry.reconnect(); });
        loop.run_ready();
    }
};

} // namespace

TEST_CASE("scheduler.job_catalog: jobs that exist at the start or come later run, and no others") {
    world w;
    w.add(w.job("early"));
    w.add(w.job("foreign", "export"));
    w.create("/zookeeper");
    w.create("/no job: a@-@b");
    auto& one = w.start();
    auto& two = w.start({"export", "import"});
    w.run_for(3s);
    CHECK(one.running() == strings{"early"});
    CHECK(two.running() == strings{"early", "foreign"});
    w.add(w.job("late"));
    w.run_for(3s);
    CHECK(one.running() == strings{"early", "late"});
    CHECK(two.running() == strings{"early", "foreign", "late"});
    CHECK(w.count("late", "begins") >= 4);
    CHECK(w.children("/late/instances").size() == 2);

    // A restart finds them again.
    w.processes[0].reset();
    w.run_for(1s);
    CHECK(w.children("/late/instances").size() == 1);
    auto& back = w.start();
    w.run_for(1s);
    CHECK(back.running() == strings{"early", "late"});
    CHECK(w.children("/late/instances").size() == 2);
}

TEST_CASE("scheduler.job_catalog: a job that is removed ends everywhere, and stays removed until it is restored") {
    world w;
    w.add(w.job("settle"));
    w.add(w.job("other"));
    w.start();
    w.start();
    w.run_for(3s);
    REQUIRE(remove_job(w.by_hand, "settle"));
    CHECK(w.paths("/settle") == w.tombstone_of("settle"));
    auto const begun = w.count("settle", "begins");
    CHECK(w.count("settle", "left") == 2);
    w.processes[1].reset();
    w.start();
    w.run_for(10s);
    CHECK(w.count("settle", "begins") == begun);
    CHECK(w.paths("/settle") == w.tombstone_of("settle"));
    for (auto const n : {0, 2}) CHECK(w.processes[static_cast<std::size_t>(n)]->running() == strings{"other"});
    CHECK(w.count("settle", "removed") == 0); // nothing of this is trouble

    REQUIRE(restore_job(w.by_hand, "settle"));
    CHECK(w.paths("/settle").empty());
    w.add(w.job("settle"));
    w.run_for(3s);
    for (auto const n : {0, 2}) CHECK(w.processes[static_cast<std::size_t>(n)]->running() == strings{"other", "settle"});
    CHECK(w.count("settle", "begins") > begun);
}

TEST_CASE("scheduler.job_catalog: a process that was away while a job was removed does not bring it back") {
    for (bool const session_survives : {true, false}) {
        INFO("the session survives: " << session_survives);
        world w;
        w.add(w.job("settle"));
        auto& away = w.start();
        w.start();
        w.run_for(3s);
        w.disconnect(away);
        std::optional<result<void>> removal;
        task_scope tasks;
        auto remove = [&]() -> task<void> {
            auto name = job_name::parse("settle").value();
            removal.emplace(co_await request_removal(w.by_hand, std::move(name), mono_time::max()));
        };
        post(w.loop, [&] { tasks.spawn(remove()); });
        w.run_for(session_survives ? 5s : 30s);
        CHECK(removal.has_value() != session_survives); // its nodes may be its own for as long as its session lives
        w.reconnect(away);
        w.run_for(10s);
        REQUIRE(removal);
        CHECK(*removal);
        CHECK(w.paths("/settle") == w.tombstone_of("settle"));
        CHECK(away.running().empty());
    }
}

TEST_CASE("scheduler.job_catalog: a server that an operator has disabled stays so over restarts, unless the "
          "configuration says otherwise (D-22)") {
    for (bool const overwrites : {false, true}) {
        INFO("overwrite " << overwrites);
        world w;
        auto job = w.job("settle");
        job.overwrite = overwrites;
        w.add(job);
        w.start();
        w.run_for(2s);
        w.set("/settle/servers/10.0.0.1", "DISABLED");
        w.run_for(2s);
        auto const begun = w.count("settle", "begins");
        w.processes[0].reset();
        // The same server again.
        w.processes.clear();
        auto& back = w.start();
        w.run_for(5s);
        CHECK(back.running() == strings{"settle"});
        CHECK(w.find("/settle/servers/10.0.0.1")->data == (overwrites ? "" : "DISABLED"));
        CHECK((w.count("settle", "begins") > begun) == overwrites);
        // A session that is lost is no restart.
        w.set("/settle/servers/10.0.0.1", "DISABLED");
        post(w.loop, [&] { back.registry.expire(); });
        w.run_for(5s);
        CHECK(back.running() == strings{"settle"});
        CHECK(w.find("/settle/servers/10.0.0.1")->data == "DISABLED");
    }
}

TEST_CASE("scheduler.job_catalog: a job that cannot be started is reported once for each version, and does not affect "
          "other jobs") {
    world w;
    w.create("/broken");
    w.create("/broken/config", "{");
    auto odd = w.job("odd");
    odd.type = job_type::dataflow;
    w.add(odd);
    auto unknown = w.job("unknown");
    unknown.job_sharding_strategy_class = "com.example.Unknown";
    w.add(unknown);
    auto& p = w.start();
    w.add(w.job("good"));
    w.run_for(30min);
    CHECK(p.running() == strings{"good"});
    CHECK(w.count("broken", "malformed_data") == 1);
    auto const told = std::find_if(w.log.begin(), w.log.end(), [](auto const& t) { return t.job == "broken"; });
    REQUIRE(told != w.log.end());
    CHECK(told->what.find("/broken/config") != std::string::npos);
    CHECK(w.count("odd", "job_conflict") == 1);
    CHECK(w.count("unknown", "unknown_strategy") == 1);
    CHECK(w.children("/").size() == 4);
    CHECK_FALSE(w.has("/unknown/instances"));
    w.set("/broken/config", "{{");
    w.run_for(1s);
    CHECK(w.count("broken", "malformed_data") == 2);
    w.set("/broken/config", to_json(w.job("broken")));
    w.run_for(1s);
    CHECK(p.running() == strings{"broken", "good"});
}

TEST_CASE("scheduler.job_catalog: schedules that cannot be read are looked at again") {
    world w;
    w.create("/settle");
    w.create("/settle/ext");
    w.create("/settle/ext/schedule", "nonsense");
    w.create("/settle/config", to_json(w.job("settle")));
    auto& p = w.start();
    w.run_for(1min);
    CHECK(p.running().empty());
    CHECK(w.log.size() == 1);
    w.remove("/settle/ext/schedule");
    w.run_for(1min);
    CHECK(p.running() == strings{"settle"});
}

TEST_CASE("scheduler.job_catalog: a factory that throws is called again at growing intervals") {
    world w;
    std::size_t asked = 0;
    bool is_mended = false;
    w.on_make = [&](job_config const& c) {
        if (c.name != "bad") return;
        ++asked;
        if (!is_mended) throw std::runtime_error{"no database"};
    };
    auto& p = w.start();
    w.add(w.job("bad"));
    w.add(w.job("good"));
    w.run_for(1h);
    CHECK(p.running() == strings{"good"});
    CHECK(asked > 60);
    CHECK(asked < 80); // a minute apart, but for the first ones
    CHECK(w.count("bad", "job_threw: no database") == 1);
    is_mended = true;
    w.run_for(1min);
    CHECK(p.running() == strings{"bad", "good"});
}

TEST_CASE("scheduler.job_catalog: classes may be added later, and each only once") {
    world w;
    w.add(w.job("settle"));
    auto& p = w.start({});
    w.run_for(1s);
    CHECK(p.running().empty());
    REQUIRE(p.learn("import"));
    w.run_for(1s);
    CHECK(p.running() == strings{"settle"});
    CHECK(p.learn("import").error() == errc::invalid_argument);
    CHECK(p.learn("").error() == errc::invalid_argument);
}

TEST_CASE(
    "scheduler.job_catalog: an instance that an operator removes stays out until the job is created again (SD-1)") {
    world w;
    w.add(w.job("settle"));
    auto& p = w.start();
    w.start();
    w.run_for(2s);
    auto const names = w.children("/settle/instances");
    REQUIRE(names.size() == 2);
    for (auto const& name : names)
        if (name.starts_with("10.0.0.1@")) w.remove("/settle/instances/" + name);
    w.run_for(5min);
    CHECK(p.running().empty());
    CHECK(w.children("/settle/instances").size() == 1);
    REQUIRE(remove_job(w.by_hand, "settle"));
    REQUIRE(restore_job(w.by_hand, "settle"));
    w.add(w.job("settle"));
    w.run_for(1s);
    CHECK(p.running() == strings{"settle"});
    CHECK(w.children("/settle/instances").size() == 2);
}

TEST_CASE("scheduler.job: a configuration that is deleted by hand ends the job, unless it is written again at once") {
    world w;
    w.add(w.job("settle"));
    auto& p = w.start();
    w.run_for(2s);
    w.remove("/settle/config");
    w.run_for(500ms);
    w.create("/settle/config", to_json(w.job("settle")));
    w.run_for(10s);
    CHECK(w.count("settle", "left") == 0);
    CHECK(p.running() == strings{"settle"});
    w.remove("/settle/config");
    w.run_for(1s);
    auto const begun = w.count("settle", "begins");
    w.run_for(10s);
    CHECK(w.count("settle", "begins") == begun);
    CHECK(w.count("settle", "left") == 1);
    CHECK(p.running().empty());
    CHECK_FALSE(w.has("/settle/config"));
    w.create("/settle/config", to_json(w.job("settle")));
    w.run_for(5s);
    CHECK(p.running() == strings{"settle"});
}

TEST_CASE("scheduler.job_catalog: it can end while jobs are being started and removed") {
    for (int turns = 0; turns < 60; ++turns) {
        INFO("after " << turns << " turns");
        world w;
        for (auto const* name : {"a", "b", "c"}) w.add(w.job(name));
        w.start();
        struct counted_turns : work {
            counted_turns(virtual_loop& l, int n) : work{&act_on}, loop{l}, left{n} {}
            static void act_on(work& w, work_action) {
                auto& self = static_cast<counted_turns&>(w);
                if (--self.left > 0) self.loop.post(self);
            }
            virtual_loop& loop;
            int left;
        } wait{w.loop, turns};
        if (turns % 2 == 1) (void)remove_job(w.by_hand, "b", 0s); // finished or not
        w.loop.post(wait);
        w.loop.run_ready();
        w.processes.clear();
        for (auto const* name : {"a", "b", "c"})
            if (w.has("/" + std::string{name} + "/instances"))
                CHECK(w.children("/" + std::string{name} + "/instances").empty());
    }
}

TEST_CASE("scheduler.job_catalog: only some of many jobs start at once, and each costs about the same") {
    auto const many = test::amount_for_this_run({.full = 10'000, .usual = 2'000, .sanitized = 500});
    world w;
    for (std::size_t n = 0; n < many; ++n) {
        auto job = w.job("job" + std::to_string(n), n % 2 == 0 ? "import" : "export");
        job.cron = "0 0 0 1 1 ? 2099";
        w.add(job);
    }
    w.server.counts() = {};
    [[maybe_unused]] auto bytes = mallinfo2().uordblks;
    auto& p = w.start({});
    w.run_for(1s);
    CHECK(w.server.counts().all() < 2 * many); // one for each, and the names
#ifndef ELASTICJOB_TEST_SANITIZED // because its allocators keep no such account
    INFO("bytes for a job that is left alone: " << (mallinfo2().uordblks - bytes) / many);
    CHECK((mallinfo2().uordblks - bytes) / many < 1024); // with the registry's side of the watch
    bytes = mallinfo2().uordblks;
#endif
    p.holds = true;
    REQUIRE(p.learn("import"));
    w.run_for(1s);
    CHECK(p.held() == 16); // factories
    p.holds = false;
    p.release_all();
    w.run_for(1min);
    CHECK(p.running().size() == many / 2);
#ifndef ELASTICJOB_TEST_SANITIZED
    INFO("bytes for a job that runs: " << (mallinfo2().uordblks - bytes) / (many / 2));
    CHECK((mallinfo2().uordblks - bytes) / (many / 2) < 32 * 1024); // as when the program schedules it
#endif
    // The cost of joining, electing and sharding.
    auto const requests = w.server.counts().all() / (many / 2);
    INFO("requests for each job that runs: " << requests);
    CHECK(requests < 80);
    auto const before = w.server.counts().all();
    w.run_for(5min);
    CHECK(w.server.counts().all() == before); // nothing after that
    // One more costs no more than the first.
    w.add(w.job("one more"));
    w.run_for(500ms);
    CHECK(w.server.counts().all() - before < 80);
}
