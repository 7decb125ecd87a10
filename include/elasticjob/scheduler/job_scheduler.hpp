// SPDX-License-Identifier: Apache-2.0
/// \file \brief `job_scheduler`: combines the policies, and starts and ends jobs.
#ifndef ELASTICJOB_SCHEDULER_JOB_SCHEDULER_HPP
#define ELASTICJOB_SCHEDULER_JOB_SCHEDULER_HPP

#include <elasticjob/events/guarded_sink.hpp>
#include <elasticjob/scheduler/job_environment.hpp>
#include <elasticjob/scheduler/job_handle.hpp>
#include <elasticjob/scheduler/job_set.hpp>
#include <elasticjob/scheduler/policies.hpp>

#include <concepts>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace elasticjob {

template <class Scheduler, class Group>
class job_catalog;

template <class Connect, class Make>
class scheduler_group;

namespace detail {

/// Whether a compiled library contains the jobs of that environment.
template <class Environment>
inline constexpr bool is_in_library = false;

template <class Environment>
struct job_code; // job_code.hpp defines it

template <class Environment>
concept has_job_code = is_in_library<Environment> || requires {
    sizeof(job_code<Environment>);
};

} // namespace detail

/// Runs jobs on one instance: any number of them, with bodies of any type.
///
/// | parameter  | concept             | says                                                                   |
/// |------------|---------------------|------------------------------------------------------------------------|
/// | `Registry` | `registry`          | where instances find each other: ZkRegistry, MemoryRegistry            |
/// | `Strategy` | `sharding_strategy` | the owner of each item: AverageAllocation, …                           |
/// | `Executor` | `executor`          | how a body is called: SimpleExecutor, CoroutineExecutor, …             |
/// | `Policies` | any order           | worker_pool (ThreadPool) · event_sink (LogEvents) · time_zone          |
/// |            |                     | (SystemZone) · lease_guard (NoDeadManTimer) · Listeners (none) ·       |
/// |            |                     | ErrorHandlers (none); in parentheses, what is there if nothing is given |
///
/// The registry must outlive the scheduler, and the scheduler its handles. Several schedulers may share one registry
/// and its loop, and also a pool through SharedPool.
/// Threads: any thread except the loop's, except for functions whose names begin with `async_`.
template <registry Registry, sharding_strategy Strategy, executor Executor, class... Policies>
class job_scheduler {
    static_assert((detail::checked_policy<Policies>::value && ...));
    static_assert(detail::has_job_code<detail::job_environment<Registry>>,
                  "the compiled library does not contain the code of jobs for this registry: include "
                  "<elasticjob/scheduler/job_code.hpp>");

    using pool_type = detail::policy_for<detail::pool_slot, Policies...>;
    using sink_type = detail::policy_for<detail::sink_slot, Policies...>;
    using zone_type = detail::policy_for<detail::zone_slot, Policies...>;
    using guard_type = detail::policy_for<detail::guard_slot, Policies...>;
    using listeners_type = detail::policy_for<detail::listeners_slot, Policies...>;
    using error_handlers_type = detail::policy_for<detail::error_handlers_slot, Policies...>;
    using environment = detail::job_environment<Registry>;
    using job_set = detail::job_set<environment>;
    using body_type = typename job_set::job_body;
    using registry_type = Registry;
    using executor_type = Executor;

    template <class Scheduler, class Group>
    friend class job_catalog;
    template <class Connect, class Make>
    friend class scheduler_group;

public:
    /// What `schedule` returns.
    using handle = job_handle<environment>;

    /// Policies are given in the order of the template's pack. Missing ones are default-constructed. Throws
    /// std::system_error if the pool cannot start its threads.
    explicit job_scheduler(Registry& r, scheduler_options options = {},
                           Policies... policies) requires std::default_initializable<Executor>;
    /// With an executor that has state. Each job gets a copy of it.
    job_scheduler(Registry& r, scheduler_options options, Executor executor, Policies... policies);
    job_scheduler(job_scheduler const&) = delete;
    job_scheduler& operator=(job_scheduler const&) = delete;

    /// All jobs leave in order, at the same time: see `handle::shutdown`.
    ~job_scheduler();

    /// Registers a job and runs it. The body is called for each item separately, on several threads at once, or on the
    /// loop if it is a coroutine. The configuration is validated before anything is written, and the registration is
    /// atomic. If a compiler cannot convert the braces to `job_config`, write `job_config{...}`: then it names the
    /// wrong field. Keep the handle, because its destructor ends the job. Errors: those of `validate`, with all
    /// problems at once; invalid_argument for wrong options; job_conflict; unknown_strategy; unreachable if the
    /// registry does not answer within `start_timeout`; no_auth.
    template <class Body>
    requires any_body_for<Body, Executor, typename Registry::loop_type>
    [[nodiscard]] result<handle> schedule(job_config config, Body body) {
        return add(std::move(config), body_type::make(executor_, std::move(body)));
    }

    /// The same for coroutines on the registry's loop. It blocks the loop only while it validates the configuration.
    /// Threads: the loop's: `co_await` it there, or pass it to `start_on` (core/start_on.hpp).
    template <class Body>
    requires any_body_for<Body, Executor, typename Registry::loop_type>
    [[nodiscard]] task<result<handle>> async_schedule(job_config config, Body body) {
        return add_here(std::move(config), body_type::make(executor_, std::move(body)));
    }

    /// All jobs of this scheduler, sorted by name, including those that are joining or leaving. Errors: wrong_thread on
    /// the loop.
    result<std::vector<job_status>> jobs() { return jobs_.list(); }

    /// Pauses this server in all its jobs, as `handle::pause` does in one. Errors: the first error of the registry (the
    /// other jobs are paused all the same); wrong_thread on the loop.
    result<void> pause_all() { return jobs_.set_all_paused(true); }

    /// Ends these pauses. Errors: as `pause_all`.
    result<void> resume_all() { return jobs_.set_all_paused(false); }

    /// Disables this server in all its jobs, as `handle::disable` does in one. Errors: as `pause_all`.
    result<void> disable_all() { return jobs_.set_all_enabled(false); }

    /// Enables this server again in all its jobs. Errors: as `pause_all`.
    result<void> enable_all() { return jobs_.set_all_enabled(true); }

    /// Makes all jobs that have started leave in order, at most 64 at a time, and returns at once. A handle's
    /// `shutdown` and destructor then wait for what is left to do, and until then the scheduler starts no job of that
    /// name. So a process with many jobs ends in a fraction of the time. A job goes on starting runs until its turn
    /// comes. A `job_catalog` goes on starting jobs: stop it first.
    void leave_all() { jobs_.leave_all(); }

    /// Not for use: makes the compiler say why the executor cannot run this body.
    template <class Body>
    requires(!any_body_for<Body, Executor, typename Registry::loop_type>) result<handle> schedule(job_config, Body) {
        detail::check_body<Body, Executor, typename Registry::loop_type>();
        return error{errc::invalid_argument, "the executor cannot run this body"};
    }

    /// Not for use: the same for `async_schedule`.
    template <class Body>
    requires(!any_body_for<Body, Executor, typename Registry::loop_type>) task<result<handle>> async_schedule(
        job_config, Body) {
        detail::check_body<Body, Executor, typename Registry::loop_type>();
        co_return error{errc::invalid_argument, "the executor cannot run this body"};
    }

private:
    template <class T>
    static constexpr bool is_given = (std::is_same_v<T, Policies> || ...);

    /// The policy from the constructor, or a new one.
    template <class Policy, class... Args>
    Policy take(Args const&... args) {
        if constexpr (is_given<Policy>)
            return std::get<Policy>(std::move(given_));
        else
            return Policy{args...};
    }
    result<zone_type> take_zone();
    // Errors: also the time zone's, if it could not be loaded.
    result<handle> add(job_config config, body_type body);
    task<result<handle>> add_here(job_config config, body_type body);

    [[no_unique_address]] Executor executor_;
    std::tuple<Policies...> given_;
    pool_type pool_;
    detail::guarded_sink<sink_type> sink_;
    result<zone_type> zone_;
    listeners_type listeners_;
    error_handlers_type error_handlers_;
    guard_type guard_;
    job_set jobs_; ///< last: it uses all of the above
};

template <registry Registry, sharding_strategy Strategy, executor Executor, class... Policies>
job_scheduler<Registry, Strategy, Executor, Policies...>::job_scheduler(
    Registry& r, scheduler_options options, Policies... policies) requires std::default_initializable<Executor>
    : job_scheduler(r, std::move(options), Executor{}, std::move(policies)...) {}

template <registry Registry, sharding_strategy Strategy, executor Executor, class... Policies>
job_scheduler<Registry, Strategy, Executor, Policies...>::job_scheduler(Registry& r, scheduler_options options,
                                                                        Executor executor, Policies... policies)
    : executor_(std::move(executor)),
      given_{std::move(policies)...},
      pool_(take<pool_type>(options.pool)),
      sink_(take<sink_type>()),
      zone_(take_zone()),
      listeners_(take<listeners_type>()),
      error_handlers_(take<error_handlers_type>()),
      guard_(take<guard_type>()),
      jobs_{r, std::move(options), detail::guard_ref{guard_}} {
    if (zone_)
        jobs_.provide(detail::pool_ref{pool_}, detail::sink_ref{sink_}, *zone_, detail::strategy_ref::of<Strategy>(),
                      detail::listeners_ref{listeners_}, detail::error_handlers_ref{error_handlers_});
}

template <registry Registry, sharding_strategy Strategy, executor Executor, class... Policies>
job_scheduler<Registry, Strategy, Executor, Policies...>::~job_scheduler() = default;

template <registry Registry, sharding_strategy Strategy, executor Executor, class... Policies>
auto job_scheduler<Registry, Strategy, Executor, Policies...>::take_zone() -> result<zone_type> {
    if constexpr (is_given<zone_type>)
        return std::get<zone_type>(std::move(given_));
    else
        return zone_type::load();
}

template <registry Registry, sharding_strategy Strategy, executor Executor, class... Policies>
auto job_scheduler<Registry, Strategy, Executor, Policies...>::add(job_config config, body_type body)
    -> result<handle> {
    if (!zone_) return zone_.error();
    ELASTICJOB_TRY(auto name, jobs_.add(std::move(config), Executor::type, std::move(body)));
    return jobs_.handle_of(std::move(name));
}

template <registry Registry, sharding_strategy Strategy, executor Executor, class... Policies>
auto job_scheduler<Registry, Strategy, Executor, Policies...>::add_here(job_config config, body_type body)
    -> task<result<handle>> {
    if (!zone_) co_return zone_.error();
    ELASTICJOB_CO_TRY(auto name, co_await jobs_.add_here(std::move(config), Executor::type, std::move(body)));
    co_return jobs_.handle_of(std::move(name));
}

} // namespace elasticjob

#if defined(ELASTICJOB_COMPILED)
#include <elasticjob/scheduler/instances.hpp>
#else
#include <elasticjob/scheduler/job_code.hpp>
#endif
#endif // ELASTICJOB_SCHEDULER_JOB_SCHEDULER_HPP
