// SPDX-License-Identifier: Apache-2.0
/// \file \brief Puts the ends of runs on record; ends of one moment share a transaction.
#ifndef ELASTICJOB_SCHEDULER_ITEM_ENDS_HPP
#define ELASTICJOB_SCHEDULER_ITEM_ENDS_HPP

#include <elasticjob/core/algorithm.hpp>
#include <elasticjob/core/chrono.hpp>
#include <elasticjob/core/event_count.hpp>
#include <elasticjob/core/task.hpp>
#include <elasticjob/events/event.hpp>
#include <elasticjob/execution/run_book.hpp>
#include <elasticjob/scheduler/item_state.hpp>
#include <elasticjob/scheduler/run_context.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace elasticjob::detail {

/// A run whose end is not on record counts as not ended. If the registry refuses an end although the connection is up,
/// the end is pending: it is reported as trouble once, and tried again at growing intervals of at most ten seconds.
/// Threads: the loop's.
template <class Environment>
class item_ends {
    using item_state = detail::item_state<Environment>;

public:
    item_ends(run_context<Environment>& s, item_table<Environment>& table)
        : context_{s},
          table_{table},
          news_{s.loop()} {}

    /// Writes the item's record and removes the marks. One attempt: the item's life decides what follows.
    task<end_result> put_on_record(item_state& e);

    /// For an instance that leaves after the registry has refused an end: removes only the marks, so the next owner
    /// treats the run as that of a dead instance.
    void give_up(item_index i, session_generation g);

    /// Reports each pending end once.
    void tell_refused(std::vector<item_state*> const& refused, error const& why);

private:
    void end_soon();
    task<void> end_together();

    /// Waits a moment for other ends, unless there are none.
    task<void> wait_for_other_ends();

    run_context<Environment>& context_;
    item_table<Environment>& table_;
    event_count<typename Environment::loop_type> news_;
    std::vector<item_state*> ending_;
    bool is_ending_ = false; ///< end_together is running
    task_scope tasks_;       ///< last: its tasks use all of the above
};

template <class Environment>
task<end_result> item_ends<Environment>::put_on_record(item_state& e) {
    e.ended.reset();
    ending_.push_back(&e);
    end_soon();
    while (!e.ended) {
        auto const seen = e.woken.edition();
        co_await e.woken.newer_than(seen);
    }
    co_return *std::exchange(e.ended, std::nullopt);
}

template <class Environment>
void item_ends<Environment>::give_up(item_index i, session_generation g) {
    auto const self = context_.self.str();
    context_.registry.abandon({g, {{context_.at.item_running(i), self}, {context_.at.item_failover(i), self}}});
}

template <class Environment>
void item_ends<Environment>::tell_refused(std::vector<item_state*> const& refused, error const& why) {
    std::size_t fresh = 0;
    for (auto* e : refused) fresh += e->life.note_refused();
    if (fresh == 0) return;
    auto told = why;
    auto const ends = fresh == 1 ? std::string{"the end of a run"} : "the ends of " + std::to_string(fresh) + " runs";
    told.what = ends + " could not be recorded, so the item does not run again before that is possible: " + why.what;
    context_.tell_trouble(told);
}

template <class Environment>
void item_ends<Environment>::end_soon() {
    news_.notify();
    if (!std::exchange(is_ending_, true)) tasks_.spawn(end_together());
}

template <class Environment>
task<void> item_ends<Environment>::end_together() {
    while (!ending_.empty()) {
        co_await wait_for_other_ends();
        auto const batch = std::exchange(ending_, {});
        std::map<std::uint64_t, std::vector<item_state*>> by_generation;
        for (auto* e : batch) {
            co_await e->write_access();
            by_generation[e->life.end_generation(context_.registry.session()).value].push_back(e);
        }
        for (auto& [g, members] : by_generation) {
            std::vector<run_end> ends;
            for (auto* e : members) ends.push_back(e->life.end());
            auto const report = co_await context_.book.finish(session_generation{g}, std::move(ends));
            std::vector<item_state*> refused;
            for (std::size_t n = 0; n < members.size(); ++n)
                if (report.results[n] == end_result::refused) refused.push_back(members[n]);
            if (!refused.empty()) tell_refused(refused, *report.refusal);
            for (std::size_t n = 0; n < members.size(); ++n) {
                auto& e = *members[n];
                e.ended = report.results[n];
                e.release();
            }
        }
    }
    is_ending_ = false;
}

template <class Environment>
task<void> item_ends<Environment>::wait_for_other_ends() {
    auto const until = context_.now() + context_.env.options.completion_linger;
    auto const runs = [](auto const& one) { return one.second.live != nullptr; };
    for (;;) {
        auto const seen = news_.edition();
        co_await yield(context_.loop());
        if (std::none_of(table_.begin(), table_.end(), runs) || context_.now() >= until) co_return;
        co_await news_.newer_than(seen, until);
    }
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_SCHEDULER_ITEM_ENDS_HPP
