// SPDX-License-Identifier: Apache-2.0
// A job that streams without end gives way between its rounds, without being asked to stop.
#include <elasticjob/scheduler/job_scheduler.hpp>

#include <elasticjob/allocation/average.hpp>
#include <elasticjob/config/json_codec.hpp>
#include <elasticjob/core/block_on.hpp>
#include <elasticjob/execution/dataflow_executor.hpp>
#include <elasticjob/registry/memory_registry.hpp>

#include <support/any_policies.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <semaphore>
#include <thread>
#include <vector>

using namespace elasticjob;

TEST_CASE("scheduler.streaming: a stop of streaming, whatever the reason, ends it behind its round") {
    MemoryRegistry registry;
    test::memory_scheduler<DataflowExecutor> scheduler{registry, {}, NoEvents{}};
    static constexpr long rounds_max = 100'000'000; // so that a failure is no hang
    std::atomic<long> rounds{0};
    std::atomic<bool> was_asked{false};
    std::counting_semaphore<> flows{0};
    job_config config{.name = "feed", .cron = "0 0 0 1 1 ? 2099", .streaming_process = true};
    auto feed = scheduler.schedule(config, dataflow{[&](sharding_context const& ctx) {
                                                        if (++rounds % 100 == 0) flows.release();
                                                        was_asked = was_asked || ctx.stop.stop_requested();
                                                        return std::vector<int>(rounds < rounds_max ? 1 : 0);
                                                    },
                                                    [](sharding_context const&, std::vector<int> const&) {
                                                        std::this_thread::yield();
                                                    }});
    REQUIRE(feed);
    REQUIRE(feed->trigger());
    flows.acquire();

    SUBCASE("shut down") { REQUIRE(feed->shutdown()); }
    SUBCASE("disabled") {
        REQUIRE(feed->disable());
        REQUIRE(feed->wait_idle());
    }
    SUBCASE("streams no more") {
        config.streaming_process = false;
        auto const path = job_layout{job_name::parse("feed").value()}.config();
        REQUIRE(block_on(registry.loop(), registry.set(path, to_json(config))));
        REQUIRE(feed->wait_idle());
    }
    SUBCASE("makes way for the sharding of a Java leader") {
        job_layout const at{job_name::parse("feed").value()};
        std::string const java = "10.0.0.9@-@4711";
        transaction t{registry.session().generation};
        t.create(at.instances() / java, {}, create_mode::ephemeral);
        t.remove(at.leader_instance());
        t.create(at.leader_instance(), java, create_mode::ephemeral);
        t.create(at.sharding_necessary(), {});
        REQUIRE(block_on(registry.loop(), registry.commit(std::move(t))).value());
        REQUIRE(feed->wait_idle());
    }
    CHECK(rounds < rounds_max);
    CHECK_FALSE(was_asked);
}
