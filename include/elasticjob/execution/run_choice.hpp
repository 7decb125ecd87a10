// SPDX-License-Identifier: Apache-2.0
/// \file \brief Chooses what an item runs for next: pure functions.
#ifndef ELASTICJOB_EXECUTION_RUN_CHOICE_HPP
#define ELASTICJOB_EXECUTION_RUN_CHOICE_HPP

#include <elasticjob/core/clock.hpp>
#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/identity.hpp>
#include <elasticjob/events/event.hpp>
#include <elasticjob/execution/misfire.hpp>
#include <elasticjob/execution/run_record.hpp>
#include <elasticjob/execution/run_terms.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace elasticjob::detail {

/// A pending change of the record that no run of the item writes. The larger value wins.
enum class unwritten : std::uint8_t {
    nothing,
    an_end,   ///< the end of a run that is not started, or not repeated
    javas_run ///< the end of a run that a Java member makes up for
};

/// Instants that are not run.
struct skipped_instants {
    wall_time last{};
    std::uint64_t count = 0;
    events::skip_reason why{};
};

/// The facts about an item that may run.
struct choice_facts {
    item_index item{};
    run_record const& record;          ///< as it is known
    std::optional<instance_id> dead{}; ///< the instance whose run is in the registry's record, but not in `record`
    std::optional<wall_time> order{};  ///< when this instance was ordered to run it
    wall_time told_through{};          ///< due instants up to here were reported to have found it running
    wall_time rounds_at_end{};         ///< the last round of another job that was known when its last run here ended
    bool is_adopted = false;           ///< only runs that a dead instance has left, and their retries
};

/// A record that is copied when it is first edited, because most choices change nothing. Until then it refers to the
/// known record.
class record_draft {
public:
    explicit record_draft(run_record const& known) noexcept : known_{&known} {}

    run_record const& operator*() const noexcept { return edited_ ? *edited_ : *known_; }
    run_record const* operator->() const noexcept { return &**this; }

    run_record& edit() { return edited_ ? *edited_ : edited_.emplace(*known_); }

    /// Moves the edits, if there are any, into the known record.
    void keep_in(run_record& known) {
        if (edited_) known = *std::move(edited_);
    }

private:
    run_record const* known_;
    std::optional<run_record> edited_{};
};

/// The result of choosing an item's next run. It is written with the run or, if no run is chosen, kept until the next
/// one.
struct next_run {
    record_draft record;               ///< its `running` is the chosen run, if any
    std::optional<instance_id> dead{}; ///< the instance whose run the record replaces
    bool is_monitored = true;
    bool is_failover = false;
    unwritten pending = unwritten::nothing;
    bool may_be_others = false;             ///< an instant is not run, and its round may have begun elsewhere
    std::vector<skipped_instants> untold{}; ///< reported once they are on record
};

/// Chooses what an item runs for, by the terms of its job and the clocks of one moment. Choosing has no effects, so it
/// can be repeated until a choice is on record. A value for one decision; it refers to its arguments.
class run_choice {
public:
    run_choice(run_terms const& terms, instance_id const& self, wall_time wall, bool has_java_members) noexcept
        : terms_{terms},
          self_{self},
          wall_{wall},
          has_java_members_{has_java_members} {}

    /// In this order: a run that a dead instance has left, a run that was stopped while a retry waits, an order, a
    /// retry, a due instant. Precondition: the item is not running.
    next_run choose(choice_facts const& item) const;

    /// When an item must check again although nothing wakes it: an item that starts at times of its own, or waits for a
    /// retry. Nothing: never, because the job wakes the item when it is due.
    std::optional<wall_time> next_look(item_index item, run_record const& record) const;

    /// For an item without a record that was taken up at `t`: every instant of the present schedule up to the result
    /// counts as handled.
    wall_time unrecorded_since(wall_time t) const;

    /// For an item whose record belongs to another schedule: every instant of the present one up to the result counts
    /// as handled.
    wall_time old_schedule_until() const;

    /// Writes the item's next due instant into its record, after the end of a run.
    void note_next_due(run_record& record) const;

private:
    /// Drops the instants of another schedule. A record from the far future was written by a wrong clock. If the
    /// difference is small, no instant runs until this clock has caught up, so that no instant runs twice.
    void mend(record_draft& record) const;

    /// Handles a run that an absent instance has left: true if it is to be repeated.
    bool go_on_with(item_index item, next_run& next) const;

    void choose_due(choice_facts const& item, next_run& next) const;

    /// Skips the instants up to the end of a time in which an operator allowed no run.
    void pass_over(next_run& next, wall_time end, events::skip_reason why) const;

    /// The unhandled instants up to `until`. A fixed delay adds one, counted from the item's last end or last skipped
    /// instant.
    due_instants due_until(run_record const& record, wall_time until, std::size_t keep) const;
    /// The first instant that is not handled.
    std::optional<wall_time> next_instant(run_record const& record) const;
    static wall_time idle_from(run_record const& record);

    /// When the body of a run that is requested now begins: at the instant, if it is still to come.
    wall_time begin_of(item_index item, wall_time due) const;
    std::chrono::milliseconds ahead() const { return terms_.ahead(has_java_members_); }

    void begin(run_record& record, run_begin what) const;

    /// Applies when its time has come. `what`: `retry` or `resume`, which is set.
    void begin_again(record_draft& record, std::optional<run_retry> run_record::*what) const;

    run_entry not_run(run_outcome outcome, catch_up::group const& which, std::string_view why) const;

    run_terms const& terms_;
    instance_id const& self_;
    wall_time wall_;
    bool has_java_members_; ///< they keep no records
};

} // namespace elasticjob::detail

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/execution/run_choice.ipp>
#endif
#endif // ELASTICJOB_EXECUTION_RUN_CHOICE_HPP
