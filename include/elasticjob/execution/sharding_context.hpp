// SPDX-License-Identifier: Apache-2.0
/// \file \brief The context of one item's run: its description, and the requests that the body can make.
#ifndef ELASTICJOB_EXECUTION_SHARDING_CONTEXT_HPP
#define ELASTICJOB_EXECUTION_SHARDING_CONTEXT_HPP

#include <elasticjob/config/job_config.hpp>
#include <elasticjob/core/clock.hpp>
#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/identity.hpp>
#include <elasticjob/core/loop.hpp> // work
#include <elasticjob/core/result.hpp>
#include <elasticjob/core/task.hpp>
#include <elasticjob/events/script_stream.hpp>
#include <elasticjob/execution/calling_threads.hpp>
#include <elasticjob/execution/run_record.hpp>
#include <elasticjob/execution/stop_reason.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

namespace elasticjob {

namespace detail {

/// The functions of a run that its body may call, as typed trampolines; null if unavailable.
struct run_port {
    stop_order& stop;
    /// Blocks, except on the loop's own thread.
    result<void> (*save_checkpoint)(run_port&, std::string text) = nullptr;
    task<result<void>> (*write_checkpoint)(run_port&, std::string text) = nullptr; ///< on the loop
    /// Gives the job's pool a piece of this run's work. False: the pool is full.
    bool (*submit)(run_port&, work&) = nullptr;
    /// Passes on the body's progress. Threads: any.
    void (*report_progress)(run_port&, std::uint64_t done, std::uint64_t total) = nullptr;
    /// Contains each thread that calls the user's code for this run.
    calling_threads* callers = nullptr;
    std::atomic<std::uint64_t> succeeded{0}, failed{0}; ///< elements, since they were last read
    std::atomic<bool> is_to_yield{false};               ///< a streaming run must end after its present round
    std::atomic<bool> is_to_leave{false};               ///< the body wants the instance to leave the job

    void count(std::uint64_t well, std::uint64_t badly) noexcept;
};

error no_checkpoints(std::string const& job);

/// Receives the lines of a run that become events. Threads: any, while the body runs.
struct line_port {
    void (*tell)(line_port&, script_stream, std::string_view text, std::size_t dropped);
};

} // namespace detail

/// One run, as its body sees it. Valid while the body runs.
struct sharding_context {
    std::string job_name; ///< `job_config::name`
    std::string task_id;  ///< the id of this firing on this instance; contains the job, its items and the instance
    std::uint32_t sharding_total_count = 0; ///< the number of the job's items
    std::string job_parameter;              ///< the same for all items: `job_config::job_parameter`
    item_index item = 0;                    ///< the item to process, from 0
    std::string parameter;                  ///< the item's parameter; empty if it has none
    wall_time due{};                        ///< the instant that this run is for, perhaps in the past
    /// For a job that follows another: the due instant of the followed job's round that caused this run. Nothing for a
    /// manual trigger.
    std::optional<wall_time> after{};
    std::stop_token stop{}; ///< requests the end of the run; a long body should check it

    run_source source = run_source::schedule; ///< the cause of the run
    std::uint32_t attempt = 1; ///< greater than 1 if an earlier run for the same instant failed or did not finish

    /// The fencing token, which grows with every run of an item. Store it with the body's writes, and refuse a write
    /// whose token is smaller than the stored one: then a run that was wrongly taken for dead does no harm. 0 if the
    /// job is not monitored; then there is no such protection.
    std::int64_t token = 0;

    /// The checkpoint that the item's last run saved; empty if there was none.
    std::string last_checkpoint;

    /// The reason for the request in `stop`, or none.
    stop_reason why_stop() const noexcept { return port ? port->stop.why() : stop_reason::none; }

    /// Saves up to 32 KiB of text for the item's next run, on any instance. Returns when the text is in the registry;
    /// on a loop's own thread, as in a simulation, the end of the run writes it. A run that has been asked to stop may
    /// still save, but does not wait once the registry is unreachable or its lease is over. Errors: fenced if another
    /// instance has taken the item over; session_lost if the run was asked to stop and nothing was sent;
    /// unknown_outcome if it was asked to stop meanwhile, so that the checkpoint may be saved or not; too_large;
    /// invalid_argument when the job is not monitored; those of the registry. Threads: the body's; one call at a time.
    result<void> checkpoint(std::string text) const;

    /// Reports progress: `done` of `total`, in any unit; a `total` of 0 means unknown. Costs a lock and returns at
    /// once, so a body may call it for every row. Once a second the library passes the latest report to the event sink
    /// (`events::item_progressed`) and, if the job is monitored, to the item's run record, where `explain` and other
    /// processes find it during the run. A run that ends within a second of its first report writes nothing. An
    /// instance writes at most a hundred reports a second for each job; if more items report, each waits longer. A run
    /// writes none after it has lost its item, or if it cannot reach the registry after it was asked to stop. Threads:
    /// any, while the body runs.
    void progress(std::uint64_t done, std::uint64_t total) const {
        if (port && port->report_progress) port->report_progress(*port, done, total);
    }

    /// Makes this instance leave the job after this run: no run begins here, live runs may finish, and the items go to
    /// other instances. The instance comes back when the job is scheduled again. Threads: any, while the body runs.
    void leave_job() const noexcept {
        if (port) port->is_to_leave = true;
    }

    std::uint32_t fetch_count = 1;     ///< the number of elements per fetch: see job_config::dataflow
    std::uint32_t process_threads = 1; ///< the maximum number of threads that process its data

    /// The configuration at the start of the run; null in a context made by hand, as in a test.
    job_config const* config = nullptr;

    detail::run_port* port = nullptr;   ///< for the library only
    detail::line_port* lines = nullptr; ///< likewise
};

/// In the format of the original: `ShardingContext(jobName=j, taskId=t, shardingTotalCount=2, …)`.
std::string to_string(sharding_context const& c);

} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/execution/sharding_context.ipp>
#endif
#endif // ELASTICJOB_EXECUTION_SHARDING_CONTEXT_HPP
