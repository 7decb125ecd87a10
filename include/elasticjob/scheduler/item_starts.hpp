// SPDX-License-Identifier: Apache-2.0
/// \file \brief Puts the starts of runs on record; starts of one moment share a transaction.
#ifndef ELASTICJOB_SCHEDULER_ITEM_STARTS_HPP
#define ELASTICJOB_SCHEDULER_ITEM_STARTS_HPP

#include <elasticjob/config/clock_rule.hpp>
#include <elasticjob/config/task_id.hpp>
#include <elasticjob/core/algorithm.hpp>
#include <elasticjob/core/chrono.hpp>
#include <elasticjob/core/event_count.hpp>
#include <elasticjob/core/gather.hpp>
#include <elasticjob/core/memory.hpp>
#include <elasticjob/core/task.hpp>
#include <elasticjob/execution/clock_check.hpp>
#include <elasticjob/execution/lasting_failure.hpp>
#include <elasticjob/execution/listeners.hpp> // run_batch
#include <elasticjob/execution/run_book.hpp>
#include <elasticjob/scheduler/item_state.hpp>
#include <elasticjob/scheduler/live_batch.hpp>
#include <elasticjob/scheduler/run_context.hpp>
#include <elasticjob/sharding/item_claim.hpp>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace elasticjob::detail {

/// The requests of items before they run. Items that are woken by the same change share one transaction and one task
/// id. Threads: the loop's.
template <class Environment>
class item_starts {
    using item_state = detail::item_state<Environment>;
    using live_batch = detail::live_batch<Environment>;
    using proof = item_claim::proof;

public:
    item_starts(run_context<Environment>& s, item_table<Environment>& table) : context_{s}, table_{table} {}

    /// The conditions that do not depend on the items.
    void require(std::vector<proof> common) { common_ = std::move(common); }

    /// Writes the first record of an item, and wakes it.
    void open(item_state& e, std::string record);

    /// Requests the run that the item's life has chosen. `started`: the start is on record.
    task<start_answer> ask(item_state& e);

private:
    struct asking {
        item_state* who;
        run_start what;
        bool is_monitored;
    };

    void begin_soon();
    task<void> begin_together();

    task<void> open_records(std::vector<record_creation> records);
    task<void> wake_later(std::vector<record_creation> records, mono_time at);
    void wake_opened(std::vector<record_creation>& records);

    task<void> start(std::vector<asking> all);

    /// The checks of each start that do not depend on its items.
    std::vector<proof> common_checks() const;

    /// `started` if the clock allows the start of due items (CF-4, D-21).
    task<start_answer> check_clock();

    task<void> start_all(std::vector<run_start> starts, bool is_monitored);

    task<result<start_report>> request_start(session_generation g, std::vector<run_start> starts, bool is_monitored);

    /// Reports a refusal that lasts, unless it was reported and one of these items has not started since.
    void note_refused(error const& why, std::vector<item_index> const& items);

    /// Without records and marks, only an operator's switch can prevent a start.
    task<result<start_report>> start_unmarked(std::vector<run_start> starts);

    /// Runs that start together share a task id; a run that makes up for another has its own.
    void name_tasks(std::vector<run_ticket> const& started);

    static void answer(item_state& e, start_answer a);

    run_context<Environment>& context_;
    item_table<Environment>& table_;
    std::vector<proof> common_; ///< of the claim
    std::vector<asking> asking_;
    std::vector<record_creation> opening_;
    bool is_beginning_ = false;    ///< begin_together is running
    bool was_clock_wrong_ = false; ///< at the last check
    lasting_failure failed_clock_{}, failed_opening_{}, failed_start_{};
    task_scope tasks_; ///< last: its tasks use all of the above
};

template <class Environment>
void item_starts<Environment>::open(item_state& e, std::string record) {
    opening_.push_back({e.item(), std::move(record)});
    begin_soon();
}

template <class Environment>
task<start_answer> item_starts<Environment>::ask(item_state& e) {
    auto what = e.life.start();
    bool const was_flagged = e.life.record().is_flagged;
    if (what.is_failover && (was_flagged || context_.has_java_members())) {
        auto const flag = co_await context_.registry.exists(context_.at.failover_item(e.item()));
        if (!flag) {
            note_refused(flag.error(), {e.item()});
            co_return start_answer::outdated;
        }
        if (was_flagged && !*flag) co_return start_answer::taken;
        what.answers_flag = flag->has_value();
    }
    e.answer.reset();
    asking_.push_back({&e, std::move(what), e.life.is_monitored()});
    begin_soon();
    for (;;) {
        auto const seen = e.woken.edition();
        if (e.answer) co_return *e.answer;
        co_await e.woken.newer_than(seen);
    }
}

template <class Environment>
void item_starts<Environment>::begin_soon() {
    if (!std::exchange(is_beginning_, true)) tasks_.spawn(begin_together());
}

template <class Environment>
task<void> item_starts<Environment>::begin_together() {
    while (!asking_.empty() || !opening_.empty()) {
        co_await yield(context_.loop()); // lets other items that are woken by the same change join
        if (!opening_.empty()) co_await open_records(std::exchange(opening_, {}));
        if (!asking_.empty()) co_await start(std::exchange(asking_, {}));
    }
    is_beginning_ = false;
}

template <class Environment>
task<void> item_starts<Environment>::open_records(std::vector<record_creation> records) {
    auto const opened = co_await context_.book.open(context_.env.beginnings, context_.terms.generation, records);
    if (opened) {
        failed_opening_.end();
        wake_opened(records);
        co_return;
    }
    auto const pause = context_.job.after_failure(failed_opening_, opened.error());
    tasks_.spawn(wake_later(std::move(records), context_.now() + pause)); // they request it again; starts do not wait
}

template <class Environment>
task<void> item_starts<Environment>::wake_later(std::vector<record_creation> records, mono_time at) {
    co_await sleep_until(context_.loop(), at);
    wake_opened(records);
}

template <class Environment>
void item_starts<Environment>::wake_opened(std::vector<record_creation>& records) {
    for (auto& r : records) {
        auto const at = table_.find(r.item);
        if (at == table_.end()) continue;
        at->second.life.opened(std::move(r));
        at->second.wake();
    }
}

template <class Environment>
task<void> item_starts<Environment>::start(std::vector<asking> all) {
    if (context_.terms.config->config().max_time_diff_seconds >= 0) {
        auto const verdict = co_await check_clock();
        if (verdict != start_answer::started) {
            for (auto& a : all) answer(*a.who, verdict);
            co_return;
        }
    }
    std::vector<run_start> monitored, others;
    for (auto& a : all) {
        if (!a.who->life.is_ours() ||
            !context_.terms.is_open) { // it now belongs to another instance, or this one is leaving
            answer(*a.who, start_answer::unclaimed);
            continue;
        }
        a.what.share = *a.who->life.claim();
        (a.is_monitored ? monitored : others).push_back(std::move(a.what));
    }
    if (!monitored.empty()) co_await start_all(std::move(monitored), true);
    if (!others.empty()) co_await start_all(std::move(others), false);
}

template <class Environment>
auto item_starts<Environment>::common_checks() const -> std::vector<proof> {
    auto checks = common_;
    if (auto const version = context_.terms.pauses_version) checks.push_back({context_.at.pauses(), *version});
    return checks;
}

template <class Environment>
task<start_answer> item_starts<Environment>::check_clock() {
    auto const rule = context_.terms.on_wrong_clock;
    std::chrono::seconds const allowed{context_.terms.config->config().max_time_diff_seconds};
    auto const difference = co_await clock_difference(context_.registry, context_.at);
    if (!difference) { // try again
        if (failed_clock_.is_news(difference.error())) context_.tell_trouble(difference.error());
        co_return start_answer::unclaimed;
    }
    failed_clock_.end();
    bool const is_wrong = *difference > allowed || -*difference > allowed;
    if (is_wrong && !was_clock_wrong_) context_.tell_trouble(wrong_clock(*difference, allowed, context_.name.str()));
    was_clock_wrong_ = is_wrong;
    if (!is_wrong || rule == clock_rule::report) co_return start_answer::started;
    if (rule == clock_rule::skip) co_return start_answer::clock_differs;
    context_.stand_down();
    co_return start_answer::unclaimed;
}

template <class Environment>
task<void> item_starts<Environment>::start_all(std::vector<run_start> starts, bool is_monitored) {
    auto const g = context_.terms.generation;
    auto const asked_at = context_.env.lease.now();
    std::vector<item_index> asked;
    for (auto const& w : starts) {
        asked.push_back(w.share.item);
        table_.at(w.share.item).life.start_sent(g);
    }
    auto const outcome = co_await request_start(g, std::move(starts), is_monitored);
    if (!outcome) {
        note_refused(outcome.error(), asked);
        for (auto const i : asked) answer(table_.at(i), start_answer::unknown);
        co_return;
    }
    auto const& r = *outcome;
    name_tasks(r.started);
    for (auto const& t : r.started) {
        auto& e = table_.at(t.item);
        e.run->asked_at = asked_at;
        e.life.start_granted(t, g);
        e.is_refused = false;
        answer(e, start_answer::started);
    }
    for (auto const& h : r.hindered) {
        if (h.why == start_answer::unclaimed) context_.job.view->follow_shardings();
        answer(table_.at(h.item), h.why);
    }
}

template <class Environment>
void item_starts<Environment>::note_refused(error const& why, std::vector<item_index> const& items) {
    if (!is_lasting(why)) return;
    bool is_known = false;
    for (auto const i : items) is_known |= std::exchange(table_.at(i).is_refused, true);
    if (!is_known) failed_start_.end();
    if (failed_start_.is_news(why)) context_.tell_trouble(why);
}

template <class Environment>
task<result<start_report>> item_starts<Environment>::request_start(session_generation g, std::vector<run_start> starts,
                                                                   bool is_monitored) {
    if (is_monitored) return context_.book.start(g, common_checks(), std::move(starts));
    return start_unmarked(std::move(starts));
}

template <class Environment>
task<result<start_report>> item_starts<Environment>::start_unmarked(std::vector<run_start> starts) {
    auto const read = [&](run_start const& s) {
        return context_.registry.exists(context_.at.item_disabled(s.share.item));
    };
    auto const found = co_await gather_each(context_.loop(), starts, read);
    start_report report;
    for (std::size_t n = 0; n < found.size(); ++n) {
        if (!found[n]) co_return found[n].error();
        auto const i = starts[n].share.item;
        if (*found[n])
            report.hindered.push_back({i, start_answer::disabled});
        else
            report.started.push_back({i});
    }
    co_return report;
}

template <class Environment>
void item_starts<Environment>::name_tasks(std::vector<run_ticket> const& started) {
    std::vector<item_index> items[2];
    for (auto const& t : started) items[table_.at(t.item).life.is_failover()].push_back(t.item);
    for (bool const is_failover : {false, true}) {
        auto& those = items[is_failover];
        if (those.empty()) continue;
        auto const type = is_failover ? execution_type::failover : execution_type::ready;
        auto const id = std::make_shared<std::string const>(make_task_id(context_.name, those, context_.self, type));
        std::shared_ptr<live_batch> together;
        if (context_.env.listeners.hear_batches()) {
            std::sort(those.begin(), those.end());
            run_batch what{context_.name.str(), *id, those};
            together = std::make_shared<live_batch>(context_, std::move(what));
        }
        for (auto const i : those) {
            auto& e = table_.at(i);
            e.run->task_id = id;
            e.run->together = together;
        }
    }
}

template <class Environment>
void item_starts<Environment>::answer(item_state& e, start_answer a) {
    e.answer = a;
    e.woken.notify();
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_SCHEDULER_ITEM_STARTS_HPP
