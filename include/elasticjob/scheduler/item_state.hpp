// SPDX-License-Identifier: Apache-2.0
/// \file \brief An item of this instance: its life, and the state that serves it.
#ifndef ELASTICJOB_SCHEDULER_ITEM_STATE_HPP
#define ELASTICJOB_SCHEDULER_ITEM_STATE_HPP

#include <elasticjob/config/validation.hpp>
#include <elasticjob/core/clock.hpp>
#include <elasticjob/core/event_count.hpp>
#include <elasticjob/core/identity.hpp>
#include <elasticjob/core/memory.hpp>
#include <elasticjob/core/task.hpp>
#include <elasticjob/events/event.hpp>
#include <elasticjob/execution/item_life.hpp>

#include <map>
#include <optional>
#include <string>
#include <utility>

namespace elasticjob::detail {

template <class Environment>
struct live_run;
template <class Environment>
struct live_batch;

/// A run, from the request to start it to the record of its end.
template <class Environment>
struct run_in_hand {
    std::shared_ptr<valid_config const> config;
    std::optional<typename Environment::lease_type::hold> lease{}; ///< of a monitored run, while its body is called
    wall_time due{};
    mono_time asked_at{};                         ///< by the lease's clock, no later than the request that started it
    events::run_name name{};                      ///< set when the body has ended
    std::shared_ptr<std::string const> task_id{}; ///< one for all items that began together
    std::shared_ptr<live_batch<Environment>> together{}; ///< the batch of the run, if there are batch hooks
};

/// An item that this instance owns or runs. Its life decides what it does. Threads: the loop's.
template <class Environment>
struct item_state {
    using Loop = typename Environment::loop_type;

    item_state(Loop& l, item_life what) : life{std::move(what)}, woken{l} {}

    item_index item() const noexcept { return life.item(); }

    item_life life;
    event_count<Loop> woken;
    bool has_news = false;         ///< whether anything outside of the item has changed
    bool is_being_written = false; ///< its record, see `write_access`
    bool is_refused = false;       ///< its last request to start, for good

    std::optional<start_answer> answer{}; ///< to the request to start, once it has arrived
    std::optional<end_result> ended{};    ///< the result of recording its end, once it is known
    std::unique_ptr<run_in_hand<Environment>> run{};
    live_run<Environment>* live = nullptr; ///< while its body is called

    /// Makes the item check again whether there is something to do.
    void wake();

    // One writer at a time for each record.

    task<void> write_access();
    void release();
};

template <class Environment>
using item_table = std::map<item_index, item_state<Environment>>;

template <class Environment>
void item_state<Environment>::wake() {
    has_news = true;
    woken.notify();
}

template <class Environment>
task<void> item_state<Environment>::write_access() {
    for (;;) {
        auto const seen = woken.edition();
        if (!std::exchange(is_being_written, true)) co_return;
        co_await woken.newer_than(seen);
    }
}

template <class Environment>
void item_state<Environment>::release() {
    is_being_written = false;
    woken.notify();
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_SCHEDULER_ITEM_STATE_HPP
