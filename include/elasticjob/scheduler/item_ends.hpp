// SPDX-License-Identifier: Apache-2.0
/// \file \brief Puts the ends of runs on record: those of one moment together.
#ifndef ELASTICJOB_SCHEDULER_ITEM_ENDS_HPP
#define ELASTICJOB_SCHEDULER_ITEM_ENDS_HPP

#include <elasticjob/core/algorithm.hpp>
#include <elasticjob/core/chrono.hpp>
#include <elasticjob/core/event_count.hpp>
#include <elasticjob/core/task.hpp>
#include <elasticjob/events/event.hpp>
#include <elasticjob/execution/run_book.hpp>
#include <elasticjob/scheduler/item_state.hpp>
#include <elasticjob/scheduler/job_site.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace elasticjob::detail {

/// A run whose end is not on record counts as not ended. An end that the registry refuses, though the connection is up,
/// is owed: it is told as trouble once and tried again, at growing intervals of ten seconds at most. Threads: the
/// loop's.
template <class Environment>
class item_ends {
    using site = job_site<Environment>;
    using item_state = detail::item_state<Environment>;

public:
    item_ends(site& s, item_table<Environment>& table) : site_{s}, table_{table}, news_{s.loop()} {}

    /// Writes `e.record`, and takes the marks away. Tried until it is known whether the end counts; under the next session,
    /// if need be. What cannot be recorded before this instance leaves looks to the others as if it had died: then only
    /// the marks are taken away.
    task<void> put_on_record(item_state& e, wall_time due, events::run_name run);

    /// The instance leaves, and the registry has refused an end: only the marks go, and the next owner takes the run
    /// for that of an instance that died.
    void give_up(item_state const& e, session_generation g);

    /// Once for each end that is owed.
    void tell_refused(std::vector<item_state*> const& refused, error const& why);

private:
    void end_soon();
    task<void> end_together();

    /// Until then, or until the job closes.
    task<void> wait_until(item_state& e, mono_time until);

    /// A moment for the others, unless there are none.
    task<void> linger();

    static constexpr std::chrono::milliseconds refusal_pause_max{10'000};

    site& site_;
    item_table<Environment>& table_;
    event_count<typename Environment::loop_type> news_;
    std::vector<item_state*> ending_;
    bool is_ending_ = false; ///< end_together is at it
    task_scope tasks_;       ///< last: its tasks use all of the above
};

template <class Environment>
task<void> item_ends<Environment>::put_on_record(item_state& e, wall_time due, events::run_name run) {
    for (std::chrono::milliseconds pause = site::retry_pause;;) {
        auto const seen = e.stirred.edition();
        auto const session = site_.registry.session();
        if (!e.mark && session.state != session_state::connected) {
            if (site_.is_closing) break;
            co_await e.stirred.newer_than(seen);
            continue;
        }
        auto const g = e.mark.value_or(session.generation);
        e.ended.reset();
        ending_.push_back(&e);
        end_soon();
        while (!e.ended) co_await e.stirred.newer_than(e.stirred.edition());
        if (*e.ended == end_result::recorded) {
            e.version = *e.version + 1;
            break;
        }
        if (*e.ended == end_result::recorded_before) break;
        if (*e.ended == end_result::fenced) {
            site_.env.sink(events::item_fenced{site_.origin(), e.item, due, e.token, run});
            break;
        }
        if (*e.ended == end_result::refused) {
            if (site_.is_closing) {
                give_up(e, g);
                break;
            }
            co_await wait_until(e, site_.now() + pause);
            pause = std::min(2 * pause, refusal_pause_max);
            continue;
        }
        if (site_.is_closing) break;
        if (site_.registry.session().generation == session.generation)
            co_await e.stirred.newer_than(seen, site_.now() + site::retry_pause);
    }
    if (!(e.ended && *e.ended == end_result::recorded)) e.is_read = false;
    e.ended.reset();
    e.mark.reset();
    e.is_failover = false;
    e.is_end_owed = false;
}

template <class Environment>
void item_ends<Environment>::give_up(item_state const& e, session_generation g) {
    auto const self = site_.self.str();
    site_.registry.abandon({g, {{site_.at.item_running(e.item), self}, {site_.at.item_failover(e.item), self}}});
}

template <class Environment>
void item_ends<Environment>::tell_refused(std::vector<item_state*> const& refused, error const& why) {
    std::size_t fresh = 0;
    for (auto* e : refused) fresh += !std::exchange(e->is_end_owed, true);
    if (fresh == 0) return;
    auto told = why;
    auto const ends = fresh == 1 ? std::string{"the end of a run"} : "the ends of " + std::to_string(fresh) + " runs";
    told.what = ends + " could not be recorded, so the item does not run again before that is possible: " + why.what;
    site_.tell_trouble(told);
}

template <class Environment>
task<void> item_ends<Environment>::wait_until(item_state& e, mono_time until) {
    while (site_.now() < until && !site_.is_closing) {
        auto const seen = e.stirred.edition();
        co_await e.stirred.newer_than(seen, until);
    }
}

template <class Environment>
void item_ends<Environment>::end_soon() {
    news_.notify();
    if (!std::exchange(is_ending_, true)) tasks_.spawn(end_together());
}

template <class Environment>
task<void> item_ends<Environment>::end_together() {
    while (!ending_.empty()) {
        co_await linger();
        auto const batch = std::exchange(ending_, {});
        std::vector<run_end> ends;
        std::map<std::uint64_t, std::vector<item_state*>> by_generation;
        for (auto* e : batch) {
            co_await e->write_access();
            auto const g = e->mark ? *e->mark : site_.registry.session().generation;
            by_generation[g.value].push_back(e);
        }
        for (auto& [g, members] : by_generation) {
            ends.clear();
            for (auto* e : members) {
                auto& end = ends.emplace_back(e->over_known(e->record));
                end.is_marked = e->mark.has_value();
                end.is_failover = e->mark.has_value() && e->is_failover;
            }
            auto const report = co_await site_.book.finish(session_generation{g}, ends);
            std::vector<item_state*> refused;
            for (std::size_t n = 0; n < members.size(); ++n)
                if (report.results[n] == end_result::refused) refused.push_back(members[n]);
            if (!refused.empty()) tell_refused(refused, *report.refusal);
            for (std::size_t n = 0; n < members.size(); ++n) {
                auto& e = *members[n];
                if (report.results[n] == end_result::session_over) e.mark.reset(); // it has gone with its session
                e.ended = report.results[n];
                e.release();
            }
        }
    }
    is_ending_ = false;
}

template <class Environment>
task<void> item_ends<Environment>::linger() {
    auto const until = site_.now() + site_.env.options.completion_linger;
    auto const runs = [](auto const& one) { return one.second.live != nullptr; };
    for (;;) {
        auto const seen = news_.edition();
        co_await yield(site_.loop());
        if (std::none_of(table_.begin(), table_.end(), runs) || site_.now() >= until) co_return;
        co_await news_.newer_than(seen, until);
    }
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_SCHEDULER_ITEM_ENDS_HPP
