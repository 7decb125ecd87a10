// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_EXECUTION_AFTER_RUN_IPP
#define ELASTICJOB_IMPL_EXECUTION_AFTER_RUN_IPP

#include <elasticjob/config/retry_policy.hpp>
#include <elasticjob/core/algorithm.hpp>
#include <elasticjob/execution/after_run.hpp>

namespace elasticjob::detail {

ELASTICJOB_DECL bool body_end::is_by_us() const noexcept {
    return stopped_by == stop_reason::session_lost || stopped_by == stop_reason::lease_over ||
           stopped_by == stop_reason::reassigned || stopped_by == stop_reason::draining;
}

ELASTICJOB_DECL bool retry_budget::take(std::uint32_t hourly_max, mono_time now) {
    if (hourly_max == 0) return true;
    std::erase_if(taken_at_, [&](mono_time t) { return t + std::chrono::hours{1} <= now; });
    if (taken_at_.size() >= hourly_max) return false;
    taken_at_.push_back(now);
    return true;
}

ELASTICJOB_DECL std::optional<run_retry> after_run::retry_of(run_record const& record, body_end const& ended,
                                                             std::uint64_t seed, retry_budget& budget) const {
    auto const& what = *record.running;
    if (ended.was_refused) return put_off(record);
    if (ended.outcome || ended.stopped_by == stop_reason::ordered) return std::nullopt;
    if (ended.is_by_us()) return taken_up_again(what, ended.stopped_by);
    if (record.retry) return std::nullopt; // an order that came in between has failed: the waiting run continues
    return next_attempt(what, seed, budget);
}

ELASTICJOB_DECL void after_run::note_end(run_record& record, body_end const& ended) const {
    if (ended.outcome) {
        record.end(run_outcome::completed, wall_);
    } else if (ended.again) {
        record.end_for_retry(wall_, to_string(ended.outcome.error()), *ended.again);
    } else if (ended.was_refused) {
        bool const was_tried_before = record.running->attempt > 1;
        record.end(run_outcome::skipped, wall_, std::string{name_of(events::skip_reason::overloaded)});
        if (was_tried_before) record.add_dead_letter(terms_.dead_letters_max);
    } else {
        auto const outcome = ended.is_by_us() ? run_outcome::interrupted : run_outcome::failed;
        record.end(outcome, wall_, to_string(ended.outcome.error()));
        if (ended.stopped_by != stop_reason::ordered) record.add_dead_letter(terms_.dead_letters_max);
    }
}

ELASTICJOB_DECL std::optional<run_retry> after_run::put_off(run_record const& record) const {
    auto const& what = *record.running;
    if (what.attempt == 1) return std::nullopt;
    auto const pause = record.was_put_off() ? 10 * refusal_pause : refusal_pause;
    return run_retry{what.due, what.source, what.attempt, wall_ + pause};
}

ELASTICJOB_DECL std::optional<run_retry> after_run::taken_up_again(run_begin const& what, stop_reason why) const {
    bool const is_wanted = (terms_.config->config().failover || terms_.retry.attempts_max > 1) &&
                           what.attempt < interruptions_survived(terms_.retry);
    if (!is_wanted && why != stop_reason::reassigned) return std::nullopt;
    return run_retry{what.due, what.source, what.attempt + 1, wall_};
}

ELASTICJOB_DECL std::optional<run_retry> after_run::next_attempt(run_begin const& what, std::uint64_t seed,
                                                                 retry_budget& budget) const {
    auto const& policy = terms_.retry;
    if (what.attempt >= policy.attempts_max) return std::nullopt;
    if (!budget.take(policy.hourly_max, now_)) return std::nullopt;
    auto const pause = pause_before(policy, what.attempt + 1, seed);
    return run_retry{what.due, what.source, what.attempt + 1, wall_ + pause};
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_IMPL_EXECUTION_AFTER_RUN_IPP
