// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/execution/script_context.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <vector>

using namespace elasticjob;

namespace {

sharding_context context() {
    sharding_context ctx;
    ctx.job_name = "test_job";
    ctx.task_id = "fake_task_id";
    ctx.sharding_total_count = 2;
    ctx.item = 1;
    ctx.parameter = "B";
    return ctx;
}

} // namespace

TEST_CASE("execution.script_context: the argument as 2.1.5 writes it") {
    auto ctx = context();
    CHECK(script_argument(ctx) == R"({"jobName":"test_job","taskId":"fake_task_id","shardingTotalCount":2,)"
                                  R"("jobParameter":"","shardingItem":1,"shardingParameter":"B"})");
    ctx.item = 0;
    ctx.parameter = "";
    ctx.job_parameter = "p";
    CHECK(script_argument(ctx) == R"({"jobName":"test_job","taskId":"fake_task_id","shardingTotalCount":2,)"
                                  R"("jobParameter":"p","shardingItem":0})");
}

TEST_CASE("execution.script_context: the argument has the escapes of Gson") {
    auto ctx = context();
    ctx.task_id = "test_job@-@0,1@-@READY@-@10.0.0.1@-@4711";
    ctx.job_parameter = "a=b&c<d>e'f\"g\\h\n\t\x01/\xe4\xba\xac\xe2\x80\xa8";
    CHECK(script_argument(ctx) ==
          R"({"jobName":"test_job","taskId":"test_job@-@0,1@-@READY@-@10.0.0.1@-@4711","shardingTotalCount":2,)"
          R"("jobParameter":"a\u003db\u0026c\u003cd\u003ee\u0027f\"g\\h\n\t\u0001/)"
          "\xe4\xba\xac"
          R"(\u2028","shardingItem":1,"shardingParameter":"B"})");
}

TEST_CASE("execution.script_context: the environment holds each value separately") {
    auto ctx = context();
    ctx.due = wall_time{std::chrono::milliseconds{1'767'225'600'123}};
    ctx.source = run_source::failover;
    ctx.attempt = 2;
    ctx.token = 17;
    ctx.last_checkpoint = "row 17";
    char const* const own[] = {"PATH=/bin", "ELASTICJOB_TOKEN=16", "MINE=old", "EMPTY=", "strange", nullptr};
    auto const lines =
        detail::merged_environment(script_variables(ctx, "{}"), {{"MINE", "new=er"}, {"ELASTICJOB_ATTEMPT", "9"}}, own);
    CHECK(lines == std::vector<std::string>{"ELASTICJOB_SHARDING_CONTEXT={}", "ELASTICJOB_JOB_NAME=test_job",
                                            "ELASTICJOB_TASK_ID=fake_task_id", "ELASTICJOB_SHARDING_TOTAL_COUNT=2",
                                            "ELASTICJOB_JOB_PARAMETER=", "ELASTICJOB_SHARDING_ITEM=1",
                                            "ELASTICJOB_SHARDING_PARAMETER=B", "ELASTICJOB_DUE=1767225600123",
                                            "ELASTICJOB_SOURCE=failover", "ELASTICJOB_ATTEMPT=2", "ELASTICJOB_TOKEN=17",
                                            "ELASTICJOB_LAST_CHECKPOINT=row 17", "MINE=new=er", "PATH=/bin", "EMPTY="});
}
