// SPDX-License-Identifier: Apache-2.0
// check_vtables.sh compiles this file and inspects the object file: all code that a user gets by scheduling jobs is in
// it. Adapters for optional libraries have a file of their own.
#include <elasticjob/elasticjob.hpp>
#include <elasticjob/events/line_events.hpp>
#include <elasticjob/events/metrics_events.hpp>
#include <elasticjob/events/metrics_source.hpp>
#include <elasticjob/events/queued.hpp>
#include <elasticjob/events/registry_metrics.hpp>
#include <elasticjob/events/ring_events.hpp>
#include <elasticjob/events/sinks.hpp>
#include <elasticjob/execution/coroutine_executor.hpp>
#include <elasticjob/execution/dataflow_executor.hpp>
#include <elasticjob/execution/script_executor.hpp>
#include <elasticjob/operations/dump_port.hpp>
#include <elasticjob/registry/measured_registry.hpp>
#include <elasticjob/scheduler/job_catalog.hpp>

#include <string>
#include <vector>

using namespace elasticjob;

/// Everything that a handle can do, for bodies of two types in one scheduler.
template <registry Registry>
bool use_everything(Registry& r) {
    job_scheduler<Registry, AverageAllocation, SimpleExecutor> scheduler{r};
    auto job = scheduler.schedule({.name = "probe", .cron = "0/5 * * * * ?", .sharding_total_count = 3},
                                  [](sharding_context const&) -> result<void> { return success(); });
    auto other = scheduler.schedule({.name = "other", .cron = "0/5 * * * * ?"}, [] {});
    if (!job || !other) return false;
    return job->trigger() && job->disable() && job->enable() && job->wait_idle() && job->shutdown();
}

/// Another strategy, and the optional policies, given instead of chosen by default.
template <registry Registry>
bool use_policies(Registry& r) {
    ThreadPool pool;
    job_scheduler<Registry, RotateServerByName, SimpleExecutor, UtcZone, SharedPool<ThreadPool>, NoEvents> scheduler{
        r, {}, UtcZone{}, SharedPool{pool}, NoEvents{}};
    return scheduler.schedule({.name = "probe", .cron = "0/5 * * * * ?"}, [] {}).has_value();
}

struct hears_all {
    void before(sharding_context const&) const {}
    void after(sharding_context const&, result<void> const&) const {}
    void before_batch(run_batch const&) const {}
    void after_batch(run_batch const&) const {}
    void before_round(job_round const&) const {}
    void after_round(job_round const&) const {}
};

/// A job of one kind, whose events go to all sinks, with listeners and error handlers; and a catalog of such jobs.
template <class Executor, registry Registry, class Body>
bool use_kind(Registry& r, Body body) {
    using lines = JsonLinesEvents<to_descriptor>;
    using sinks = Sinks<LogEvents, RingEvents, MetricsEvents, LogfmtEvents<to_stream>, Queued<lines>>;
    using handlers = ErrorHandlers<LogErrors, IgnoreErrors<>, StopJob>;
    sinks all{LogEvents{}, RingEvents{}, MetricsEvents{}, LogfmtEvents{to_stream{stderr}}, Queued{lines{to_descriptor{2}}}};
    job_scheduler<Registry, AverageAllocation, Executor, sinks, Listeners<hears_all>, handlers> scheduler{
        r, {}, std::move(all), Listeners{hears_all{}}, handlers{LogErrors{}, IgnoreErrors<>{}, StopJob{}}};
    job_catalog catalog{scheduler};
    auto const known = catalog.add("probe", [body](job_config const&) { return body; });
    return known && catalog.follow() &&
        scheduler.schedule({.name = "probe", .cron = "0/5 * * * * ?", .script_command_line = "true"}, body);
}

template <registry Registry>
bool use_kinds(Registry& r) {
    dataflow const flow{[](sharding_context const&) { return std::vector<int>{}; },
                        [](sharding_context const&, std::vector<int> const&) {}};
    auto const coroutine = [](auto const&) -> task<void> { co_return; };
    return use_kind<SimpleExecutor>(r, [] {}) && use_kind<DataflowExecutor>(r, flow) &&
        use_kind<ScriptExecutor>(r, script{{}, EventOutput{}}) &&
        use_kind<CoroutineExecutor>(r, coroutine) && dump_port::start(r, "probe") &&
        !expose(AllMetrics{RegistryMetrics{}, MetricsEvents{}}).empty();
}

// All of its functions. A scheduler on this registry would compile all coordination here.
template class elasticjob::MeasuredRegistry<MemoryRegistry, RegistryMetrics>;

int main() {
    MemoryRegistry memory;
    bool is_good = use_everything(memory) && use_policies(memory);
#ifdef ELASTICJOB_HAS_ZOOKEEPER
    auto zookeeper = ZkRegistry::connect({.servers = "127.0.0.1:2181"});
    is_good = is_good && zookeeper && use_kinds(*zookeeper);
#else
    is_good = is_good && use_kinds(memory);
#endif
    return is_good ? 0 : 1;
}
