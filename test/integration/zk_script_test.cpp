// SPDX-License-Identifier: Apache-2.0
// Script jobs on a real server: real shells, and sessions that end while they run.
#include <elasticjob/execution/script_executor.hpp>

#include <elasticjob/operations/dead_letters.hpp>

#include <integration/zk_proxy.hpp>
#include <integration/zk_runs.hpp>
#include <support/script_world.hpp>

#include <string>
#include <vector>

using namespace elasticjob;
using namespace elasticjob::test;

namespace {

job_config script_job(std::string name, std::string command, int items = 1) {
    auto c = on_demand(std::move(name), items);
    c.script_command_line = std::move(command);
    return c;
}

using lines = std::vector<std::string>;

} // namespace

TEST_CASE("zk_jobs.script: a script gets its parameters, its output is reported, and a dead letter has its exit code") {
    script_directory d;
    auto const work = d.file("work", "#!/bin/sh\n"
                                     "for last; do :; done\n"
                                     "echo \"$last\"\n"
                                     "test \"$last\" = \"$ELASTICJOB_SHARDING_CONTEXT\" || exit 1\n"
                                     "echo $ELASTICJOB_TOKEN $ELASTICJOB_ATTEMPT $ELASTICJOB_SOURCE\n"
                                     "test $ELASTICJOB_SHARDING_PARAMETER = A && exit 0\n"
                                     "echo out of paper >&2\n"
                                     "exit 3\n");
    shared_zk_server server;
    auto r = connected(to(server));
    run_log log;
    zk_scheduler<ScriptExecutor> scheduler{r, instance(1), log.to_sink()};
    auto config = script_job("report", work + " 'first argument'", 2);
    config.sharding_item_parameters = "0=A,1=B";
    config.job_parameter = "monthly";
    config.retry = {.attempts_max = 2, .pause = 50ms};
    auto job = scheduler.schedule(config, script{{}, EventOutput{}});
    REQUIRE_MESSAGE(job, to_string(job.error()));
    REQUIRE(job->trigger());
    auto const runs = log.wait_for_ends(3);
    REQUIRE(job->wait_idle());

    std::int64_t last_token = 0;
    for (auto const& one : runs) {
        CAPTURE(one.item);
        std::string const parameter = one.item == 0 ? "A" : "B";
        lines expected{"{\"jobName\":\"report\",\"taskId\":\"" + one.task_id +
                           "\",\"shardingTotalCount\":2,\"jobParameter\":\"monthly\",\"shardingItem\":" +
                           std::to_string(one.item) + ",\"shardingParameter\":\"" + parameter + "\"}",
                       std::to_string(one.token) + " " + std::to_string(one.attempt) + " trigger"};
        if (one.item == 1) expected.emplace_back("out of paper");
        CHECK(one.lines == expected);
        CHECK(one.failure.has_value() == (one.item == 1));
        if (one.item == 0) continue;
        CHECK(one.said().find("exit code 3; it said: out of paper") != std::string::npos);
        CHECK(one.token > std::exchange(last_token, one.token));
    }
    auto const letters = list_dead_letters(r, "report");
    REQUIRE(letters);
    REQUIRE(letters->size() == 1);
    CHECK(letters->front().item == 1);
    CHECK(letters->front().run.run.attempt == 2);
    CHECK(letters->front().run.note.find("exit code 3") != std::string::npos);
}

TEST_CASE("zk_jobs.script: at the time limit the whole process group is killed, and the item can run again") {
    script_directory d;
    life_sign const life{d};
    auto const deaf = d.file("deaf", "#!/bin/sh\n"
                                     "test $ELASTICJOB_ATTEMPT = 1 || exit 0\n"
                                     "exec 9>" + life.path() + "\n"
                                     "trap '' TERM\n"
                                     "sleep 1000 & sleep 1000 & wait\n");
    shared_zk_server server;
    auto r = connected(to(server));
    run_log log;
    zk_scheduler<ScriptExecutor> scheduler{r, instance(1), log.to_sink()};
    auto config = script_job("deaf", deaf);
    config.run_time_limit = 300ms;
    config.retry = {.attempts_max = 2, .pause = 1ms};
    auto job = scheduler.schedule(config, script{{.grace = 50ms}});
    REQUIRE_MESSAGE(job, to_string(job.error()));
    REQUIRE(job->trigger());
    auto const runs = log.wait_for_ends(2);
    CHECK(life.all_are_gone());
    REQUIRE(runs[0].failure);
    CHECK(*runs[0].failure == errc::timed_out);
    CHECK(runs[0].said().find("SIGKILL") != std::string::npos);
    CHECK(runs[1].said() == "");
    CHECK(runs[1].token > runs[0].token);
}

TEST_CASE("zk_jobs.script: when the session ends the processes are killed, and the new session runs the item again") {
    script_directory d;
    life_sign const life{d};
    auto const work = d.file("work", "#!/bin/sh\n"
                                     "test $ELASTICJOB_ATTEMPT = 1 || exit 0\n"
                                     "exec 9>" + life.path() + "\n"
                                     "echo ready >&9\n"
                                     "sleep 1000; sleep 1000\n");
    shared_zk_server server;
    auto r = connected(with_session(to(server), 10s));
    run_log log;
    zk_scheduler<ScriptExecutor> scheduler{r, instance(1), log.to_sink()};
    auto config = script_job("lost", work);
    config.retry = {.attempts_max = 2, .pause = 1ms};
    auto job = scheduler.schedule(config, script{{.grace = 1h}});
    REQUIRE_MESSAGE(job, to_string(job.error()));
    REQUIRE(job->trigger());
    REQUIRE(life.says("ready\n"));
    end_session(server, r);
    CHECK(life.all_are_gone());
    auto const runs = log.wait_for_ends(2);
    CHECK(runs[0].said().find("SIGTERM), after it had been asked to stop") != std::string::npos);
    CHECK(tells_of_lost_session(runs[0].said()));
    CHECK(runs[1].said() == "");
    CHECK(runs[1].token > runs[0].token);
}

TEST_CASE("zk_jobs.script: an instance that is cut off ends its processes before another instance runs the item") {
    script_directory d;
    auto const lock = d.file("lock", "");
    life_sign const life{d};
    // Every process that inherits the descriptor holds the lock: it is free when the run's last process has ended.
    auto const work = d.file("work", "#!/bin/sh\n"
                                     "test $ELASTICJOB_SHARDING_ITEM = 0 || exit 0\n"
                                     "exec 8>" + lock + "\n"
                                     "flock -n 8 || exit 5\n"
                                     "test $WHO = second && exit 0\n"
                                     "echo ready >" + life.path() + "\n"
                                     "sleep 1000; sleep 1000\n");
    shared_zk_server server;
    tcp_proxy wire_of_first{server.port()};
    auto first = connected(with_session(to(wire_of_first.endpoint(), server.name_space()), 2s));
    auto second = connected(to(server));
    run_log log_of_first, log_of_second;
    zk_scheduler<ScriptExecutor> one{first, instance(2), log_of_first.to_sink()}; // higher addresses get lower items
    zk_scheduler<ScriptExecutor> two{second, instance(1), log_of_second.to_sink()};
    auto config = script_job("cut", work, 2);
    config.failover = true;
    auto const body = [](std::string who) { return script{{.grace = 1h, .environment = {{"WHO", std::move(who)}}}}; };
    auto job = one.schedule(config, body("first"));
    REQUIRE_MESSAGE(job, to_string(job.error()));
    auto same_job = two.schedule(config, body("second"));
    REQUIRE_MESSAGE(same_job, to_string(same_job.error()));
    log_of_first.wait_for_share({0});
    log_of_second.wait_for_share({1});
    REQUIRE(same_job->trigger());
    REQUIRE(life.says("ready\n"));
    REQUIRE(log_of_second.wait_for_ends(1).front().item == 1);

    wire_of_first.set_requests(wire::lossy);
    wire_of_first.set_replies(wire::lossy);
    auto const taken_over = log_of_second.wait_for_ends(2).back();
    CHECK(taken_over.item == 0);
    CHECK(taken_over.source == run_source::failover);
    CHECK(taken_over.said() == ""); // 5 would mean that the lock was held
    auto const cut_off = log_of_first.wait_for_ends(1).front();
    CHECK(cut_off.said().find("SIGTERM), after it had been asked to stop (lease_over)") != std::string::npos);
    CHECK(taken_over.token > cut_off.token);
    wire_of_first.cut_and_repair();
    log_of_first.wait_for_fenced(1);
}
