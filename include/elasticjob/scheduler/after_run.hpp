// SPDX-License-Identifier: Apache-2.0
/// \file \brief What becomes of a run that has ended, and of what it was for.
#ifndef ELASTICJOB_SCHEDULER_AFTER_RUN_HPP
#define ELASTICJOB_SCHEDULER_AFTER_RUN_HPP

#include <elasticjob/config/retry_policy.hpp>
#include <elasticjob/core/chrono.hpp>
#include <elasticjob/core/clock.hpp>
#include <elasticjob/core/hash.hpp>
#include <elasticjob/core/result.hpp>
#include <elasticjob/events/event.hpp>
#include <elasticjob/execution/run_record.hpp>
#include <elasticjob/execution/stop_reason.hpp>
#include <elasticjob/scheduler/job_site.hpp>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace elasticjob::detail {

/// How the call of a body ended.
template <class Environment>
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

/// Whether what a run was for is tried again, and what its record says. Threads: the loop's.
template <class Environment>
class after_run {
    using site = job_site<Environment>;
    using body_end = detail::body_end<Environment>;

public:
    explicit after_run(site& s) : site_{s} {}

    /// Nothing if that was the end of it. `record` says that it runs.
    std::optional<run_retry> retry_of(item_index i, run_record const& record, body_end const& ended);

    /// Precondition: `ended.again` is what `retry_of` gave.
    void note_end(run_record& record, body_end const& ended) const;

private:
    /// Of a run that the pool has refused. What had been begun before, and was promised another attempt, gets it.
    std::optional<run_retry> put_off(run_record const& record) const;

    /// Of a run that has not come to its end because we have asked it to stop. Who owns the item goes on with it, as with that
    /// of an instance that has died. Nobody but the members' coming and going is to blame for an item's changing hands, so
    /// that is never the end of a run.
    std::optional<run_retry> taken_up_again(run_begin const& what, stop_reason why) const;

    /// Of a run that has failed.
    std::optional<run_retry> next_attempt(item_index i, run_begin const& what);

    static constexpr std::chrono::milliseconds refusal_pause{1'000};

    site& site_;
    std::vector<mono_time> retried_at_; ///< in the last hour, if there is a limit
};

template <class Environment>
bool body_end<Environment>::is_by_us() const noexcept {
    return stopped_by == stop_reason::session_lost || stopped_by == stop_reason::lease_over ||
           stopped_by == stop_reason::reassigned || stopped_by == stop_reason::draining;
}

template <class Environment>
std::optional<run_retry> after_run<Environment>::retry_of(item_index i, run_record const& record,
                                                          body_end const& ended) {
    auto const& what = *record.running;
    if (ended.was_refused) return put_off(record);
    if (ended.outcome || ended.stopped_by == stop_reason::ordered) return std::nullopt;
    if (ended.is_by_us()) return taken_up_again(what, ended.stopped_by);
    if (record.retry) return std::nullopt; // an order that has come between has failed: what waits goes on
    return next_attempt(i, what);
}

template <class Environment>
void after_run<Environment>::note_end(run_record& record, body_end const& ended) const {
    auto const wall = site_.wall_now();
    auto const dead_letters_max = site_.terms.dead_letters_max;
    if (ended.outcome) {
        record.end(run_outcome::completed, wall);
    } else if (ended.again) {
        record.end_for_retry(wall, to_string(ended.outcome.error()), *ended.again);
    } else if (ended.was_refused) {
        bool const was_tried_before = record.running->attempt > 1;
        record.end(run_outcome::skipped, wall, std::string{name_of(events::skip_reason::overloaded)});
        if (was_tried_before) record.bury(dead_letters_max);
    } else {
        auto const outcome = ended.is_by_us() ? run_outcome::interrupted : run_outcome::failed;
        record.end(outcome, wall, to_string(ended.outcome.error()));
        if (ended.stopped_by != stop_reason::ordered) record.bury(dead_letters_max);
    }
}

template <class Environment>
std::optional<run_retry> after_run<Environment>::put_off(run_record const& record) const {
    auto const& what = *record.running;
    if (what.attempt == 1) return std::nullopt;
    auto const pause = record.was_put_off() ? 10 * refusal_pause : refusal_pause;
    return run_retry{what.due, what.source, what.attempt, site_.wall_now() + pause};
}

template <class Environment>
std::optional<run_retry> after_run<Environment>::taken_up_again(run_begin const& what, stop_reason why) const {
    auto const& terms = site_.terms;
    bool const is_wanted = (terms.config->config().failover || terms.retry.attempts_max > 1) &&
                           what.attempt < interruptions_survived(terms.retry);
    if (!is_wanted && why != stop_reason::reassigned) return std::nullopt;
    return run_retry{what.due, what.source, what.attempt + 1, site_.wall_now()};
}

template <class Environment>
std::optional<run_retry> after_run<Environment>::next_attempt(item_index i, run_begin const& what) {
    auto const& policy = site_.terms.retry;
    if (what.attempt >= policy.attempts_max) return std::nullopt;
    if (policy.hourly_max > 0) {
        auto const now = site_.now();
        std::erase_if(retried_at_, [&](mono_time t) { return t + std::chrono::hours{1} <= now; });
        if (retried_at_.size() >= policy.hourly_max) return std::nullopt;
        retried_at_.push_back(now);
    }
    auto const pause = pause_before(policy, what.attempt + 1, mix_bits(fnv_1a(site_.name.str()) + i));
    return run_retry{what.due, what.source, what.attempt + 1, site_.wall_now() + pause};
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_SCHEDULER_AFTER_RUN_HPP
