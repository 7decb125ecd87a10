// SPDX-License-Identifier: Apache-2.0
/// \file \brief A job's schedule in addition to the cron expression that Java members know.
#ifndef ELASTICJOB_CONFIG_JOB_SCHEDULE_HPP
#define ELASTICJOB_CONFIG_JOB_SCHEDULE_HPP

#include <elasticjob/core/algorithm.hpp> // find_if
#include <elasticjob/core/chrono.hpp>
#include <elasticjob/core/clock.hpp> // wall_time
#include <elasticjob/core/decl.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace elasticjob {

/// The rounds of another job that count for a job that follows it.
enum class round_end : std::uint8_t {
    completed, ///< rounds in which each item has run and none has failed
    failed,    ///< rounds that are over and in which an item failed, or was interrupted for good
    ended      ///< all rounds that are over
};

/// One of the schedules of a job. Times are truncated to whole milliseconds.
///
/// | made by          | due                                                                                         |
/// |------------------|---------------------------------------------------------------------------------------------|
/// | `by_cron(text)`  | as the expression says, in the job's time zone                                              |
/// | `fixed_rate(s)`  | every so often, counted from `job_config::starts`, or else from 1970-01-01 00:00 UTC        |
/// | `fixed_delay(s)` | so long after the item's last run ended; each item on its own. For the first time, so long  |
/// |                  | after the item was taken up                                                                 |
/// | `once_at(t)`     | at that instant; never, if it has passed when the schedule is written                       |
/// | `once_now()`     | when the schedule is written, by the registry's clock: each item that there is then, once   |
/// | `after_job(j)`   | when a round of the job `j` is over, and came to that end. It stands alone: such a job is   |
/// |                  | due by nothing else                                                                         |
struct job_schedule {
    /// The function that made the schedule, in the table above.
    enum class kind : std::uint8_t { cron, fixed_rate, fixed_delay, once_at, once_now, after_job };

    kind is = kind::cron;              ///< decides which of the other members are used
    std::string expression{};          ///< of `cron`
    std::chrono::milliseconds span{0}; ///< of `fixed_rate` and `fixed_delay`
    wall_time at{};                    ///< of `once_at`
    std::string job{};                 ///< of `after_job`: the followed job
    round_end after{};                 ///< of `after_job`

    /// A Quartz cron expression, which `validate` reads.
    static job_schedule by_cron(std::string text);

    /// Due at a fixed interval, however long the runs take.
    static job_schedule fixed_rate(std::chrono::milliseconds every) { return of_span(kind::fixed_rate, every); }

    /// A pause between the end of a run and the next one.
    static job_schedule fixed_delay(std::chrono::milliseconds pause) { return of_span(kind::fixed_delay, pause); }

    /// One instant.
    static job_schedule once_at(wall_time t);

    /// The instant at which the job is registered.
    static job_schedule once_now();

    /// The end of each round of another job.
    static job_schedule after_job(std::string name, round_end end = round_end::completed);

    friend bool operator==(job_schedule const&, job_schedule const&) = default;

private:
    static job_schedule of_span(kind what, std::chrono::milliseconds length);
};

inline constexpr std::size_t schedules_max = 100;    ///< the most schedules besides `cron` that a job may have
inline constexpr std::size_t exclusions_max = 1'000; ///< the most exclusions that a job may have

/// The schedule that names the followed job, or null.
template <class Schedules>
job_schedule const* find_followed(Schedules const& all) {
    auto const is_it = [](job_schedule const& s) { return s.is == job_schedule::kind::after_job; };
    auto const at = std::find_if(all.begin(), all.end(), is_it);
    return at == all.end() ? nullptr : &*at;
}

} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/config/job_schedule.ipp>
#endif
#endif // ELASTICJOB_CONFIG_JOB_SCHEDULE_HPP
