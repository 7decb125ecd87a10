// SPDX-License-Identifier: Apache-2.0
/// \file \brief What an instance knows of one item of its own.
#ifndef ELASTICJOB_SCHEDULER_ITEM_STATE_HPP
#define ELASTICJOB_SCHEDULER_ITEM_STATE_HPP

#include <elasticjob/core/clock.hpp>
#include <elasticjob/core/event_count.hpp>
#include <elasticjob/core/identity.hpp>
#include <elasticjob/core/memory.hpp>
#include <elasticjob/core/task.hpp>
#include <elasticjob/execution/run_book.hpp>
#include <elasticjob/execution/run_choice.hpp>
#include <elasticjob/execution/run_record.hpp>
#include <elasticjob/sharding/item_claim.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace elasticjob::detail {

template <class Environment>
struct live_run;
template <class Environment>
struct live_batch;

/// To the request to begin a run.
enum class start_answer : std::uint8_t {
    started,
    running_elsewhere,
    disabled,
    clock_differs,
    taken,
    outdated,
    unclaimed,
    unknown
};

/// An item that is ours, or runs here. Threads: the loop's.
template <class Environment>
struct item_state {
    using Loop = typename Environment::loop_type;
    using item_share = item_claim::share;

    item_state(Loop& l, item_index i) : item{i}, stirred{l} {}

    item_index const item;
    int failures = 0; ///< to begin, in a row
    event_count<Loop> stirred;

    // What is small together, for the sake of its size.
    bool has_news = false;               ///< whether anything outside of the item has changed
    bool is_read = false;                ///< whether `record` and `version` are what the registry has
    bool is_edited = false;              ///< an operator has written the record since
    unwritten owed = unwritten::nothing; ///< what stands in the record, but not in the registry's
    bool is_being_opened = false;
    bool is_being_written = false;
    bool is_busy = false;                 ///< from the first request of a run to the record of its end
    bool is_failover = false;             ///< the `failover` node is ours, as the `running` node is
    bool is_end_owed = false;             ///< the registry has refused the end, and that was told
    std::optional<start_answer> answer{}; ///< to the request to begin
    std::optional<end_result> ended{};    ///< what became of the record of its end

    std::optional<item_share> share{}; ///< while it is ours
    wall_time ours_since{};            ///< what is due behind this is not for a former owner to run

    run_record record{};
    std::optional<node_version> version{};      ///< of the record; nothing: there is none
    std::unique_ptr<skipped_instants> untold{}; ///< in the record, but not reported: first they are written down
    std::unique_ptr<instance_id> dead{};        ///< whose run stands in the registry's record, but not in ours

    std::optional<wall_time> order{}; ///< to be run on somebody's behalf
    wall_time told_through{};         ///< due instants up to here were told to have found it running
    wall_time rounds_at_end{};        ///< the last round of another job that was known when its last run here ended
    wall_time told_of_clock{};        ///< the due instant that was last told to be skipped because the clock is wrong

    session_generation asked_in{};            ///< under which the last start was asked for
    mono_time asked_at{};                     ///< no later than the request that began the run
    std::unique_ptr<std::string> uncertain{}; ///< the record of a start of which it is not known whether it happened
    std::optional<session_generation> mark{}; ///< whose `running` node is ours
    revision token = 0;
    std::shared_ptr<std::string const> task_id{};        ///< one for all items that began together
    std::shared_ptr<live_batch<Environment>> together{}; ///< with whom it has begun, if anybody wants to know
    live_run<Environment>* live = nullptr;

    void stir();

    choice_facts facts() const { return {item, record, dead_instance(), order, told_through, rounds_at_end}; }

    std::optional<instance_id> dead_instance() const { return dead ? std::optional{*dead} : std::nullopt; }

    /// What is known of the record is what stands in the registry now.
    void owes_nothing();

    /// A record of this item, to be written over the one that is known.
    run_end over_known(run_record const& r) const;

    // One writer at a time for each record.

    task<void> write_access();
    void release();
};

template <class Environment>
using item_table = std::map<item_index, item_state<Environment>>;

template <class Environment>
void item_state<Environment>::stir() {
    has_news = true;
    stirred.notify();
}

template <class Environment>
void item_state<Environment>::owes_nothing() {
    dead.reset();
    owed = unwritten::nothing;
}

template <class Environment>
run_end item_state<Environment>::over_known(run_record const& r) const {
    run_end what;
    what.item = item;
    what.record = r.to_text();
    what.version = version.value_or(0);
    return what;
}

template <class Environment>
task<void> item_state<Environment>::write_access() {
    for (;;) {
        auto const seen = stirred.edition();
        if (!std::exchange(is_being_written, true)) co_return;
        co_await stirred.newer_than(seen);
    }
}

template <class Environment>
void item_state<Environment>::release() {
    is_being_written = false;
    stirred.notify();
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_SCHEDULER_ITEM_STATE_HPP
