// SPDX-License-Identifier: Apache-2.0
/// \file \brief What an item is to be run for next: pure decisions.
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

namespace elasticjob::detail {

/// What a record says that others have to know, though no run of the item writes it down. The larger value wins.
enum class unwritten : std::uint8_t {
    nothing,
    an_end,   ///< of what is not to be run, or not to be run again
    javas_run ///< that of a run which a Java member makes up for
};

/// Instants that are not run.
struct skipped_instants {
    wall_time last{};
    std::uint64_t count = 0;
    events::skip_reason why{};
};

/// What is known of an item that may be run.
struct choice_facts {
    item_index item{};
    run_record const& record;          ///< as it is known
    std::optional<instance_id> dead{}; ///< whose run stands in the registry's record, but not in `record`
    std::optional<wall_time> order{};  ///< when somebody asked this instance to run it
    wall_time told_through{};          ///< due instants up to here were reported to have found it running
    wall_time rounds_at_end{};         ///< the last round of another job that was known when its last run here ended
    bool is_adopted = false;           ///< only what a dead instance has left, and its retries
};

/// The result of choosing an item's next run: what is written with the run or, if nothing is to be run, remembered until
/// something is.
struct next_run {
    run_record record;                 ///< its `running` is what is to be run, if anything is
    std::optional<instance_id> dead{}; ///< whose run the record takes the place of
    bool is_monitored = true;
    bool is_failover = false;
    unwritten owed = unwritten::nothing;
    bool may_be_others = false; ///< an instant is not to be run, and its round may have begun elsewhere
    skipped_instants untold{};  ///< reported once they are on record
};

/// Chooses what an item is run for, by the terms of its job and the clocks of one moment. Choosing changes nothing, so it
/// can be repeated until a choice has been put on record. A value for the time of a decision; it refers to what it was made
/// of.
class run_choice {
public:
    run_choice(run_terms const& terms, instance_id const& self, wall_time wall, bool has_java_members) noexcept
        : terms_{terms},
          self_{self},
          wall_{wall},
          has_java_members_{has_java_members} {}

    /// In this order: what a dead instance has left, what was stopped while something else waits, an order, what failed,
    /// what is due. Precondition: nothing runs.
    next_run choose(choice_facts const& item) const;

    /// When an item has to look again although nothing wakes it: an item that begins at times of its own, or waits to be
    /// tried again. Nothing: never; the job wakes the item when it is due.
    std::optional<wall_time> next_look(item_index item, run_record const& record) const;

    /// Every instant of the present schedule up to this one has been dealt with by an item that has no record of it and was
    /// taken up at `t`.
    wall_time unrecorded_since(wall_time t) const;

    /// Says in a record when the item is due next, now that it has ended a run.
    void note_next_due(run_record& record) const;

private:
    /// Another schedule's instants are none of ours. And a record from the far future was written by a clock that was
    /// wrong; if only by less, nothing is run until it has been caught up with, so that no instant is run twice.
    void mend(run_record& record) const;

    /// What an instance has left that is gone: true if it is to be run once more.
    bool go_on_with(next_run& next) const;

    void choose_due(choice_facts const& item, next_run& next) const;

    void pass_over_disabled_time(next_run& next) const;

    /// The instants after the last that has been dealt with, up to some moment. A fixed delay adds one: it begins when the
    /// item has last ended, or has last been passed over.
    due_instants due_until(run_record const& record, wall_time until, std::size_t keep) const;
    static wall_time idle_from(run_record const& record);

    void begin(run_record& record, run_begin what) const;

    /// Once its time has come.
    void begin_again(run_record& record, std::optional<run_retry>& what) const;

    run_entry not_run(run_outcome outcome, catch_up::group const& which, std::string_view why) const;

    run_terms const& terms_;
    instance_id const& self_;
    wall_time wall_;
    bool has_java_members_; ///< who keep no records
};

} // namespace elasticjob::detail

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/execution/run_choice.ipp>
#endif
#endif // ELASTICJOB_EXECUTION_RUN_CHOICE_HPP
