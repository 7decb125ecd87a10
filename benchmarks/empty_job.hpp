// SPDX-License-Identifier: Apache-2.0
/// \file \brief Jobs whose bodies take no time, on the in-memory registry and in virtual time, for any executor.
#ifndef ELASTICJOB_BENCHMARKS_EMPTY_JOB_HPP
#define ELASTICJOB_BENCHMARKS_EMPTY_JOB_HPP

#include "../test/support/counted_new.hpp"

#include <elasticjob/allocation/average.hpp>
#include <elasticjob/core/virtual_loop.hpp>
#include <elasticjob/registry/memory_registry.hpp>
#include <elasticjob/scheduler/job_code.hpp> // for the compiled form, which has no jobs in virtual time

#include <benchmark/benchmark.h>

#include <chrono>
#include <string>
#include <utility>

namespace elasticjob::bench {

using namespace std::chrono_literals;
using registry_type = basic_memory_registry<virtual_loop>;

/// Columns: the time of a run; requests and allocations of one, the latter on this thread.
inline void report(benchmark::State& state, double runs, double requests, double allocations) {
    using benchmark::Counter;
    state.counters["per_run"] = Counter(runs, Counter::kIsRate | Counter::kInvert);
    if (requests > 0) state.counters["requests"] = requests / runs;
    state.counters["allocations"] = allocations / runs;
}

/// One job of the given number of items; the body takes no time.
template <class Executor, class Body>
void run_empty_job(benchmark::State& state, int items, bool is_monitored, Body body, std::string command = {}) {
    virtual_loop loop{wall_time{std::chrono::seconds{1'767'225'600}}};
    basic_memory_server<virtual_loop> server{loop};
    registry_type registry{server};
    job_scheduler<registry_type, AverageAllocation, Executor, LoopPool<virtual_loop>, NoEvents, UtcZone> scheduler{
        registry, {}, LoopPool<virtual_loop>{loop}, NoEvents{}, UtcZone{}};
    auto const job = scheduler.schedule({.name = "bench",
                                         .cron = "* * * * * ?",
                                         .sharding_total_count = items,
                                         .script_command_line = std::move(command),
                                         .monitor_execution = is_monitored},
                                        std::move(body));
    if (!job) return state.SkipWithError(to_string(job.error()).c_str());
    loop.run_for(10s);
    server.counts() = {};
    double runs = 0, allocations = 0;
    for (auto _ : state) {
        auto const before = counted_new::calls;
        loop.run_for(1s);
        allocations += static_cast<double>(counted_new::calls - before);
        runs += items;
    }
    report(state, runs, static_cast<double>(server.counts().all()), allocations);
}

} // namespace elasticjob::bench
#endif // ELASTICJOB_BENCHMARKS_EMPTY_JOB_HPP
