// SPDX-License-Identifier: Apache-2.0
/// \file \brief Decides what follows the end of a run: pure functions.
#ifndef ELASTICJOB_EXECUTION_AFTER_RUN_HPP
#define ELASTICJOB_EXECUTION_AFTER_RUN_HPP

#include <elasticjob/core/chrono.hpp>
#include <elasticjob/core/clock.hpp>
#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/identity.hpp>
#include <elasticjob/core/result.hpp>
#include <elasticjob/events/event.hpp>
#include <elasticjob/execution/run_record.hpp>
#include <elasticjob/execution/run_terms.hpp>
#include <elasticjob/execution/stop_reason.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace elasticjob::detail {

/// How the call of a body ended.
struct body_end {
    result<void> outcome;
    bool was_refused; ///< the pool refused the call, so the body was not called
    stop_reason stopped_by;
    events::run_name run;
    std::optional<run_retry> again{}; ///< the run that is to be retried later

    /// Whether the error handlers are called. A run that the library has stopped has not failed.
    bool has_failed() const { return !was_refused && !outcome && !is_by_us(); }

    /// Whether the run was asked to stop for a reason of the cluster, not of the job.
    bool is_by_us() const noexcept;
};

/// Enforces `retry_policy::hourly_max`.
class retry_budget {
public:
    /// Whether one more run may be retried at `now`. If so, it is counted.
    bool take(std::uint32_t hourly_max, mono_time now);

private:
    std::vector<mono_time> taken_at_; ///< the retries of the last hour, if there is a limit
};

/// Decides whether a run is retried, and what its record says, by the terms of the job and the clocks of one moment.
class after_run {
public:
    after_run(run_terms const& terms, mono_time now, wall_time wall) noexcept : terms_{terms}, now_{now}, wall_{wall} {}

    /// The retry, or nothing if there is none. `record` still contains the run. `seed` varies the pauses between items
    /// and jobs.
    std::optional<run_retry> retry_of(run_record const& record, body_end const& ended, std::uint64_t seed,
                                      retry_budget& budget) const;

    /// Precondition: `ended.again` is the result of `retry_of`.
    void note_end(run_record& record, body_end const& ended) const;

private:
    /// The retry of a run that the pool has refused: a repeated run keeps the attempt that it was promised.
    std::optional<run_retry> put_off(run_record const& record) const;

    /// The retry of a run that did not finish because the library asked it to stop. The item's next owner repeats it,
    /// like the run of an instance that has died. An item moves because members come and go, not because its run
    /// failed, so a move never makes a run fail for good.
    std::optional<run_retry> taken_up_again(run_begin const& what, stop_reason why) const;

    /// The retry of a run that has failed.
    std::optional<run_retry> next_attempt(run_begin const& what, std::uint64_t seed, retry_budget& budget) const;

    static constexpr std::chrono::milliseconds refusal_pause{1'000};

    run_terms const& terms_;
    mono_time now_;
    wall_time wall_;
};

} // namespace elasticjob::detail

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/execution/after_run.ipp>
#endif
#endif // ELASTICJOB_EXECUTION_AFTER_RUN_HPP
