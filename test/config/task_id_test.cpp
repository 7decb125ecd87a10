// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/config/task_id.hpp>

#include <doctest/doctest.h>

#include <vector>

using namespace elasticjob;

namespace {

using item_list = std::vector<item_index>;

} // namespace

TEST_CASE("config.task_id: a list of items is written with commas") {
    CHECK(format_item_list({}) == "");
    CHECK(format_item_list(item_list{0, 1, 2}) == "0,1,2");
}

TEST_CASE("config.task_id: an id names the job, the items and the instance") {
    auto const job = job_name::parse("test_job").value();
    auto const instance = instance_id::parse("10.0.0.1@-@4711").value();
    CHECK(make_task_id(job, item_list{0, 1}, instance) == "test_job@-@0,1@-@READY@-@10.0.0.1@-@4711");
    CHECK(make_task_id(job, {}, instance) == "test_job@-@@-@READY@-@10.0.0.1@-@4711");
    CHECK(make_task_id(job, item_list{7}, instance_id{}) == "test_job@-@7@-@READY@-@127.0.0.1@-@1");
    CHECK(make_task_id(job, item_list{7}, instance, execution_type::failover) ==
          "test_job@-@7@-@FAILOVER@-@10.0.0.1@-@4711");
}
