// SPDX-License-Identifier: Apache-2.0
// Coroutine jobs on the loop of a real session, which also handles heartbeats, lost connections and the session's end.
#include <elasticjob/execution/coroutine_executor.hpp>

#include <integration/zk_proxy.hpp>
#include <integration/zk_runs.hpp>

#include <algorithm>
#include <optional>
#include <semaphore>
#include <string>
#include <thread>
#include <vector>

using namespace elasticjob;
using namespace elasticjob::test;

namespace {

using run_type = coroutine_context<event_loop>;

} // namespace

TEST_CASE("zk_jobs.coroutine: many items sleep longer than the session may be silent, without a thread") {
    shared_zk_server server;
    auto r = connected(with_session(to(server), 3s));
    run_log log;
    zk_scheduler<CoroutineExecutor> scheduler{r, instance(1, 1), log.to_sink()};
    constexpr int items = 100;
    int waiting = 0, most_waiting = 0; // used on the loop only
    bool was_early = false;
    std::thread::id const here = std::this_thread::get_id();
    auto job = scheduler.schedule(on_demand("wait", items), [&](run_type const& one) -> task<result<void>> {
        auto const begun = one.loop().now();
        most_waiting = std::max(most_waiting, ++waiting);
        bool const goes_on = co_await one.sleep_for(3500ms);
        --waiting;
        was_early |= one.loop().now() < begun + 3500ms;
        if (!goes_on || !one.loop().on_loop()) co_return error{errc::job_failed, "stopped"};
        std::thread::id there;
        auto const work = [&] { there = std::this_thread::get_id(); };
        auto const done = co_await one.on_pool(work);
        if (!done) co_return done.error();
        if (there == here || there == std::this_thread::get_id()) co_return error{errc::job_failed, "not on the pool"};
        co_return success();
    });
    REQUIRE_MESSAGE(job, to_string(job.error()));
    REQUIRE(job->trigger());
    for (auto const& one : log.wait_for_ends(items)) CHECK(one.said() == "");
    REQUIRE(job->wait_idle());
    on_loop(r.loop(), [&]() -> task<> {
        CHECK(most_waiting == items);
        CHECK_FALSE(was_early);
        CHECK(r.session().generation.value == 1);
        co_return;
    });
}

TEST_CASE("zk_jobs.coroutine: a checkpoint whose answer is lost with the connection is saved once the connection is back") {
    shared_zk_server server;
    tcp_proxy proxy{server.port()};
    auto r = connected(to(proxy.endpoint(), server.name_space()));
    auto witness = connected(to(server));
    run_log log;
    zk_scheduler<CoroutineExecutor> scheduler{r, instance(1), log.to_sink()};
    std::binary_semaphore reached{0};
    std::vector<std::string> seen; // used on the loop only
    auto job = scheduler.schedule(on_demand("save"), [&](run_type const& one) -> task<result<void>> {
        seen.push_back(one.last_checkpoint);
        if (!one.last_checkpoint.empty()) co_return success();
        proxy.set_replies(wire::lossy);
        reached.release();
        auto const saved = co_await one.save("row 7");
        seen.push_back(saved ? "saved" : to_string(saved.error()));
        auto const again = co_await one.save("row 8");
        seen.push_back(again ? "saved" : to_string(again.error()));
        co_return success();
    });
    REQUIRE_MESSAGE(job, to_string(job.error()));
    REQUIRE(job->trigger());
    REQUIRE(reached.try_acquire_for(30s));
    on_loop(witness.loop(), [&]() -> task<> { // until it has happened; the instance gets no reply
        for (;;) {
            event_watch<event_loop> changed{witness.loop()};
            auto const there = co_await witness.get(at("/save/ext/run/0"), &changed);
            if (there && there->data.find("row 7") != std::string::npos) co_return;
            co_await changed.fired();
        }
    });
    proxy.cut_and_repair();
    CHECK(log.wait_for_ends(1).front().said() == "");
    REQUIRE(job->trigger());
    CHECK(log.wait_for_ends(2).back().said() == "");
    REQUIRE(job->wait_idle());
    on_loop(r.loop(), [&]() -> task<> {
        REQUIRE(seen.size() == 4);
        CHECK(seen[1] == "saved");
        CHECK(seen[2] == "saved");
        CHECK(seen[3] == "row 8");
        co_return;
    });
}

TEST_CASE("zk_jobs.coroutine: a sleeping coroutine wakes when the job is shut down, and when the session ends") {
    shared_zk_server server;
    auto r = connected(with_session(to(server), 10s));
    run_log log;
    zk_scheduler<CoroutineExecutor> scheduler{r, instance(1), log.to_sink()};
    std::binary_semaphore asleep{0};
    std::vector<std::string> woken; // used on the loop only
    auto config = on_demand("sleep");
    config.failover = true;
    auto job = scheduler.schedule(config, [&](run_type const& one) -> task<result<void>> {
        asleep.release();
        bool const goes_on = co_await one.sleep_for(1h);
        auto const saved = co_await one.save("woken");
        woken.push_back(std::string{name_of(one.why_stop())} + (goes_on ? " in time" : "") +
                        (saved ? ", saved" : ", " + to_string(saved.error())));
        co_return error{errc::job_failed, "stopped"};
    });
    REQUIRE_MESSAGE(job, to_string(job.error()));
    REQUIRE(job->trigger());
    REQUIRE(asleep.try_acquire_for(30s));
    end_session(server, r);
    auto const lost = log.wait_for_ends(1).front();
    CHECK(lost.said() == "job_failed: stopped");

    REQUIRE(asleep.try_acquire_for(30s)); // the item runs again
    CHECK(job->shutdown());
    auto const runs = log.wait_for_ends(2);
    CHECK(runs.back().token > runs.front().token);
    on_loop(r.loop(), [&]() -> task<> {
        REQUIRE(woken.size() == 2);
        CHECK(tells_of_lost_session(woken[0]));
        CHECK(woken[0].find(", session_lost: the checkpoint is not saved") != std::string::npos); // at once
        CHECK(woken[1] == "draining, saved");
        co_return;
    });
}
