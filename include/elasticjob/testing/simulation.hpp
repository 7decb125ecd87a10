// SPDX-License-Identifier: Apache-2.0
/// \file \brief `simulation`: a cluster of real schedulers in one thread and virtual time. A seed determines every
/// step.
#ifndef ELASTICJOB_TESTING_SIMULATION_HPP
#define ELASTICJOB_TESTING_SIMULATION_HPP

#include <elasticjob/allocation/average.hpp>
#include <elasticjob/config/due_times.hpp>
#include <elasticjob/config/json_codec.hpp>
#include <elasticjob/config/schedule_text.hpp>
#include <elasticjob/execution/simple_executor.hpp>
#include <elasticjob/scheduler/job_scheduler.hpp>
#include <elasticjob/testing/simulated_cluster.hpp>

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace elasticjob::testing {

/// Nodes are machines, numbered from 0. Each runs one process with a scheduler, and another process after a crash. Jobs
/// are numbered in the order in which they are added, and each process joins the jobs of which its node is a member.
///
///     simulation<> s{seed};
///     s.add_job({.name = "settle", .cron = "0/5 * * * * ?", .sharding_total_count = 3},
///               [](sharding_context const&) { return simulated_run{.duration = 2s}; });
///     s.add_nodes(3);
///     s.play(make_fault_plan(seed, 10min, s.targets()));
///     if (!s.violations().empty()) …
///
/// All nodes share the bodies. Threads: one. Do not use it from inside a body. `Hooks` are a scheduler's
/// `Listeners<...>` and `Handlers` its `ErrorHandlers<...>`; each process has a copy of them.
template <sharding_strategy Strategy = AverageAllocation, executor Executor = SimpleExecutor, time_zone Zone = UtcZone,
          class Hooks = Listeners<>, class Handlers = ErrorHandlers<>>
class simulation : public simulated_cluster {
public:
    /// Defined outside the class, so that a program of many files can compile another combination only once: `extern
    /// template class simulation<MyStrategy>;` in all of them, and `template class simulation<MyStrategy>;` in one. The
    /// compiled library contains `simulation<>`.
    explicit simulation(std::uint64_t seed, simulation_options o = {}, Hooks hooks = {}, Handlers handlers = {});

    /// The job's executor may differ from that of the schedulers: `s.add_job<CoroutineExecutor>(config, body)`. The
    /// stored job type is that of the schedulers, so streaming jobs need schedulers with a DataflowExecutor.
    template <executor JobExecutor = Executor, body_in_simulation<JobExecutor> Body>
    void add_job(job_config config, Body body) {
        this->template add<JobExecutor>(std::move(config), std::move(body));
    }

private:
    using scheduler_type = job_scheduler<simulated_registry, Strategy, SimulatedExecutor<Executor>, SimulatedPool, sink,
                                         Zone, Hooks, Handlers>;

    static std::vector<wall_time> find_due(std::string_view config, std::string_view schedule, wall_time after,
                                           wall_time until) {
        auto const stored = from_json(config);
        if (!stored || !*stored) return {};
        auto const whole = with_schedule_text(**stored, schedule);
        if (!whole) return {};
        auto const valid = validate(*whole);
        if (!valid) return {};
        Zone const standard{};
        auto const due = due_times::of(*valid, standard);
        if (!due) return {};
        std::vector<wall_time> all;
        for (auto t = due->next(after); t && *t + whole->jitter <= until; t = due->next(*t)) all.push_back(*t);
        return all;
    }
    static simulated_scheduler make_scheduler(simulated_cluster& self, simulated_registry& r, scheduler_options o,
                                              simulated_workers& workers, sink s) {
        auto const& mine = static_cast<simulation&>(self);
        return simulated_scheduler::make<scheduler_type>(workers, r, std::move(o), SimulatedPool{&workers}, s, Zone{},
                                                         mine.hooks_, mine.handlers_);
    }

    Hooks hooks_;
    Handlers handlers_;
};

template <sharding_strategy Strategy, executor Executor, time_zone Zone, class Hooks, class Handlers>
simulation<Strategy, Executor, Zone, Hooks, Handlers>::simulation(std::uint64_t seed, simulation_options o, Hooks hooks,
                                                                  Handlers handlers)
    : simulated_cluster{seed, std::move(o), &find_due, &make_scheduler},
      hooks_{std::move(hooks)},
      handlers_{std::move(handlers)} {}

} // namespace elasticjob::testing

/// The part of the simulation in the compiled library. It depends on no strategy, executor, listener or handler.
#define ELASTICJOB_SIMULATION_INSTANCES(EXTERN)                                                                        \
    ELASTICJOB_TREE_INSTANCES(EXTERN, testing::simulated_registry);                                                    \
    ELASTICJOB_JOB_SET_INSTANCES(EXTERN, detail::job_environment<testing::simulated_registry>);                        \
    EXTERN template class testing::simulation<>

#if defined(ELASTICJOB_COMPILED)
namespace elasticjob {
template <>
inline constexpr bool detail::is_in_library<detail::job_environment<testing::simulated_registry>> = true;
ELASTICJOB_SIMULATION_INSTANCES(extern);
#if defined(ELASTICJOB_SCHEDULER_JOB_CODE_HPP)
ELASTICJOB_REGISTRY_INSTANCES(extern, testing::simulated_registry);
ELASTICJOB_JOB_INSTANCES(extern, detail::job_environment<testing::simulated_registry>);
#endif
} // namespace elasticjob
#endif
#endif // ELASTICJOB_TESTING_SIMULATION_HPP
