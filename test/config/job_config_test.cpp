// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/config/job_config.hpp>

#include <doctest/doctest.h>

#include <type_traits>

using namespace elasticjob;

static_assert(std::is_aggregate_v<job_config>);
static_assert(name_of(job_type::simple) == "SIMPLE");
static_assert(name_of(job_type::dataflow) == "DATAFLOW");
static_assert(name_of(job_type::script) == "SCRIPT");

TEST_CASE("config.job_config: a name, a cron and a count are enough, the rest is as in Java") {
    job_config const config{.name = "test_job", .cron = "0/1 * * * * ?", .sharding_total_count = 3};
    CHECK(config.sharding_item_parameters == "");
    CHECK(config.job_parameter == "");
    CHECK_FALSE(config.failover);
    CHECK(config.misfire);
    CHECK(config.description == "");
    CHECK(config.job_exception_handler == "com.dangdang.ddframe.job.executor.handler.impl.DefaultJobExceptionHandler");
    CHECK(config.executor_service_handler ==
          "com.dangdang.ddframe.job.executor.handler.impl.DefaultExecutorServiceHandler");
    CHECK(config.monitor_execution);
    CHECK(config.max_time_diff_seconds == -1);
    CHECK(config.monitor_port == -1);
    CHECK(config.job_sharding_strategy_class == "");
    CHECK(config.reconcile_interval_minutes == 10);
    CHECK_FALSE(config.disabled);
    CHECK_FALSE(config.overwrite);
}

TEST_CASE("config.job_config: two configurations are equal if all members are") {
    job_config const one{.name = "a", .cron = "0 0 12 * * ?"};
    auto other = one;
    CHECK(one == other);
    other.overwrite = true;
    CHECK(one != other);
}
