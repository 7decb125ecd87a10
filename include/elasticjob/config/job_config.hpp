// SPDX-License-Identifier: Apache-2.0
/// \file \brief The configuration of a job: its schedule, its sharding items, and how it runs.
#ifndef ELASTICJOB_CONFIG_JOB_CONFIG_HPP
#define ELASTICJOB_CONFIG_JOB_CONFIG_HPP

#include <elasticjob/config/clock_rule.hpp>
#include <elasticjob/config/dataflow_options.hpp>
#include <elasticjob/config/job_schedule.hpp>
#include <elasticjob/config/misfire_policy.hpp>
#include <elasticjob/config/retry_policy.hpp>
#include <elasticjob/core/decl.hpp>
#include <elasticjob/cron/civil_policy.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace elasticjob {

/// The form of a job's body: a function, a pair of functions that fetch and process, or a command line.
enum class job_type : std::uint8_t { simple, dataflow, script };

/// The name of a type in the registry.
constexpr std::string_view name_of(job_type type) noexcept {
    switch (type) {
    case job_type::simple:
        return "SIMPLE";
    case job_type::dataflow:
        return "DATAFLOW";
    case job_type::script:
        return "SCRIPT";
    }
    return "unknown";
}

/// The class of every script job in the registry, for Java and C++ members alike.
inline constexpr std::string_view script_job_class = "com.dangdang.ddframe.job.api.script.ScriptJob";

/// The handlers that Java members use by default.
inline constexpr std::string_view default_job_exception_handler =
    "com.dangdang.ddframe.job.executor.handler.impl.DefaultJobExceptionHandler";
inline constexpr std::string_view default_executor_service_handler =
    "com.dangdang.ddframe.job.executor.handler.impl.DefaultExecutorServiceHandler";

/// The cron expression in the registry of a job that has only other schedules. Java members need an expression; this
/// one is not due before 2099.
inline constexpr std::string_view no_cron = "0 0 0 1 1 ? 2099";

/// The configuration of one job, which its members share in the registry. Only `name`, and `cron` or `schedules`, have
/// no default. This type checks nothing: see `validate` in config/validation.hpp. If the name of a member in the
/// registry, which is also Java's name, is not the same in camelCase, it follows in brackets.
struct job_config {
    /// The name of the job [jobName]: one element of a registry path.
    std::string name{};

    /// The times at which the job is due: a Quartz cron expression with six or seven fields, one with five fields as in
    /// Unix's crontab, or a name such as `@daily`. The registry always contains six or seven fields, for Java members.
    /// May be empty if there are `schedules`.
    std::string cron{};

    /// The number of sharding items. They are numbered from 0.
    int sharding_total_count = 1;

    /// A parameter for each item: `0=Beijing,1=Shanghai`.
    std::string sharding_item_parameters{};

    /// A parameter for all items.
    std::string job_parameter{};

    /// Whether another instance runs an item again at once if the item's own instance dies during the run. Needs
    /// `monitor_execution`. Without that no item is run again, as on Java members, and a `trouble` event reports it.
    bool failover = false;

    /// Whether missed due instants are run later: see `on_misfire`.
    bool misfire = true;

    /// A text for people.
    std::string description{};

    /// The program that the job runs. All members of a job must have the same class. To share a job with Java members,
    /// set the name of the Java class. Script jobs always have `script_job_class` in the registry.
    std::string job_class = "elasticjob.Job";

    /// The form of the body [jobType]. The executor sets it.
    job_type type = job_type::simple;

    /// The Java class that handles the exceptions of a body [jobProperties.job_exception_handler]. For Java members
    /// only.
    std::string job_exception_handler{default_job_exception_handler};

    /// The Java class that creates the thread pool [jobProperties.executor_service_handler]. For Java members only.
    std::string executor_service_handler{default_executor_service_handler};

    /// Whether a run fetches again until there is no more data. Dataflow jobs only.
    bool streaming_process = false;

    /// The program for each item, and its first arguments. Script jobs only.
    std::string script_command_line{};

    /// Whether runs are recorded in the registry. Failover and misfire need these records, which also prevent two runs
    /// of one item at the same time. Switch this off for jobs that run every few seconds and may overlap.
    bool monitor_execution = true;

    /// The maximum difference, in seconds, between a member's clock and the registry's; -1: no check. A check takes one
    /// request for all runs that an instance starts together. See `on_wrong_clock`.
    int max_time_diff_seconds = -1;

    /// The TCP port on which a member serves a dump of the job; -1: none. Only a Java member opens it by itself; a C++
    /// member needs a call of `open_monitor_port` (operations/dump_port.hpp).
    int monitor_port = -1;

    /// The name of the sharding strategy, which is also the name of its Java class; empty for average allocation.
    std::string job_sharding_strategy_class{};

    /// The interval, in minutes, at which the leader compares the items' nodes with the assignment, in case a watch has
    /// missed a change. Takes two or three requests, and one more for each item. Beside Java members it also does so
    /// 10 s after an election or a sharding. Less than 1: never.
    int reconcile_interval_minutes = 10;

    /// Whether an instance starts disabled: it registers, but gets no items until it is enabled.
    bool disabled = false;

    /// Whether this configuration replaces the one in the registry when a member starts.
    bool overwrite = false;

    // Java members do not read the nodes of the following members. They use only `cron`, in their own time zone.

    /// Further schedules. If several schedules name the same instant, the job is due once.
    std::vector<job_schedule> schedules{};

    /// The IANA zone of the schedules, `Europe/Berlin`; empty for the zone of the scheduler's policy.
    std::string time_zone{};

    /// The rules for due instants that the wall clock skips or shows twice.
    civil_policy on_clock_change{};

    wall_time starts = wall_time::min(); ///< nothing is due before this instant
    wall_time ends = wall_time::max();   ///< nothing is due after this instant

    /// The job is not due while the wall clock shows one of these: a date (`2026-12-25`), days of the week as in a cron
    /// expression (`SAT,SUN`), or a cron expression, which excludes every second that it names (`* * 0-7 * * ?`).
    std::vector<std::string> excluded{};

    /// The maximum delay of an item's start. Each item has a constant delay between 0 and this, which depends on the
    /// job's name and the item's number. The due instant does not include the delay.
    std::chrono::milliseconds jitter{0};

    /// The labels that the items need: `0-9=gpu,12=ssd zone=a,*=linux` [ext/labels]. Only for strategies that use them,
    /// such as LabelAllocation. Like the rest of the configuration, they take effect if the job is new or with
    /// `overwrite`; otherwise the registry's value is in force.
    std::string item_labels{};

    // The following members apply to this instance only and are not in the registry.

    /// The rule for missed due instants. If `misfire` is false, they are dropped in any case.
    misfire_policy on_misfire{};

    /// The library asks a run to stop this long after it has given its body to the pool; 0: never.
    std::chrono::milliseconds run_time_limit{0};

    /// The library gives a run up after this time; 0: never. The run fails with `timed_out`, and its item may run again
    /// with a new fencing token. The body may continue, but its result no longer counts. Its thread stays busy until
    /// the body ends, and the job cannot be shut down before that. Must be more than `run_time_limit`.
    std::chrono::milliseconds give_up_after{0};

    /// The rule for retries of a failed run.
    retry_policy retry{};

    /// The number of dead letters that the library keeps for each item until an operator handles them: see
    /// operations/dead_letters.hpp. Needs `monitor_execution`. At most 50; each dead letter takes 100 to 300 bytes of
    /// the item's record.
    std::uint32_t dead_letters_max = 5;

    /// The rule for this instance if its clock differs by more than `max_time_diff_seconds`.
    clock_rule on_wrong_clock = clock_rule::skip;

    /// Dataflow jobs only.
    dataflow_options dataflow{};

    friend bool operator==(job_config const&, job_config const&) = default;
};

namespace detail {

/// Calls `visit(name, member...)` with each of an instance's own terms, in one configuration or side by side in
/// several.
template <class Visit, class... Config>
void for_each_own_term(Visit visit, Config&... c) {
    visit("on_misfire", c.on_misfire...);
    visit("run_time_limit", c.run_time_limit...);
    visit("give_up_after", c.give_up_after...);
    visit("retry", c.retry...);
    visit("dead_letters_max", c.dead_letters_max...);
    visit("on_wrong_clock", c.on_wrong_clock...);
    visit("dataflow", c.dataflow...);
}

} // namespace detail

/// Copies the members that are not in the registry from `own` to a configuration that was read from there.
void take_own_terms(job_config& config, job_config const& own);

} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/config/job_config.ipp>
#endif
#endif // ELASTICJOB_CONFIG_JOB_CONFIG_HPP
