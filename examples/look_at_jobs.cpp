// SPDX-License-Identifier: Apache-2.0
// How do I look at my jobs in a browser?
//
//   look_at_jobs [SECONDS]    for that many seconds, or until it is interrupted
//
// Three instances share three jobs, and a console shows their work. It needs Boost.Beast and the library crypt. With
// ZooKeeper, `elasticjob console` serves the same page from a process of its own.
#include <elasticjob/console/console_server.hpp>
#include <elasticjob/core/stop_signals.hpp>
#include <elasticjob/elasticjob.hpp>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace elasticjob;
using namespace std::chrono_literals;

job_config const settle{.name = "settle",
                        .cron = "0/5 * * * * ?",
                        .sharding_total_count = 6,
                        .sharding_item_parameters = "0=Beijing,1=Shanghai,2=Guangzhou,3=Shenzhen,4=Hangzhou,5=Chengdu",
                        .description = "Settles the accounts of each region"};
job_config const import{.name = "import",
                        .cron = "0/20 * * * * ?",
                        .sharding_total_count = 12,
                        .description = "Reads what partners have sent"};
job_config const report{.name = "report",
                        .cron = "0 0 6 ? * MON-FRI",
                        .sharding_total_count = 2,
                        .description = "Sends the figures of the day before",
                        .time_zone = "Europe/Berlin"};

result<void> settle_region(sharding_context const& shard) {
    std::this_thread::sleep_for(200ms + 150ms * shard.item);
    bool const is_down = shard.item == 4 && shard.token % 3 == 0;
    if (is_down) return error{errc::job_failed, "the ledger of " + shard.parameter + " refused the connection"};
    return success();
}

/// One of the instances, with all three jobs.
struct instance {
    instance(MemoryRegistry& registry, std::string address)
        : scheduler{registry, {.server_ip = std::move(address)}, NoEvents{}} {
        add(settle, settle_region);
        add(import, [] { std::this_thread::sleep_for(2s); });
        add(report, [] {});
    }
    template <class Body>
    void add(job_config const& config, Body body) {
        auto job = scheduler.schedule(config, body);
        if (job)
            jobs.push_back(*std::move(job));
        else
            std::fprintf(stderr, "%s: %s\n", config.name.c_str(), to_string(job.error()).c_str());
    }

    job_scheduler<MemoryRegistry, AverageAllocation, SimpleExecutor, NoEvents> scheduler;
    std::vector<decltype(scheduler)::handle> jobs{};
};

int main(int count, char** words) {
    stop_signals const signals; // before the first thread
    MemoryRegistry registry, to_b{registry.server()}, to_c{registry.server()};
    instance const a{registry, "10.0.0.1"}, b{to_b, "10.0.0.2"}, c{to_c, "10.0.0.3"};

    auto const console = console_server::start({{"demo", "", registry}});
    if (!console) return std::fprintf(stderr, "%s\n", to_string(console.error()).c_str()), 1;
    std::printf("console: %s\n", console->url().c_str());
    std::fflush(stdout);
    if (count > 1)
        (void)signals.wait_for(std::chrono::seconds{std::atoi(words[1])});
    else
        (void)signals.wait();
} // the console ends first, then the jobs leave in order
