// SPDX-License-Identifier: Apache-2.0
/// \file \brief What becomes of a run that has ended, and of what it was for: pure decisions.
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
    bool was_refused; ///< by the pool, so that the body was not called
    stop_reason stopped_by;
    events::run_name run;
    std::optional<run_retry> again{}; ///< what is to be tried later

    /// The error handlers are to hear of it: what we have stopped ourselves has not failed.
    bool has_failed() const { return !was_refused && !outcome && !is_by_us(); }

    /// Whether it was asked to stop for reasons of the cluster's, not its own.
    bool is_by_us() const noexcept;
};

/// Keeps to `retry_policy::hourly_max`.
class retry_budget {
public:
    /// Whether one more run may be tried again at `now`; if so, it counts.
    bool take(std::uint32_t hourly_max, mono_time now);

private:
    std::vector<mono_time> taken_at_; ///< in the last hour, if there is a limit
};

/// Whether what a run was for is tried again, and what its record says, by the terms of the job and the clocks of one
/// moment.
class after_run {
public:
    after_run(run_terms const& terms, mono_time now, wall_time wall) noexcept : terms_{terms}, now_{now}, wall_{wall} {}

    /// Nothing if that was the end of it. `record` says that it runs. `seed` spreads the pauses of items and jobs.
    std::optional<run_retry> retry_of(run_record const& record, body_end const& ended, std::uint64_t seed,
                                      retry_budget& budget) const;

    /// Precondition: `ended.again` is what `retry_of` gave.
    void note_end(run_record& record, body_end const& ended) const;

private:
    /// Of a run that the pool has refused. What had been begun before, and was promised another attempt, gets it.
    std::optional<run_retry> put_off(run_record const& record) const;

    /// Of a run that has not come to its end because we have asked it to stop. The item's next owner goes on with it, as
    /// with that of an instance that has died. An item changes hands because members come and go, not because its run failed,
    /// so that is never the end of a run.
    std::optional<run_retry> taken_up_again(run_begin const& what, stop_reason why) const;

    /// Of a run that has failed.
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
