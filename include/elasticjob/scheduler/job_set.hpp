// SPDX-License-Identifier: Apache-2.0
/// \file \brief The jobs of a scheduler: starts them, ends them, and reaches them from any thread.
#ifndef ELASTICJOB_SCHEDULER_JOB_SET_HPP
#define ELASTICJOB_SCHEDULER_JOB_SET_HPP

#include <elasticjob/config/job_config.hpp>
#include <elasticjob/config/validation.hpp>
#include <elasticjob/core/identity.hpp>
#include <elasticjob/core/memory.hpp>
#include <elasticjob/core/random.hpp>
#include <elasticjob/core/task.hpp>
#include <elasticjob/scheduler/job_body.hpp>
#include <elasticjob/scheduler/job_environment.hpp>
#include <elasticjob/scheduler/job_handle.hpp>
#include <elasticjob/scheduler/job_status.hpp>
#include <elasticjob/scheduler/options.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace elasticjob::detail {

/// The jobs of a scheduler: all of it that depends on no type but the registry's.
/// The members are defined in impl/ and included by scheduler/job_code.hpp, because they need the code of jobs.
/// Threads: see the two groups of functions; do not destroy it on the loop.
template <class Environment>
class job_set {
    using Registry = typename Environment::registry_type;
    using Loop = typename Environment::loop_type;
    using lease_type = typename Environment::lease_type;

public:
    using job_type = detail::job<Environment>;
    using job_body = detail::job_body<Loop>;

    job_set(Registry& r, scheduler_options options, guard_ref guard);
    job_set(job_set const&) = delete;
    job_set& operator=(job_set const&) = delete;
    /// All jobs leave in order, at the same time.
    ~job_set();

    /// Sets what the jobs use. Call it once, before the first job. All must outlive this object.
    void provide(pool_ref pool, sink_ref sink, zone_ref zone, strategy_ref strategy, listeners_ref listeners,
                 error_handlers_ref error_handlers);

    // ---- On any thread.

    Registry& registry() const noexcept { return registry_; }
    Loop& loop() const noexcept { return registry_.loop(); }
    scheduler_options const& options() const noexcept { return options_; }

    /// The configuration for the registry: with the name of the strategy if that is not the default. Errors: those of
    /// `validate`, with all problems at once; invalid_argument for wrong options.
    result<valid_config> prepare(job_config config, elasticjob::job_type type) const;

    result<void> check_options() const;

    instance_id make_id();

    /// A handle for a job that has been added. It must not outlive this object.
    job_handle<Environment> handle_of(std::string name) { return {*this, std::move(name)}; }

    /// Starts a job, and returns its name. Errors: those of `prepare`; job_conflict; unreachable; those of the
    /// registry.
    result<std::string> add(job_config config, elasticjob::job_type type, job_body body);

    /// Errors: wrong_thread on the loop.
    result<std::vector<job_status>> list();

    /// Pauses or resumes this server in each job that is not leaving. Returns the first error.
    result<void> set_all_paused(bool paused);

    /// Disables or enables it, likewise.
    result<void> set_all_enabled(bool enabled);

    /// See `job_scheduler::leave_all`.
    void leave_all();

    /// Makes the job leave, without waiting.
    void begin_to_leave(std::string name);

    /// Makes the job leave, without waiting, and removes it from the set.
    void abandon(std::string name);

    // ---- On the loop.

    task<result<std::string>> add_here(job_config config, elasticjob::job_type type, job_body body);

    /// Errors: job_conflict if there is a job of that name.
    result<void> check_is_new(std::string const& name) const;

    /// `is_own`: the configuration is the caller's, not one that was read from the registry.
    task<result<void>> begin(valid_config local, job_body body, bool is_own);

    /// If it is called several times at once, each call waits for the end. Errors: wrong_thread if the job waits for
    /// the caller.
    task<result<void>> end(std::string name, std::thread::id caller = {});

    /// Makes the job leave. Precondition: there is such a job.
    void begin_to_leave_here(std::string const& name);

    /// Waits until the job has left, for whatever reason. Precondition: there is such a job.
    task<void> wait_left(std::string const& name);

    /// Calls `function(job)`, which returns a task. Errors: closed if there is no such job; wrong_thread if the job
    /// waits for `who`; those of the task.
    template <class F>
    static task<result<void>> call(job_set* jobs, std::string name, std::thread::id who, F function);

    static error is_shut_down(std::string const& name);

private:
    using job_switch = task<result<void>> (job_type::*)(bool);

    static std::uint64_t seed_of(scheduler_options const& options);

    /// The problems of a configuration that depend on this scheduler's zones and strategy.
    std::vector<error> problems_here(job_config const& config) const;

    /// The job of that name, which runs; null if there is none.
    std::shared_ptr<job_type> find(std::string const& name) const;

    task<result<std::vector<job_status>>> list_here();
    task<result<void>> switch_each(job_switch member, bool on);

    /// Asks runs with a lapsed lease to stop.
    task<void> watch_lease();

    using jobs = std::vector<std::shared_ptr<job_type>>;
    task<void> leave_together();
    task<result<void>> leave_one_by_one(jobs& all);
    task<void> forget(std::string name);
    task<result<void>> shut_down_all();

    static error awaits_itself(std::string const& name);

    Registry& registry_;
    scheduler_options options_;
    random_source random_;
    std::optional<Environment> environment_;
    std::map<std::string, std::shared_ptr<job_type>> jobs_; ///< on the loop; shared with the calls that use them
    task_scope leaving_;                                    ///< on the loop
    std::optional<lease_type> lease_;                       ///< on the loop
    std::optional<joint_commits<Registry>> commits_;        ///< on the loop
    std::optional<joint_commits<Registry>> beginnings_;     ///< on the loop
    new_job_guess new_jobs_;                                ///< on the loop
    task_scope lease_watch_;                                ///< on the loop
};

} // namespace elasticjob::detail
#endif // ELASTICJOB_SCHEDULER_JOB_SET_HPP
