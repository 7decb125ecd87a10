// SPDX-License-Identifier: Apache-2.0
/// \file \brief What the body of a job is told about the run of one item, and what it can say in return.
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

/// The run that a body belongs to, as far as the body may reach it. Typed trampolines; null: there is no such thing.
struct run_port {
    stop_order& stop;
    /// Blocks, but on the loop's own thread.
    result<void> (*save_checkpoint)(run_port&, std::string text) = nullptr;
    task<result<void>> (*write_checkpoint)(run_port&, std::string text) = nullptr; ///< on the loop
    /// Has the job's pool do a piece of work of this run. False: the pool takes no more.
    bool (*submit)(run_port&, work&) = nullptr;
    /// Hands on how far the body has come. Any thread.
    void (*report_progress)(run_port&, std::uint64_t done, std::uint64_t total) = nullptr;
    std::atomic<std::uint64_t> succeeded{0}, failed{0}; ///< elements, since somebody last looked
    std::atomic<bool> is_to_yield{false}; ///< what streams is to end behind the round that it is in
    std::atomic<bool> is_to_leave{false}; ///< the body wants the instance to leave the job

    void count(std::uint64_t well, std::uint64_t badly) noexcept;
};

error no_checkpoints(std::string const& job);

/// Where the lines of a run go that are to be events. Threads: any, while the body runs.
struct line_port {
    void (*tell)(line_port&, script_stream, std::string_view text, std::size_t dropped);
};

} // namespace detail

/// One run, as its body sees it. Valid while the body runs.
struct sharding_context {
    std::string job_name; ///< `job_config::name`
    std::string task_id; ///< of this firing on this instance: names the job, all its items, the instance
    std::uint32_t sharding_total_count = 0; ///< how many items the job has
    std::string job_parameter;              ///< the same for all items: `job_config::job_parameter`
    item_index item = 0;                    ///< the item to be worked on, from 0
    std::string parameter;  ///< the item's own; empty if it has none
    wall_time due{};        ///< the instant that this run is for, which may be earlier than now
    /// Of a job that follows another: the due instant of the round of that job which this run is for. Nothing if it was
    /// triggered.
    std::optional<wall_time> after{};
    std::stop_token stop{}; ///< says when to come to an end; a body that takes long should look at it

    run_source source = run_source::schedule; ///< why it is run
    std::uint32_t attempt = 1; ///< greater than 1 when a run for the same instant did not come to its end, or failed

    /// The fencing token: every run of an item has a greater one than the runs before. Store it with whatever the body
    /// writes, and refuse a write whose token is smaller than the one stored: then a run that was taken for dead and
    /// lives on cannot do harm. 0 when the job is not monitored, and nothing is promised then.
    std::int64_t token = 0;

    /// What the item's last run saved; empty if there was none.
    std::string last_checkpoint;

    /// Why `stop` asks, or none.
    stop_reason why_stop() const noexcept { return port ? port->stop.why() : stop_reason::none; }

    /// Saves up to 32 KiB of text for the item's next run, on whichever instance that is: how far this one has come.
    /// Returns when the registry has it; on a loop's own thread, as in a simulation, it is written with the end of the
    /// run. A run that has been asked to stop may still save, but does not wait once the registry cannot be reached or
    /// its lease is over. Errors: fenced if another instance has taken the item over; session_lost if the run was asked
    /// to stop and nothing was sent; unknown_outcome if it was asked to stop meanwhile, and the checkpoint may or may
    /// not be saved; too_large; invalid_argument when the job is not monitored; those of the registry. Threads: the
    /// body's; one call at a time.
    result<void> checkpoint(std::string text) const;

    /// Reports how far this run has come: `done` of `total`, in units of the body's own; a `total` of 0 is not known. Costs a
    /// lock and returns at once, so a body may call it for every row: what it reports last is passed on once a second, to the
    /// event sink (`events::item_progressed`) and, if the job is monitored, to the item's run record, where `explain` and
    /// other processes find it while the run goes on. A run that ends within a second of its first report writes nothing.
    /// An instance writes at most a hundred reports a second for each job; if more items report, each waits longer. A run that has lost
    /// its item, or cannot reach the registry after it was asked to stop, writes none. Threads: any, while the body runs.
    void progress(std::uint64_t done, std::uint64_t total) const {
        if (port && port->report_progress) port->report_progress(*port, done, total);
    }

    /// This instance leaves the job once this run has ended: nothing more begins here, what runs may finish, and the items go to
    /// other instances. It comes back when the job is scheduled again. Threads: any, while the body runs.
    void leave_job() const noexcept {
        if (port) port->is_to_leave = true;
    }

    std::uint32_t fetch_count = 1;     ///< how much a dataflow is asked to fetch at a time: see job_config::dataflow
    std::uint32_t process_threads = 1; ///< by how many threads at most its data is to be processed

    /// What the run was begun by; null where a context was made by hand, as in a test.
    job_config const* config = nullptr;

    detail::run_port* port = nullptr;   ///< the library's own
    detail::line_port* lines = nullptr; ///< likewise
};

/// As the original prints it: `ShardingContext(jobName=j, taskId=t, shardingTotalCount=2, …)`.
std::string to_string(sharding_context const& c);

} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/execution/sharding_context.ipp>
#endif
#endif // ELASTICJOB_EXECUTION_SHARDING_CONTEXT_HPP
