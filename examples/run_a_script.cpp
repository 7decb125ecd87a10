// SPDX-License-Identifier: Apache-2.0
// How do I run a program that is not written in C++?
//
// With ScriptExecutor: the job's configuration names the program, and each run of an item is a run of that program,
// without a shell in between. The environment describes the item, and so does the last argument, as JSON.
#include <elasticjob/elasticjob.hpp>
#include <elasticjob/execution/script_executor.hpp>

#include <chrono>
#include <cstdio>
#include <semaphore>

using namespace elasticjob;
using namespace std::chrono_literals;

// LogEvents, the default, writes failures to standard error. This sink prints and counts them.
struct show_outcomes {
    std::counting_semaphore<>& runs;

    template <class E>
    void operator()(E const&) const {} // not used here

    void operator()(events::item_finished const& e) const {
        std::printf("item %u: %s\n", e.item, e.failure ? to_string(*e.failure).c_str() : "done");
        runs.release();
    }
};

int main() {
    MemoryRegistry registry;
    std::counting_semaphore<> runs{0};
    job_scheduler<MemoryRegistry, AverageAllocation, ScriptExecutor, show_outcomes> scheduler{
        registry, {}, show_outcomes{runs}};

    // A real command would be "/opt/reports/monthly --verbose". This one fails for Guangzhou.
    char const* const line = "sh -c 'echo report on $ELASTICJOB_SHARDING_PARAMETER, as $0 says; "
                             "test $ELASTICJOB_SHARDING_ITEM != 2 || { echo no data >&2; exit 3; }'";

    auto report = scheduler.schedule({.name = "report",
                                      .cron = "0/1 * * * * ?",
                                      .sharding_total_count = 3,
                                      .sharding_item_parameters = "0=Beijing,1=Shanghai,2=Guangzhou",
                                      .script_command_line = line},
                                     script{{.time_limit = 10min, .grace = 5s}});
    if (!report) {
        std::fprintf(stderr, "%s\n", to_string(report.error()).c_str());
        return 1;
    }

    for (int n = 0; n < 6; ++n)
        if (!runs.try_acquire_for(10s)) return 1;
} // a running program may finish within drain_timeout; then it is stopped
