// SPDX-License-Identifier: Apache-2.0
// What a run of an item costs when its body does nothing: through each executor, with records and marks and without, on
// the in-memory registry and in virtual time, so that nothing is waited for. 100 items are due each second, and each
// second is one transaction to begin and one to end them. Beside it the floor: handing as many empty functions to a
// loop and back.
//
// Columns: CPU time of a second of 100 runs; `per_run` the same for one run; requests and allocations for one run,
// which do not jitter. A script's time is that of its process, and is measured by the wall clock; a process alone
// stands beside it. HttpExecutor is in http_executor.cpp.
#include "empty_job.hpp"

#include <elasticjob/execution/coroutine_executor.hpp>
#include <elasticjob/execution/dataflow_executor.hpp>
#include <elasticjob/execution/script_executor.hpp>
#include <elasticjob/execution/simple_executor.hpp>

#include <benchmark/benchmark.h>

#include <spawn.h>
#include <sys/wait.h>

#include <vector>

namespace {

using namespace elasticjob;
using namespace elasticjob::bench;

void simple(benchmark::State& state) {
    run_empty_job<SimpleExecutor>(state, 100, state.range(0) != 0, [](sharding_context const&) {});
}
void coroutine(benchmark::State& state) {
    run_empty_job<CoroutineExecutor>(state, 100, state.range(0) != 0,
                                     [](coroutine_context<virtual_loop> const&) -> task<void> { co_return; });
}
void dataflow_of_one(benchmark::State& state) {
    run_empty_job<DataflowExecutor>(state, 100, state.range(0) != 0,
                                    dataflow{[](sharding_context const&) { return std::vector<int>{1}; },
                                             [](sharding_context const&, std::vector<int> const&) {}});
}
void script_true(benchmark::State& state) { run_empty_job<ScriptExecutor>(state, 1, true, script{}, "/bin/true"); }

/// The floor of the first three.
void empty_functions(benchmark::State& state) {
    virtual_loop loop{wall_time{}};
    LoopPool<virtual_loop> pool{loop};
    double runs = 0, allocations = 0;
    auto const nothing = []() -> result<void> { return success(); };
    auto const call = [&]() -> task<void> { (void)co_await run_on(pool, loop, nothing); };
    for (auto _ : state) {
        auto const before = counted_new::calls;
        task_scope scope;
        for (int i = 0; i < 100; ++i) scope.spawn(call());
        loop.run_ready();
        allocations += static_cast<double>(counted_new::calls - before);
        runs += 100;
    }
    report(state, runs, 0, allocations);
}

/// The floor of the last.
void process_true(benchmark::State& state) {
    double runs = 0;
    for (auto _ : state) {
        char name[] = "true";
        char* arguments[] = {name, nullptr};
        pid_t child = 0;
        if (posix_spawn(&child, "/bin/true", nullptr, nullptr, arguments, nullptr) != 0)
            return state.SkipWithError("/bin/true cannot be started");
        waitpid(child, nullptr, 0);
        ++runs;
    }
    report(state, runs, 0, 0);
}

BENCHMARK(empty_functions);
BENCHMARK(simple)->ArgName("monitored")->Arg(1)->Arg(0);
BENCHMARK(coroutine)->ArgName("monitored")->Arg(1)->Arg(0);
BENCHMARK(dataflow_of_one)->ArgName("monitored")->Arg(1)->Arg(0);
BENCHMARK(process_true)->UseRealTime();
BENCHMARK(script_true)->UseRealTime();

} // namespace
