// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/execution/sharding_context.hpp>

#include <doctest/doctest.h>

using namespace elasticjob;

TEST_CASE("execution.sharding_context: its text is the original's") {
    sharding_context c;
    c.job_name = "j";
    c.task_id = "t";
    c.sharding_total_count = 2;
    c.item = 1;
    c.parameter = "B";
    CHECK(to_string(c) == "ShardingContext(jobName=j, taskId=t, shardingTotalCount=2, jobParameter=, shardingItem=1, "
                          "shardingParameter=B)");
}
