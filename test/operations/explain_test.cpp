// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/config/json_codec.hpp>
#include <elasticjob/operations/explain.hpp>

#include <support/cluster.hpp>
#include <support/measured.hpp>

#include <doctest/doctest.h>

using namespace elasticjob;
using namespace elasticjob::test;

namespace {

struct world : cluster {
    /// Asks as an outside client.
    result<explanation> ask(item_index i, std::optional<std::chrono::seconds> instant = {}) {
        std::optional<wall_time> when;
        if (instant) when = wall_time{1'767'225'600s + *instant};
        return explain(by_hand, "settle", i, when);
    }
    std::string text(item_index i, std::optional<std::chrono::seconds> instant = {}) {
        auto const e = ask(i, instant);
        return e ? e->text : to_string(e.error());
    }
};

bool has(std::string const& text, std::string_view part) { return text.find(part) != text.npos; }

} // namespace

TEST_CASE("operations.explain: names the reason if it cannot explain a job") {
    world w;
    CHECK(w.ask(0).error() == errc::no_node);
    CHECK(explain(w.by_hand, "a/b", 0).error() == errc::invalid_argument);
    REQUIRE(w.add().schedule(make_job("settle", never, 2)));
    CHECK(w.ask(2).error() == errc::no_node);
    w.run_for(1s);
    w.set("/settle/ext/run/1", "nonsense");
    CHECK(w.ask(1).error() == errc::malformed_data);
    CHECK(w.ask(0));
}

TEST_CASE("operations.explain: takes 13 requests, and one for the server of an owner") {
    world w;
    int count = 0;
    measured<basic_memory_registry<virtual_loop>> counted{w.by_hand, [&count](registry_request const&) { ++count; }};
    auto const requests = [&] {
        count = 0;
        REQUIRE(explain(counted, "settle", 0));
        return count;
    };
    w.create("/settle");
    w.create("/settle/config", to_json(make_job("settle", never, 1)));
    CHECK(requests() == 13);
    REQUIRE(w.add().schedule(make_job("settle", never, 1)));
    w.run_for(1s);
    CHECK(requests() == 14);
}

TEST_CASE("operations.explain: idle, running, completed, failed") {
    world w;
    auto& m = w.add();
    m.body = [](sharding_context const& c) -> result<void> {
        if (c.item == 1) return error{errc::job_failed, "no\n\x1b[31mmoney"};
        return success();
    };
    REQUIRE(m.schedule(make_job("settle", "0/5 * * * * ?", 2)));
    w.run_for(1s);
    CHECK(w.text(0) == "It is idle, on " + m.id("settle") + ".");
    w.run_for(5s);
    CHECK(w.text(0) == "It is idle, on " + m.id("settle") +
                           ". As of its last run, it is due next at 2026-01-01 00:00:10 UTC.\n"
                           "- the instant 2026-01-01 00:00:05 UTC ran on " +
                           m.id("settle") + " (schedule) and was completed at 2026-01-01 00:00:05 UTC");
    CHECK(has(w.text(1), "and failed at 2026-01-01 00:00:05 UTC: job_failed: no\\x0a\\x1b[31mmoney"));
    m.holds = true;
    w.run_for(5s);
    CHECK(has(w.text(0), "It has been running on " + m.id("settle") + " since 2026-01-01 00:00:10"));
    CHECK(has(w.text(0, 10s), "The instant 2026-01-01 00:00:10 UTC is the one that it runs for now."));
    CHECK(has(w.text(0, 5s), "On record: the instant 2026-01-01 00:00:05 UTC ran"));
    CHECK(has(w.text(0, 15s), "has not been dealt with"));
    CHECK(has(w.text(0, 3s), "has been dealt with, or was never due"));
}

TEST_CASE("operations.explain: misfires show their outcome") {
    world w;
    auto& m = w.add();
    REQUIRE(m.schedule(make_job("settle", "0/5 * * * * ?", 1)));
    w.run_for(4s);
    m.holds = true;
    w.run_for(17s); // 5 runs, 10, 15 and 20 find it running
    m.holds = false;
    m.release_all();
    w.run_for(1s);
    CHECK(has(w.text(0, 10s),
              "On record: 2 instants up to 2026-01-01 00:00:15 UTC did not run: a later run made up for it"));
    CHECK(has(w.text(0, 20s), "the instant 2026-01-01 00:00:20 UTC ran on " + m.id("settle") + " (misfire)"));
}

TEST_CASE("operations.explain: why an item waits") {
    world w;
    auto& m = w.add();
    auto job = make_job("settle", "0/5 * * * * ?", 1);
    job.failover = true;
    REQUIRE(m.schedule(job));
    w.run_for(1s);
    auto const server = "/settle/servers/" + m.ip;
    w.set(server, "DISABLED");
    CHECK(has(w.text(0), "It is idle, on " + m.id("settle") + ". An operator has disabled the server " + m.ip +
                             ": no run begins there before somebody enables it."));
    w.set(server, "");
    w.create("/settle/sharding/0/disabled");
    CHECK(has(w.text(0), "It waits: an operator has disabled it."));
    CHECK(w.ask(0)->is_disabled);
    w.run_for(10s);
    w.remove("/settle/sharding/0/disabled");
    w.run_for(5s);
    CHECK(has(w.text(0), "2 instants up to 2026-01-01 00:00:10 UTC did not run: disabled"));
    m.holds = true;
    w.run_for(5s);
    post(w.loop, [&m] { m.registry.disconnect(); });
    w.run_for(15s);
    CHECK(has(w.text(0), "It was interrupted: " + m.id("settle") + " died running it"));
    CHECK(has(w.text(0), "It is run again as soon as a live instance owns it."));
    auto& other = w.add();
    other.holds = true;
    REQUIRE(other.schedule(job));
    w.run_for(15s);
    post(w.loop, [&other] { other.registry.disconnect(); });
    w.run_for(15s);
    CHECK(has(w.text(0), "owns it, unless attempt 2 was the last that is allowed."));
    auto& next = w.add();
    REQUIRE(next.schedule(job));
    w.run_for(1s);
    CHECK(has(w.text(0), "died, and it was run again"));
    REQUIRE(next.shutdown("settle"));
    CHECK(has(w.text(0), "It waits: the job has no instance."));
}

TEST_CASE("operations.explain: a member of 2.1.5 keeps no record") {
    world w;
    REQUIRE(w.add().schedule(make_job("settle", never, 1)));
    w.run_for(1s);
    w.create("/settle/sharding/0/running", {}, create_mode::ephemeral);
    CHECK(w.text(0) == "It runs on a member that keeps no record: one of 2.1.5.");
}

TEST_CASE("operations.explain: where members of 2.1.5 may have run an item, it says that their runs are not shown") {
    world w;
    auto& m = w.add("10.0.0.1");
    REQUIRE(m.schedule(make_job("settle", "0/5 * * * * ?", 2)));
    w.run_for(6s);
    CHECK_FALSE(has(w.text(0), "2.1.5"));
    w.create("/settle/instances/10.0.0.9@-@4711", {}, create_mode::ephemeral);
    w.run_for(1s);
    REQUIRE(w.owners("settle", 2) == std::vector<std::string>{"10.0.0.9@-@4711", m.id("settle")});
    CHECK(has(w.text(0), "\nIt belongs to a member of 2.1.5, which keeps no record: only runs on members of this "
                         "library are shown.\n- the instant 2026-01-01 00:00:05 UTC ran on"));
    CHECK(has(w.text(0, 30s), "is not on record. A member of 2.1.5 may have run it nevertheless."));
    CHECK(has(w.text(1), "\nThe job has members of 2.1.5, which keep no record: runs on them are not shown."));
}

TEST_CASE("operations.explain: an item that waits for a retry shows the time and the reason") {
    world w;
    auto& m = w.add();
    m.body = [](sharding_context const&) -> result<void> { return error{errc::job_failed, "no money"}; };
    auto job = make_job("settle", "0 * * * * ?", 1);
    job.retry = {.attempts_max = 2, .pause = 20s, .spread_percent = 0};
    REQUIRE(m.schedule(job));
    w.run_for(61s);
    CHECK(has(w.text(0), "It waits to be tried again at 2026-01-01 00:01:20 UTC, for the instant 2026-01-01 00:01:00 UTC "
                         "(attempt 2)."));
    CHECK(has(w.text(0), "failed at 2026-01-01 00:01:00 UTC: job_failed: no money; it was to be tried again"));
}

TEST_CASE("operations.explain: a job that follows another says which") {
    world w;
    auto& m = w.add();
    auto job = make_job("settle", "", 1);
    job.schedules = {job_schedule::after_job("fetch", round_end::failed)};
    REQUIRE(m.schedule(job));
    w.run_for(1s);
    CHECK(has(w.text(0), "It is due when a round of the job 'fetch' is over and failed"));
}

TEST_CASE("operations.explain: a permanently interrupted run is shown at once") {
    world w;
    w.add();
    w.add();
    for (auto& m : w.members) REQUIRE(m->schedule(make_job("settle", "0 0 * * * ?", 1)));
    for (auto& m : w.members) m->holds = true;
    w.run_for(1h + 1s);
    auto& dead = *w.members[w.all(heard::kind::started, 0).at(0).member];
    post(w.loop, [&] { dead.registry.disconnect(); });
    w.run_for(1min);
    CHECK(has(w.text(0), "died, and it was not run again"));
}
