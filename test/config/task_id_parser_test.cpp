// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/config/task_id_parser.hpp>

#include <doctest/doctest.h>

#include <string_view>
#include <vector>

using namespace elasticjob;

namespace {

using item_list = std::vector<item_index>;

} // namespace

TEST_CASE("config.task_id_parser: a list of items keeps the first of equal items") {
    CHECK(parse_item_list("").value() == item_list{});
    CHECK(parse_item_list("0,1,2").value() == item_list{0, 1, 2});
    CHECK(parse_item_list("0,1,2,2").value() == item_list{0, 1, 2});
    CHECK(parse_item_list("2,0,2,1").value() == item_list{2, 0, 1});
    CHECK(parse_item_list("3,").value() == item_list{3});
    for (auto const bad : {"0, 1", "a", "0,,1", " ", "-1", "4294967296"}) {
        CAPTURE(bad);
        CHECK(parse_item_list(bad).error() == errc::malformed_data);
    }
}

TEST_CASE("config.task_id_parser: an id is read back") {
    auto const id = task_id::parse("test_job@-@0@-@READY@-@slave-S0@-@0").value();
    CHECK(id.meta == task_meta{"test_job", {0}});
    CHECK(id.type == execution_type::ready);
    CHECK(id.instance.server() == "slave-S0");
    CHECK(id.instance.token() == "0");

    auto const job = job_name::parse("test_job").value();
    for (std::string_view const text : {"test_job@-@0,1@-@READY@-@10.0.0.1@-@4711", "test_job@-@@-@FAILOVER@-@a@-@b"}) {
        auto const read = task_id::parse(text).value();
        CHECK(make_task_id(job, read.meta.items, read.instance, read.type) == text);
    }
}

TEST_CASE("config.task_id_parser: a text that is no id is refused") {
    for (auto const bad : {"", "a@-@b", "a@-@0@-@READY@-@ip", "a@-@0@-@READY@-@ip@-@", "a@-@0@-@READY@-@ip@-@1@-@2",
                           "a@-@0@-@ready@-@ip@-@1", "a@-@x@-@READY@-@ip@-@1", "a@-@0@-@READY@-@i/p@-@1"}) {
        CAPTURE(bad);
        CHECK(task_id::parse(bad).error() == errc::malformed_data);
    }
}

TEST_CASE("config.task_id_parser: the job and its items are read from an id or from its beginning") {
    for (auto const text : {"test_job@-@1", "test_job@-@1@-@READY@-@unassigned-slave@-@0"})
        CHECK(task_meta::parse(text).value() == task_meta{"test_job", {1}});
    for (auto const text : {"test_job", "test_job@-@", "test_job@-@@-@READY@-@unassigned-slave@-@0"})
        CHECK(task_meta::parse(text).value() == task_meta{"test_job", {}});
    for (auto const bad : {"a@-@1@-@READY", "a@-@1@-@READY@-@ip", "a@-@b"}) {
        CAPTURE(bad);
        CHECK(task_meta::parse(bad).error() == errc::malformed_data);
    }
}
