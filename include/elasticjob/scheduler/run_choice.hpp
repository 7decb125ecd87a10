// SPDX-License-Identifier: Apache-2.0
/// \file \brief What an item is to be run for next.
#ifndef ELASTICJOB_SCHEDULER_RUN_CHOICE_HPP
#define ELASTICJOB_SCHEDULER_RUN_CHOICE_HPP

#include <elasticjob/config/retry_policy.hpp>
#include <elasticjob/core/algorithm.hpp>
#include <elasticjob/core/chrono.hpp>
#include <elasticjob/core/clock.hpp>
#include <elasticjob/events/event.hpp>
#include <elasticjob/execution/misfire.hpp>
#include <elasticjob/execution/run_record.hpp>
#include <elasticjob/scheduler/item_state.hpp>
#include <elasticjob/scheduler/job_site.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace elasticjob::detail {

/// What is known of an item once it has been looked what is to be run: what is to be written with the run or, where
/// nothing is to be run, to be remembered until something is.
template <class Environment>
struct next_run {
    run_record record;                 ///< of which `running` is what is to be run, if anything is
    std::optional<instance_id> dead{}; ///< whose run the record takes the place of
    bool is_monitored = true;
    bool is_failover = false;
    unwritten owed = unwritten::nothing;
    bool may_be_others = false; ///< an instant is not to be run, of which the round may have begun elsewhere
    skipped_instants untold{};  ///< to be reported once they are on record
};

/// Decides from the record, the clock and the terms of the job, and tells nobody: it may have to be decided anew. Threads:
/// the loop's.
template <class Environment>
class run_choice {
    using site = job_site<Environment>;
    using item_state = detail::item_state<Environment>;
    using next_run = detail::next_run<Environment>;

public:
    explicit run_choice(site& s) : site_{s} {}

    /// What a dead instance has left, what was stopped while something else waits, an order, what failed, what is due; in
    /// this order. Precondition: nothing runs.
    next_run choose(item_state const& e) const;

    /// When an item that begins at times of its own, or waits to be tried again, has to look again, though nothing stirs. The
    /// others are told by the job.
    mono_time next_look(item_state const& e) const;

    /// Up to when nothing of the present schedule has been dealt with by an item that says nothing of it, and was taken up
    /// at `t`.
    wall_time unrecorded_since(wall_time t) const;

    /// Says in a record when the item is due next, now that it has ended a run.
    void note_next_due(run_record& record) const;

private:
    auto& terms() const noexcept { return site_.terms; }

    /// Another schedule's instants are none of ours. And a record from the far future was written by a clock that was
    /// wrong; if only by less, nothing is run until it has been caught up with, so that no instant is run twice.
    void mend(run_record& record, wall_time wall) const;

    /// What an instance has left that is gone: true if it is to be run once more.
    bool go_on_with(next_run& next, wall_time wall) const;

    void choose_due(item_state const& e, next_run& next, wall_time wall) const;

    void pass_over_disabled_time(next_run& next, wall_time wall) const;

    /// The instants after the last that has been dealt with, up to some moment. A fixed delay adds one: it begins when the
    /// item has last ended, or has last been passed over.
    auto due_until(run_record const& record, wall_time until, std::size_t keep) const {
        std::uint64_t looks = 0;
        auto const next = [&](wall_time t) { return terms().due->next(t, &looks); };
        auto found = due_between(next, record.through, until, keep, &looks);
        auto const own = terms().due->next_after_end(idle_from(record));
        if (own && *own <= until) found.add(*own, keep);
        return found;
    }
    static wall_time idle_from(run_record const& record);

    void begin(run_record& record, run_begin what) const;

    /// Once its time has come.
    void begin_again(run_record& record, std::optional<run_retry>& what, wall_time wall) const;

    run_entry not_run(run_outcome outcome, catch_up::group const& which, std::string_view why) const;

    /// In a minute at the latest, for clocks are put forward.
    mono_time moment_of(wall_time t) const;

    static constexpr std::chrono::hours clock_slack{1};

    site& site_;
};

template <class Environment>
auto run_choice<Environment>::choose(item_state const& e) const -> next_run {
    auto const wall = site_.wall_now();
    next_run next{e.record, e.dead_instance(), terms().is_monitored()};
    auto& record = next.record;
    mend(record, wall);
    if (record.running && go_on_with(next, wall)) return next;
    if (record.resume) { // all else waits, also an order: there is one place for what is stopped
        begin_again(record, record.resume, wall);
    } else if (terms().run_order > record.obeyed) {
        record.obeyed = terms().run_order;
        begin(record, {terms().ordered_at, run_source::trigger, 1, site_.self.str(), wall});
    } else if (e.order) {
        begin(record, {*e.order, run_source::trigger, 1, site_.self.str(), wall});
    } else if (!record.retry) {
        choose_due(e, next, wall);
    } else {
        begin_again(record, record.retry, wall); // until then, what is due waits
    }
    return next;
}

template <class Environment>
mono_time run_choice<Environment>::next_look(item_state const& e) const {
    if (e.record.resume) return moment_of(e.record.resume->at);
    if (e.record.retry) return moment_of(e.record.retry->at);
    if (!terms().due->is_per_item()) return mono_time::max();
    auto first = terms().due->next(e.record.through);
    auto const own = terms().due->next_after_end(idle_from(e.record));
    if (own && (!first || *own < *first)) first = own;
    if (!first) return mono_time::max();
    return moment_of(*first + terms().due->delay_of(e.item));
}

template <class Environment>
wall_time run_choice<Environment>::unrecorded_since(wall_time t) const {
    if (terms().due->follows()) return terms().schedule_written ? wall_time{} : terms().due->last_round();
    if (!terms().schedule_written || !terms().is_monitored() || site_.has_java_members()) return t;
    return std::min(t, *terms().schedule_written);
}

template <class Environment>
void run_choice<Environment>::note_next_due(run_record& record) const {
    auto const own = terms().due->next_after_end(idle_from(record));
    if (own && (!record.next_due || *own < *record.next_due)) record.next_due = own;
}

template <class Environment>
void run_choice<Environment>::mend(run_record& record, wall_time wall) const {
    if (record.through > wall + clock_slack) record.through = wall;
    // A schedule may come back: what has been dealt with stays so, though this clock is behind that of who did it.
    if (record.schedule != terms().schedule)
        record.through = terms().due->follows() ? wall_time{} : std::max(record.through, unrecorded_since(wall));
    if (record.last_completed && *record.last_completed > wall + clock_slack) record.last_completed = wall;
    if (record.retry && record.retry->at > wall + terms().retry.pause_max + clock_slack) record.retry->at = wall;
    if (record.resume && record.resume->at > wall + clock_slack) record.resume->at = wall;
    record.schedule = terms().schedule;
}

template <class Environment>
bool run_choice<Environment>::go_on_with(next_run& next, wall_time wall) const {
    auto& record = next.record;
    auto const left = *record.running;
    if (auto const who = instance_id::parse(left.instance); who && !(*who == site_.self)) next.dead = *who;
    next.is_failover = terms().config->config().failover && left.attempt < interruptions_survived(terms().retry);
    record.end(next.is_failover ? run_outcome::retried : run_outcome::interrupted, wall);
    if (next.is_failover) {
        begin(record, {left.due, run_source::failover, left.attempt + 1, site_.self.str(), wall});
    } else {
        record.bury(terms().dead_letters_max);
        next.owed = unwritten::an_end;
    }
    return next.is_failover;
}

template <class Environment>
void run_choice<Environment>::choose_due(item_state const& e, next_run& next, wall_time wall) const {
    auto& record = next.record;
    pass_over_disabled_time(next, wall);
    auto const own_delay = terms().due->delay_of(e.item);
    // Rounds of another job have ended, whatever this clock says.
    auto const come = std::max(wall, terms().due->last_round());
    auto const due = due_until(record, come - own_delay, instants_to_keep(terms().on_misfire));
    if (due.newest.empty()) return;
    auto idle_since = record.last_completed;
    if (idle_since) *idle_since -= own_delay;
    if (terms().due->follows()) idle_since = e.rounds_at_end; // the leader's clock may be another one than ours
    auto const c = decide(due, wall - own_delay, idle_since, terms().on_misfire);
    record.through = c.through;
    if (c.coalesced.count > 0) record.add(not_run(run_outcome::coalesced, c.coalesced, ""));
    if (c.skipped.count > 0) {
        bool const was_told = c.skipped.last <= e.told_through;
        bool const was_busy = was_told || (own_delay.count() != 0 && idle_since && c.skipped.last <= *idle_since);
        auto const why = was_busy ? events::skip_reason::still_running : events::skip_reason::too_late;
        record.add(not_run(run_outcome::skipped, c.skipped, name_of(why)));
        if (!was_told) next.untold = {c.skipped.last, c.skipped.count, why};
        next.owed = unwritten::an_end; // of no effect if a run writes it
    }
    if (c.run)
        begin(record, {*c.run, c.source, 1, site_.self.str(), wall});
    else
        next.may_be_others = true;
}

template <class Environment>
void run_choice<Environment>::pass_over_disabled_time(next_run& next, wall_time wall) const {
    auto& record = next.record;
    if (terms().enabled_since > wall + clock_slack) terms().enabled_since = wall; // by a clock that was wrong
    auto const since = terms().enabled_since;
    if (record.through >= since) return;
    std::uint64_t looks = 0;
    auto const next_due = [&](wall_time t) { return terms().due->next(t, &looks); };
    auto const missed = due_between(next_due, record.through, since, 1, &looks);
    if (!terms().due->follows()) record.through = since;
    if (missed.count == 0) return;
    record.through = std::max(record.through, missed.newest.back());
    record.add(
        not_run(run_outcome::skipped, {missed.newest.back(), missed.count}, name_of(events::skip_reason::disabled)));
    next.owed = unwritten::an_end; // the next owner knows nothing of the disabled time
}

template <class Environment>
wall_time run_choice<Environment>::idle_from(run_record const& record) {
    return std::max(record.last_completed.value_or(record.through), record.through);
}

template <class Environment>
void run_choice<Environment>::begin(run_record& record, run_begin what) const {
    record.last_begun = what.begun;
    record.running = std::move(what);
    record.next_due = terms().due->next(record.through);
}

template <class Environment>
void run_choice<Environment>::begin_again(run_record& record, std::optional<run_retry>& what, wall_time wall) const {
    if (what->at > wall) return;
    auto const again = *std::exchange(what, std::nullopt);
    begin(record, {again.due, again.source, again.attempt, site_.self.str(), wall});
}

template <class Environment>
run_entry run_choice<Environment>::not_run(run_outcome outcome, catch_up::group const& which,
                                           std::string_view why) const {
    auto const wall = site_.wall_now();
    return {
        {which.last, run_source::schedule, 1, site_.self.str(), wall}, outcome, wall, which.count, std::string{why}};
}

template <class Environment>
mono_time run_choice<Environment>::moment_of(wall_time t) const {
    auto const left = t - site_.loop().wall_now();
    return site_.now() +
           std::clamp<std::chrono::nanoseconds>(left, std::chrono::milliseconds{1}, std::chrono::minutes{1});
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_SCHEDULER_RUN_CHOICE_HPP
