// SPDX-License-Identifier: Apache-2.0
// Dataflow jobs in a scheduler, on virtual time.
#include <elasticjob/scheduler/job_scheduler.hpp>

#include <elasticjob/allocation/average.hpp>
#include <elasticjob/core/virtual_loop.hpp>
#include <elasticjob/execution/dataflow_executor.hpp>
#include <elasticjob/registry/memory_registry.hpp>

#include <support/any_policies.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace elasticjob;
using namespace std::chrono_literals;

TEST_CASE("scheduler.dataflow: streaming, its counts in the registry, and the fetch count of each run") {
    virtual_loop loop{wall_time{1'767'225'600s}};
    basic_memory_server<virtual_loop> server{loop};
    basic_memory_registry<virtual_loop> registry{server};
    std::vector<int> left{3, 3, 3};
    std::vector<std::uint32_t> wanted;
    auto const counts = [&] {
        auto const* node = server.tree().find(node_path::parse("/feed/ext/counts/0").value());
        return node ? node->data : std::string{};
    };
    {
        test::virtual_scheduler<DataflowExecutor> scheduler{registry, {}, LoopPool<virtual_loop>{loop}, LogEvents{}, UtcZone{}};
        job_config config{.name = "feed", .cron = "0 * * * * ?", .streaming_process = true,
                          .dataflow = {.fetch_count = 7, .count_interval = 100s}};
        auto feed = scheduler.schedule(config, dataflow{[&](sharding_context const& ctx) {
                                                            wanted.push_back(ctx.fetch_count);
                                                            std::vector<int> data;
                                                            if (left.empty()) return data;
                                                            data.resize(static_cast<std::size_t>(left.back()));
                                                            left.pop_back();
                                                            return data;
                                                        },
                                                        [](sharding_context const&, std::vector<int> const& data) {
                                                            return data.size() - 1;
                                                        }});
        REQUIRE(feed);
        CHECK(server.tree().find(node_path::parse("/feed/config").value())->data.find("\"DATAFLOW\"") !=
              std::string::npos);
        loop.run_for(61s);
        CHECK(wanted == std::vector<std::uint32_t>{7}); // the first batch was not processed well, so the run failed
        CHECK(counts() == "");
        loop.run_for(40s);
        CHECK(counts() == "elasticjob counts 1\nsince 1767225600000\nuntil 1767225700000\nsucceeded 2\nfailed 1\n");
        loop.run_for(100s); // two more
        CHECK(counts() == "elasticjob counts 1\nsince 1767225700000\nuntil 1767225800000\nsucceeded 4\nfailed 2\n");
        loop.run_for(200s); // nothing more: nothing is written
        CHECK(counts().find("until 1767225800000") != std::string::npos);
        left = {5};
        loop.run_for(60s);
    }
    // The remaining counts are written when the instance leaves.
    CHECK(counts().find("succeeded 4\nfailed 1\n") != std::string::npos);
}

TEST_CASE(
    "scheduler.dataflow: elements processed for an item count, though the item has gone to another instance since") {
    virtual_loop loop{wall_time{1'767'225'600s}};
    basic_memory_server<virtual_loop> server{loop};
    using registry_type = basic_memory_registry<virtual_loop>;
    using scheduler_type = test::virtual_scheduler<DataflowExecutor>;
    auto const counts = [&](std::string const& item) {
        auto const* node = server.tree().find(node_path::parse("/feed/ext/counts/" + item).value());
        return node ? node->data : std::string{};
    };
    auto const body = dataflow{[](sharding_context const&) { return std::vector<int>{1, 2, 3}; },
                               [](sharding_context const&, std::vector<int> const&) {}};
    job_config const config{.name = "feed", .cron = "0 0 * * * ?", .sharding_total_count = 2,
                            .dataflow = {.count_interval = 90min}};
    registry_type first{server}, second{server};
    scheduler_type one{first, {.server_ip = "10.0.0.1", .seed = 1}, LoopPool<virtual_loop>{loop}, NoEvents{}, UtcZone{}};
    auto here = one.schedule(config, body);
    REQUIRE(here);
    loop.run_for(65min); // three elements for each of the two items
    scheduler_type two{second, {.server_ip = "10.0.0.2", .seed = 2}, LoopPool<virtual_loop>{loop}, NoEvents{}, UtcZone{}};
    auto there = two.schedule(config, body);
    REQUIRE(there);
    loop.run_for(20min);
    CHECK(counts("0") == "");
    loop.run_for(10min);
    for (auto const* item : {"0", "1"}) CHECK(counts(item).find("succeeded 3\n") != std::string::npos);
}
