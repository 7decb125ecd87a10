// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_EXECUTION_RUN_CHOICE_IPP
#define ELASTICJOB_IMPL_EXECUTION_RUN_CHOICE_IPP

#include <elasticjob/config/retry_policy.hpp>
#include <elasticjob/core/algorithm.hpp>
#include <elasticjob/execution/run_choice.hpp>

#include <string>
#include <utility>

namespace elasticjob::detail {

ELASTICJOB_DECL next_run run_choice::choose(choice_facts const& item) const {
    next_run next{record_draft{item.record}, item.dead, terms_.is_monitored()};
    auto& record = next.record;
    mend(record);
    if (record->running && go_on_with(item.item, next)) return next;
    if (record->resume) { // all else waits, also an order: a stopped run can only be stored in one place
        begin_again(record, &run_record::resume);
    } else if (item.is_adopted) {
        if (record->retry) begin_again(record, &run_record::retry);
    } else if (terms_.run_order > record->obeyed && !terms_.held_from) {
        record.edit().obeyed = terms_.run_order;
        begin(record.edit(), {terms_.ordered_at, run_source::trigger, 1, self_.str(), wall_});
    } else if (item.order) {
        begin(record.edit(), {*item.order, run_source::trigger, 1, self_.str(), wall_});
    } else if (!record->retry) {
        choose_due(item, next);
    } else {
        begin_again(record, &run_record::retry); // until then, due instants wait
    }
    return next;
}

ELASTICJOB_DECL std::optional<wall_time> run_choice::next_look(item_index item, run_record const& record) const {
    if (record.resume) return record.resume->at;
    if (record.retry) return record.retry->at;
    if (!terms_.due->is_per_item() || terms_.held_from) return std::nullopt;
    auto const first = next_instant(record);
    if (!first) return std::nullopt;
    return *first + terms_.due->delay_of(item) - ahead();
}

ELASTICJOB_DECL wall_time run_choice::unrecorded_since(wall_time t) const {
    if (terms_.due->follows()) return terms_.schedule_written ? wall_time{} : terms_.due->last_round();
    if (!terms_.schedule_written || !terms_.is_monitored() || has_java_members_) return t;
    return std::min(t, *terms_.schedule_written);
}

ELASTICJOB_DECL wall_time run_choice::old_schedule_until() const {
    auto const until = unrecorded_since(wall_);
    bool const is_known = terms_.schedule_changed && terms_.is_monitored() && !has_java_members_;
    return is_known ? std::min(until, *terms_.schedule_changed) : until;
}

ELASTICJOB_DECL void run_choice::note_next_due(run_record& record) const {
    auto const own = terms_.due->next_after_end(idle_from(record));
    if (own && (!record.next_due || *own < *record.next_due)) record.next_due = own;
}

ELASTICJOB_DECL void run_choice::mend(record_draft& record) const {
    auto const set = [&](auto run_record::*field, auto const& value) {
        if (*record.*field != value) record.edit().*field = value;
    };
    set(&run_record::through, believable(record->through, wall_));
    // A job that follows another changes over when the rounds of the new one are on record. Until then those of the
    // former one are, and have been handled.
    bool const is_in_effect = !terms_.due->follows() || terms_.due->knows_rounds();
    if (record->schedule != terms_.schedule && is_in_effect) {
        // A schedule may come back: handled instants stay handled, even if this clock is behind that of the instance
        // that handled them.
        set(&run_record::through,
            terms_.due->follows() ? wall_time{} : std::max(record->through, old_schedule_until()));
        record.edit().schedule = terms_.schedule;
    }
    if (auto const t = record->last_completed) set(&run_record::last_completed, std::optional{believable(*t, wall_)});
    auto const is_beyond = [&](auto const& r) { return r && r->at > wall_ + terms_.retry.pause_max + clock_slack; };
    if (is_beyond(record->retry)) record.edit().retry->at = wall_;
    if (record->resume) record.edit().resume->at = believable(record->resume->at, wall_);
}

ELASTICJOB_DECL bool run_choice::go_on_with(item_index item, next_run& next) const {
    auto& record = next.record.edit();
    auto const left = *record.running;
    if (auto const runner = instance_id::parse(left.instance); runner && !(*runner == self_)) next.dead = *runner;
    next.is_failover = terms_.config->config().failover && left.attempt < interruptions_survived(terms_.retry);
    record.end(next.is_failover ? run_outcome::retried : run_outcome::interrupted, wall_);
    if (next.is_failover) {
        begin(record, {left.due, run_source::failover, left.attempt + 1, self_.str(), begin_of(item, left.due)});
    } else {
        record.add_dead_letter(terms_.dead_letters_max);
        next.pending = unwritten::an_end;
    }
    return next.is_failover;
}

ELASTICJOB_DECL void run_choice::choose_due(choice_facts const& item, next_run& next) const {
    pass_over(next, terms_.enabled_since, events::skip_reason::disabled);
    pass_over(next, terms_.resumed_at, events::skip_reason::paused);
    if (!next.untold.empty() && next.is_monitored) return; // written first; then the item chooses again
    auto const own_delay = terms_.due->delay_of(item.item);
    // The rounds of another job have ended, whatever the time on this clock.
    auto come = std::max(wall_, terms_.due->last_round());
    if (terms_.held_from) come = std::min(come, *terms_.held_from);
    auto due = due_until(*next.record, come - own_delay, instants_to_keep(terms_.on_misfire));
    if (due.newest.empty()) {
        if (ahead().count() == 0 || terms_.held_from) return;
        auto const next_due = next_instant(*next.record);
        if (!next_due || *next_due + own_delay > wall_ + ahead()) return;
        due.add(*next_due, 1);
    }
    auto const now = begin_of(item.item, due.newest.back());
    auto& record = next.record.edit();
    auto idle_since = record.last_completed;
    if (idle_since) *idle_since -= own_delay;
    if (terms_.due->follows()) idle_since = item.rounds_at_end; // the leader's clock may differ from ours
    auto const c = decide(due, now - own_delay, idle_since, terms_.on_misfire);
    record.through = c.through;
    if (c.coalesced.count > 0) record.add(not_run(run_outcome::coalesced, c.coalesced, ""));
    if (c.skipped.count > 0) {
        bool const was_told = c.skipped.last <= item.told_through;
        bool const was_busy = was_told || (own_delay.count() != 0 && idle_since && c.skipped.last <= *idle_since);
        auto const why = was_busy ? events::skip_reason::still_running : events::skip_reason::too_late;
        record.add(not_run(run_outcome::skipped, c.skipped, name_of(why)));
        if (!was_told) next.untold.push_back({c.skipped.last, c.skipped.count, why});
        next.pending = unwritten::an_end; // no effect if a run writes it
    }
    if (!c.run || c.coalesced.count + c.skipped.count > 0) next.may_be_others = true;
    if (c.run) begin(record, {*c.run, c.source, 1, self_.str(), now});
}

ELASTICJOB_DECL void run_choice::pass_over(next_run& next, wall_time end, events::skip_reason why) const {
    if (next.record->through >= end) return;
    auto& record = next.record.edit();
    std::uint64_t looks = 0;
    auto const next_due = [&](wall_time t) { return terms_.due->next(t, &looks); };
    auto const missed = due_between(next_due, record.through, end, 1, &looks);
    if (!terms_.due->follows()) record.through = end;
    if (missed.count == 0) return;
    auto const last = missed.newest.back();
    record.through = std::max(record.through, last);
    record.add(not_run(run_outcome::skipped, {last, missed.count}, name_of(why)));
    if (why == events::skip_reason::paused) next.untold.push_back({last, missed.count, why});
    next.pending = unwritten::an_end; // the next owner may not know of that time
    next.may_be_others = true;
}

ELASTICJOB_DECL due_instants run_choice::due_until(run_record const& record, wall_time until, std::size_t keep) const {
    std::uint64_t looks = 0;
    auto const next = [&](wall_time t) { return terms_.due->next(t, &looks); };
    auto found = due_between(next, record.through, until, keep, &looks);
    auto const own = terms_.due->next_after_end(idle_from(record));
    if (own && *own <= until) found.add(*own, keep);
    return found;
}

ELASTICJOB_DECL wall_time run_choice::begin_of(item_index item, wall_time due) const {
    auto const at = due + terms_.due->delay_of(item);
    bool const is_to_come = !terms_.due->follows() && at > wall_ && at - wall_ <= start_ahead_max;
    return is_to_come ? at : wall_;
}

ELASTICJOB_DECL std::optional<wall_time> run_choice::next_instant(run_record const& record) const {
    auto first = terms_.due->next(record.through);
    auto const own = terms_.due->next_after_end(idle_from(record));
    if (own && (!first || *own < *first)) first = own;
    return first;
}

ELASTICJOB_DECL wall_time run_choice::idle_from(run_record const& record) {
    return std::max(record.last_completed.value_or(record.through), record.through);
}

ELASTICJOB_DECL void run_choice::begin(run_record& record, run_begin what) const {
    record.last_begun = what.begun;
    record.running = std::move(what);
    record.next_due = terms_.due->next(record.through);
}

ELASTICJOB_DECL void run_choice::begin_again(record_draft& record, std::optional<run_retry> run_record::*what) const {
    if ((*record.*what)->at > wall_) return;
    auto const again = *std::exchange(record.edit().*what, std::nullopt);
    begin(record.edit(), {again.due, again.source, again.attempt, self_.str(), wall_});
}

ELASTICJOB_DECL run_entry run_choice::not_run(run_outcome outcome, catch_up::group const& which,
                                              std::string_view why) const {
    return {{which.last, run_source::schedule, 1, self_.str(), wall_}, outcome, wall_, which.count, std::string{why}};
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_IMPL_EXECUTION_RUN_CHOICE_IPP
