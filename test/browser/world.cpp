// SPDX-License-Identifier: Apache-2.0
// What the tests of the page look at: a ZooKeeper server with a few thousand jobs, some of which run, and the console on
// loopback. It prints `serves ADDRESS`, then obeys the lines of its standard input, each of which it answers with a line, and
// leaves when there are no more:
//
//     describe JOB TEXT   changes the description in the job's configuration   -> `changed` and the time of day, in milliseconds
//     remove-config JOB   makes the configuration unreadable                   -> as above
#include <elasticjob/elasticjob.hpp>
#include <elasticjob/operations/add_job.hpp>
#include <elasticjob/operations/job_settings.hpp>

#include <support/zk_schedulers.hpp>
#include <support/zk_server.hpp>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

using namespace elasticjob;
using namespace std::chrono_literals;

constexpr int jobs_count = 3'000;
constexpr int items_of_large_job = 10'000;

template <class T>
T checked(result<T> r) {
    if (r) return *std::move(r);
    std::fprintf(stderr, "browser_world: %s\n", to_string(r.error()).c_str());
    std::exit(1);
}

ZkRegistry connect(test::zk_server const& server) {
    return checked(ZkRegistry::connect({.servers = server.endpoint(), .name_space = "billing", .session_timeout = 10s}));
}

std::string name_of_job(int n) {
    char text[16];
    std::snprintf(text, sizeof text, "job-%04d", n);
    return text;
}

/// Jobs that nobody runs, for the list to be long.
void add_idle_jobs(ZkRegistry& r) {
    constexpr int threads_count = 8;
    std::atomic<int> next{0};
    std::vector<std::jthread> threads;
    for (int i = 0; i < threads_count; ++i)
        threads.emplace_back([&] {
            for (int n; (n = next++) < jobs_count;)
                checked(add_job(r, {.name = name_of_job(n),
                                    .cron = n % 2 == 0 ? "0 0/5 9-17 ? * MON-FRI" : "0 30 2 * * ?",
                                    .sharding_total_count = n % 10 + 1,
                                    .description = n % 3 == 0 ? "Settles the accounts of the day before" : "",
                                    .time_zone = n % 4 == 0 ? "Europe/Berlin" : ""}));
        });
}

/// Two servers of one process, with the same jobs.
class member {
    using scheduler_type = test::zk_scheduler<SimpleExecutor>;

public:
    member(test::zk_server const& server, std::string address)
        : registry_{connect(server)}, scheduler_{registry_, options_of(std::move(address)), NoEvents{}} {
        run({.name = "settle", .cron = "0/2 * * * * ?", .sharding_total_count = 10, .failover = true,
             .description = "Settles the accounts"},
            300ms);
        run({.name = "import", .cron = "0 0 3 * * ?", .sharding_total_count = items_of_large_job}, 1ms);
        run({.name = "report", .cron = "0 0 2 * * ?", .sharding_total_count = 4, .time_zone = "America/New_York"}, 60'000ms);
    }

private:
    static scheduler_options options_of(std::string address) {
        scheduler_options o;
        o.server_ip = std::move(address);
        o.drain_timeout = 1s;
        return o;
    }

    /// Item 3 of each job fails.
    void run(job_config config, std::chrono::milliseconds span) {
        auto body = [span](sharding_context const& c) -> result<void> {
            std::mutex m;
            std::condition_variable_any stopped;
            std::unique_lock lock{m};
            stopped.wait_for(lock, c.stop, span, [] { return false; });
            if (c.item == 3) return error{errc::job_failed, "the ledger of 10.2.3.4 refused the connection"};
            return success();
        };
        jobs_.push_back(checked(scheduler_.schedule(std::move(config), body)));
    }

    ZkRegistry registry_;
    scheduler_type scheduler_;
    std::vector<scheduler_type::handle> jobs_{};
};

} // namespace

int main() {
    test::zk_server const server;
    auto registry = connect(server);
    add_idle_jobs(registry);
    member const one{server, "10.0.0.1"};
    member const two{server, "10.0.0.2"};
    std::puts("serves nothing");
    std::fflush(stdout);
    for (std::string line; std::getline(std::cin, line);) std::puts("?");
}
