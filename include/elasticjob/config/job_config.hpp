// SPDX-License-Identifier: Apache-2.0
/// \file \brief What a job is: its schedule, its sharding items and how it is to be run.
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

/// What the body of a job looks like: called once per run; fetch and process in turns; a command line.
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

/// The class that every script job has in the registry, whatever language its members are written in.
inline constexpr std::string_view script_job_class = "com.dangdang.ddframe.job.api.script.ScriptJob";

/// The handlers that Java members use unless told otherwise.
inline constexpr std::string_view default_job_exception_handler =
    "com.dangdang.ddframe.job.executor.handler.impl.DefaultJobExceptionHandler";
inline constexpr std::string_view default_executor_service_handler =
    "com.dangdang.ddframe.job.executor.handler.impl.DefaultExecutorServiceHandler";

/// What stands in the registry for the cron expression of a job that has other schedules only: Java members, who must
/// find one, are not due by it before 2099.
inline constexpr std::string_view no_cron = "0 0 0 1 1 ? 2099";

/// The configuration of one job, as its members share it in the registry. Only `name`, and `cron` or `schedules`, have no
/// default.
/// Nothing is checked here: see `validate` in config/validation.hpp. The registry's name of a member, which is also
/// Java's, stands in brackets where it is not simply the same words in camelCase.
struct job_config {
    /// What the job is called [jobName]: one element of a registry path.
    std::string name{};

    /// When it fires: a Quartz cron expression of six or seven fields, five fields as in Unix's crontab, or a name as
    /// `@daily`. The registry always has six or seven, for Java members. May be empty if there are `schedules`.
    std::string cron{};

    /// Into how many items it is cut, numbered from 0.
    int sharding_total_count = 1;

    /// What each item is given: `0=Beijing,1=Shanghai`.
    std::string sharding_item_parameters{};

    /// What every item is given.
    std::string job_parameter{};

    /// Whether items that die with their instance are run again at once elsewhere. Needs `monitor_execution`: without
    /// it nothing is run again, as with Java members, and a `trouble` event tells of it.
    bool failover = false;

    /// Whether a run that was missed, because the one before took too long, is made up for.
    bool misfire = true;

    /// For people.
    std::string description{};

    /// Which program this is. The members of a job must agree on it; to share a job with Java members, give the name of
    /// the Java class. Script jobs have `script_job_class` there, whatever this says.
    std::string job_class = "elasticjob.Job";

    /// What the body looks like [jobType].
    job_type type = job_type::simple;

    /// The Java class that is given what a body throws [jobProperties.job_exception_handler]. For Java members only.
    std::string job_exception_handler{default_job_exception_handler};

    /// The Java class that makes the thread pool [jobProperties.executor_service_handler]. For Java members only.
    std::string executor_service_handler{default_executor_service_handler};

    /// Whether a run goes on fetching until there is nothing left. Dataflow jobs only.
    bool streaming_process = false;

    /// The program that is run for each item, and its first arguments. Script jobs only.
    std::string script_command_line{};

    /// Whether the registry knows what is running: required by failover and misfire, and what makes two runs of one
    /// item exclude each other. To be switched off for jobs that run every few seconds and may overlap.
    bool monitor_execution = true;

    /// By how many seconds a member's clock may differ from the registry's; -1 does not check. A check is one request
    /// before the runs that an instance begins together. See `on_wrong_clock`.
    int max_time_diff_seconds = -1;

    /// The TCP port on which a member answers a dump of the job; -1 listens nowhere. A Java member opens it by itself; here
    /// it is open as long as what `open_monitor_port` gives lives: operations/dump_port.hpp.
    int monitor_port = -1;

    /// The Java class that decides who owns which item; empty for average allocation.
    std::string job_sharding_strategy_class{};

    /// How often, in minutes, the leader looks whether the items' nodes say what it has assigned, whatever the watches have
    /// told: two requests, and one for each item. Less than 1 never does.
    int reconcile_interval_minutes = 10;

    /// Whether an instance starts out disabled: registered, but without items until somebody enables it.
    bool disabled = false;

    /// Whether this configuration replaces the one in the registry when a member starts.
    bool overwrite = false;

    // What follows is in the registry where Java members do not look: they go by `cron`, in their own time zone.

    /// What else it is due by, besides `cron`. What several have due at one instant is due once.
    std::vector<job_schedule> schedules{};

    /// The IANA zone whose wall clock counts, `Europe/Berlin`; empty for that of the scheduler's policy.
    std::string time_zone{};

    /// What becomes of due times that clocks skip or show twice.
    civil_policy on_clock_change{};

    wall_time starts = wall_time::min(); ///< nothing is due before it
    wall_time ends = wall_time::max();   ///< nothing is due after it

    /// Nothing is due while the wall clock shows any of these: a date (`2026-12-25`), days of the week as in a cron
    /// expression (`SAT,SUN`), or a whole cron expression that names the seconds meant (`* * 0-7 * * ?`).
    std::vector<std::string> excluded{};

    /// Each item begins later by a time of its own, from 0 up to this, always the same: it follows from the names of job
    /// and item. The due instant is the one without it.
    std::chrono::milliseconds jitter{0};

    /// Which labels the items need: `0-9=gpu,12=ssd zone=a,*=linux` [ext/labels]. Only for strategies that go by them, as
    /// LabelAllocation. As the rest, it counts if the job is new, or with `overwrite`; else what is in the registry does.
    std::string item_labels{};

    // What follows is this instance's own, and not in the registry.

    /// How missed runs are made up for; with `misfire` false they are dropped, whatever this says.
    misfire_policy on_misfire{};

    /// After this time a run is asked to stop; 0 is never.
    std::chrono::milliseconds run_time_limit{0};

    /// After this time a run is given up; 0 is never. It has failed with `timed_out` then, and its item may be run again,
    /// with a new fencing token, though the body may go on: what that does does not count any more. Its thread is not free
    /// before the body ends, and nor can the job be shut down. More than `run_time_limit`.
    std::chrono::milliseconds give_up_after{0};

    /// Whether a run that failed is tried again.
    retry_policy retry{};

    /// How many runs that failed for good are kept for each item, the last ones, until an operator sees to them: see
    /// operations/dead_letters.hpp. Needs `monitor_execution`. Up to 50; each makes the item's record 100 to 300 bytes longer.
    std::uint32_t dead_letters_max = 5;

    /// What follows when the clock differs by more than `max_time_diff_seconds`.
    clock_rule on_wrong_clock = clock_rule::skip;

    /// Dataflow jobs only.
    dataflow_options dataflow{};

    friend bool operator==(job_config const&, job_config const&) = default;
};

/// Gives a configuration that was read in the registry what is an instance's own.
void take_own_terms(job_config& config, job_config const& own);

} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/config/job_config.ipp>
#endif
#endif // ELASTICJOB_CONFIG_JOB_CONFIG_HPP
