// SPDX-License-Identifier: Apache-2.0
// HTTP jobs on a real server: a service on loopback, and a session that ends before the service answers.
#include <elasticjob/execution/http_executor.hpp>

#include <elasticjob/operations/dead_letters.hpp>

#include <integration/zk_runs.hpp>
#include <support/loopback.hpp>
#include <support/web_server.hpp>

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <semaphore>
#include <string>
#include <vector>

using namespace elasticjob;
using namespace elasticjob::test;

namespace {

/// Each item has its own path. The paths of odd items fail until they are repaired.
class service {
public:
    struct call {
        std::string attempt, token;
        bool operator==(call const&) const = default;
    };
    auto set_up() {
        return [this](httplib::Server& s) {
            s.Post(".*", [this](httplib::Request const& q, httplib::Response& a) {
                std::lock_guard const lock{mutex_};
                calls_[q.path].push_back(
                    {q.get_header_value("Elasticjob-Attempt"), q.get_header_value("Elasticjob-Token")});
                bool const is_broken = !is_mended_ && q.path == "/1";
                a.status = is_broken ? 503 : 200;
                a.set_content(is_broken ? "out of paper" : "done", "text/plain");
            });
        };
    }
    void mend() {
        std::lock_guard const lock{mutex_};
        is_mended_ = true;
    }
    std::vector<call> calls(std::string const& path) {
        std::lock_guard const lock{mutex_};
        return calls_[path];
    }

private:
    std::mutex mutex_;
    bool is_mended_ = false;
    std::map<std::string, std::vector<call>> calls_;
};

} // namespace

TEST_CASE("zk_jobs.http: the status decides; a failure becomes a dead letter, which an operator can run again") {
    service s;
    web_server<> const web{s.set_up()};
    shared_zk_server server;
    auto r = connected(to(server));
    run_log log;
    zk_scheduler<HttpExecutor> scheduler{r, instance(1), log.to_sink()};
    auto config = on_demand("call", 2);
    config.retry = {.attempts_max = 2, .pause = 50ms};
    auto job = scheduler.schedule(
        config, [&](sharding_context const& c) { return http_request::make(web.url("/" + std::to_string(c.item))); });
    REQUIRE_MESSAGE(job, to_string(job.error()));
    REQUIRE(job->trigger());
    (void)log.wait_for_ends(3);
    REQUIRE(job->wait_idle());
    auto const letters = list_dead_letters(r, "call");
    REQUIRE(letters);
    REQUIRE(letters->size() == 1);
    CHECK(letters->front().item == 1);
    CHECK(letters->front().run.run.attempt == 2);
    CHECK(letters->front().run.note.find("status 503: 'out of paper'") != std::string::npos);

    s.mend();
    REQUIRE(run_again(r, "call", 1, letters->front().run.run.due));
    auto const runs = log.wait_for_ends(4);
    REQUIRE(job->wait_idle());
    CHECK(list_dead_letters(r, "call")->empty());
    std::map<std::string, std::vector<service::call>> expected;
    for (auto const& one : runs) {
        CHECK(one.failure.has_value() == (one.item == 1 && one.attempt < 3));
        expected["/" + std::to_string(one.item)].push_back({std::to_string(one.attempt), std::to_string(one.token)});
    }
    CHECK(s.calls("/0") == expected["/0"]);
    CHECK(s.calls("/1") == expected["/1"]);
    auto const& tokens = s.calls("/1");
    REQUIRE(tokens.size() == 3);
    for (std::size_t n = 1; n < tokens.size(); ++n)
        CHECK(std::stoll(tokens[n].token) > std::stoll(tokens[n - 1].token));
}

TEST_CASE("zk_jobs.http: a late answer fails its run, and delays neither the session nor the next run") {
    std::atomic<bool> answers{false};
    odd_server const slow{[&](peer const& p) {
        p.read_header();
        if (answers)
            p.write("HTTP/1.1 204 No Content\r\n\r\n");
        else
            (void)p.is_left(20'000);
    }};
    shared_zk_server server;
    auto r = connected(with_session(to(server), 4s)); // the request takes longer
    run_log log;
    zk_scheduler<HttpExecutor> scheduler{r, instance(1, 1), log.to_sink()};
    auto job = scheduler.schedule(on_demand("slow"), http_request::make(slow.url(), {.timeout = 4500ms}).value());
    REQUIRE_MESSAGE(job, to_string(job.error()));
    REQUIRE(job->trigger());
    auto const failed = log.wait_for_ends(1).front();
    REQUIRE(failed.failure);
    CHECK(*failed.failure == errc::timed_out);
    CHECK(failed.failure->what == "no complete answer within 4500 ms");
    REQUIRE(job->wait_idle());
    auto const letters = list_dead_letters(r, "slow");
    REQUIRE(letters);
    REQUIRE(letters->size() == 1);
    CHECK(letters->front().run.note.starts_with("timed_out: no complete answer"));

    answers = true;
    REQUIRE(job->trigger());
    CHECK(log.wait_for_ends(2).back().said() == "");
    on_loop(r.loop(), [&]() -> task<> {
        CHECK(r.session().generation.value == 1);
        co_return;
    });
}

TEST_CASE("zk_jobs.http: a hostile service fails its run, and harms neither the process nor the session") {
    std::atomic<int> requests{0};
    odd_server const hostile{[&](peer const& p) {
        p.read_header();
        auto const request = ++requests;
        if (request == 1) return void(p.write("HTTP/1.1 200 " + std::string(30'000, 'a') + "\r\n\r\n"));
        if (request == 3) return void(p.write("HTTP/1.1 204 No Content\r\n\r\n"));
        std::string headers;
        while (headers.size() < 65'536) headers += "X-Y: z\r\n";
        if (!p.write("HTTP/1.1 200 OK\r\n")) return;
        for (int n = 0; n < 100'000 && p.write(headers);) ++n;
    }};
    shared_zk_server server;
    auto r = connected(to(server));
    run_log log;
    zk_scheduler<HttpExecutor> scheduler{r, instance(1), log.to_sink()};
    auto job = scheduler.schedule(on_demand("hostile"), http_request::make(hostile.url()).value());
    REQUIRE_MESSAGE(job, to_string(job.error()));
    for (std::size_t n = 1; n <= 3; ++n) {
        REQUIRE(job->trigger());
        auto const run = log.wait_for_ends(n).back();
        CHECK((run.failure && *run.failure == errc::too_large) == (n < 3));
        REQUIRE(job->wait_idle());
    }
    auto const letters = list_dead_letters(r, "hostile");
    REQUIRE(letters);
    CHECK(letters->size() == 2);
    on_loop(r.loop(), [&]() -> task<> {
        CHECK(r.session().generation.value == 1);
        co_return;
    });
}

TEST_CASE("zk_jobs.http: when the session ends the request is dropped, and the new session sends it again") {
    std::atomic<int> requests{0};
    std::binary_semaphore asked{0}, left{0};
    odd_server const thinker{[&](peer const& p) {
        p.read_header();
        if (++requests > 1) return void(p.write("HTTP/1.1 204 No Content\r\n\r\n"));
        asked.release();
        if (p.is_left(20'000)) left.release();
    }};
    shared_zk_server server;
    auto r = connected(with_session(to(server), 10s));
    run_log log;
    zk_scheduler<HttpExecutor> scheduler{r, instance(1), log.to_sink()};
    auto config = on_demand("lost");
    config.retry = {.attempts_max = 2, .pause = 1ms};
    auto job = scheduler.schedule(config, http_request::make(thinker.url()).value());
    REQUIRE_MESSAGE(job, to_string(job.error()));
    REQUIRE(job->trigger());
    REQUIRE(asked.try_acquire_for(30s));
    end_session(server, r);
    CHECK(left.try_acquire_for(30s));
    auto const runs = log.wait_for_ends(2);
    CHECK(runs[0].said().find("broken off: the run has been asked to stop") != std::string::npos);
    CHECK(tells_of_lost_session(runs[0].said()));
    CHECK(runs[1].said() == "");
    CHECK(runs[1].token > runs[0].token);
}
