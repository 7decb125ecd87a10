// SPDX-License-Identifier: Apache-2.0
/// \file \brief `job_handle`: one job on this instance, for the program that has scheduled it.
#ifndef ELASTICJOB_SCHEDULER_JOB_HANDLE_HPP
#define ELASTICJOB_SCHEDULER_JOB_HANDLE_HPP

#include <elasticjob/config/job_schedule.hpp>
#include <elasticjob/core/result.hpp>
#include <elasticjob/core/task.hpp>
#include <elasticjob/scheduler/job_status.hpp>

#include <atomic>
#include <string>
#include <utility>
#include <vector>

namespace elasticjob {

namespace detail {

template <class Environment>
class job;

template <class Environment>
class job_set;

template <class Registry>
struct job_environment;

} // namespace detail

/// One job on this instance. The destructor shuts the job down. Move assignment swaps two handles, so the job ends with
/// the other one. Threads: any but the loop's, several at once, except moves. If a handle is destroyed on the
/// loop, or in a body or a hook of its job, the destructor cannot wait, but the job still leaves.
template <class Environment>
class job_handle {
    using job_set = detail::job_set<Environment>;
    using job_type = detail::job<Environment>;

public:
    job_handle(job_handle&& other) noexcept;            ///< leaves `other` without a job
    job_handle& operator=(job_handle&& other) noexcept; ///< swaps the two jobs
    ~job_handle();

    /// The name of its job.
    std::string const& name() const noexcept { return name_; }

    /// Makes all live instances of the job run their items once, now. An item that is running runs once more
    /// afterwards. Returns when the order is in the registry. Errors: those of the registry; closed after `shutdown`.
    result<void> trigger();

    /// The same for coroutines on the registry's loop. The scheduler must outlive the task; the handle need not.
    /// Threads: the loop's: `co_await` it there, or pass it to `start_on` (core/start_on.hpp).
    task<result<void>> async_trigger();

    /// Replaces `cron` and the other schedules of the job in the registry. They determine the next firing of all
    /// members. Time zone, begin, end, exclusions and jitter do not change. Returns when the change is in the registry.
    /// Waits through an outage of the registry for `scheduler_options::start_timeout`. Errors: those of `validate`,
    /// before anything is written; those of the registry; timed_out; version_conflict if others keep writing; closed.
    result<void> reschedule(std::string cron, std::vector<job_schedule> schedules = {});

    /// The same for coroutines on the registry's loop, as `async_trigger`.
    task<result<void>> async_reschedule(std::string cron, std::vector<job_schedule> schedules = {});

    /// The job as this instance sees it now: its state, the owned items, their next due instant. Sends no request.
    /// Errors: closed after `shutdown`; wrong_thread on the loop.
    result<job_status> status() const;

    /// Disables this server, with all its instances, for the job: its items go to other servers. Errors: as `trigger`.
    result<void> disable();

    /// Enables this server again. Errors: as `trigger`.
    result<void> enable();

    /// Pauses this server, with all its instances, in the job: its items stay here, and no run of them begins. Live
    /// runs continue, streams end after their round. Orders and retries wait; due instants are skipped, on record as
    /// `paused`. It stays paused when it restarts. Java members on the server do not know pauses. Waits as
    /// `reschedule`. Errors: as `trigger`; timed_out; too_large if too many servers of the job are paused.
    result<void> pause();

    /// Ends that pause. Waits as `reschedule`. Errors: as `trigger`; timed_out.
    result<void> resume();

    /// Waits for a moment at which no item of this instance runs. Errors: closed after `shutdown`; wrong_thread in a
    /// body or a hook of the job, which would wait for itself.
    result<void> wait_idle();

    /// Begins a `shutdown` and returns at once, so a body, a hook or an event sink may call it. The job leaves when its
    /// runs have ended. Errors: closed after `shutdown`. Threads: any.
    result<void> leave();

    /// Leaves the job in order: starts nothing more, lets runs finish, asks them to stop after the drain time-out,
    /// waits for them, and hands the items over. Further calls wait for the first. Errors: those of the registry,
    /// although the job has ended; wrong_thread on the loop, for example in an event sink, and in a body or a hook of
    /// the job, for which this call would wait. After wrong_thread nothing has changed and the handle keeps the job:
    /// call `leave` there.
    result<void> shutdown();

private:
    friend job_set;
    job_handle(job_set& jobs, std::string name) : jobs_{&jobs}, name_{std::move(name)} {}

    enum class waiting : bool { no, for_runs };
    template <class F>
    result<void> on_loop(F f, waiting w = waiting::no) const;

    std::atomic<job_set*> jobs_; ///< null once the job has ended
    std::string name_;
};

/// The handles of the jobs on such a registry, whatever the other policies of their scheduler are. In the compiled form,
/// a file that only uses handles needs no more than this header, and the name of the registry's class. In the
/// header-only form such a file can keep handles and pass them on; to call them it includes the scheduler's header.
template <class Registry>
using handle_on = job_handle<detail::job_environment<Registry>>;

} // namespace elasticjob
#endif // ELASTICJOB_SCHEDULER_JOB_HANDLE_HPP
