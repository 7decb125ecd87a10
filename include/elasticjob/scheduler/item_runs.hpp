// SPDX-License-Identifier: Apache-2.0
/// \file \brief Runs the items of this instance independently, so that no item delays another.
#ifndef ELASTICJOB_SCHEDULER_ITEM_RUNS_HPP
#define ELASTICJOB_SCHEDULER_ITEM_RUNS_HPP

#include <elasticjob/config/misfire_policy.hpp>
#include <elasticjob/core/algorithm.hpp>
#include <elasticjob/core/chrono.hpp>
#include <elasticjob/core/event_count.hpp>
#include <elasticjob/core/memory.hpp>
#include <elasticjob/core/task.hpp>
#include <elasticjob/events/event.hpp>
#include <elasticjob/execution/item_life.hpp>
#include <elasticjob/execution/lease_terms.hpp> // lease_rule
#include <elasticjob/execution/once_latch.hpp>
#include <elasticjob/execution/run_book.hpp>
#include <elasticjob/registry/retry_pauses.hpp>
#include <elasticjob/registry/watch.hpp>
#include <elasticjob/scheduler/body_calls.hpp>
#include <elasticjob/scheduler/element_counts.hpp>
#include <elasticjob/scheduler/item_ends.hpp>
#include <elasticjob/scheduler/item_starts.hpp>
#include <elasticjob/scheduler/item_state.hpp>
#include <elasticjob/scheduler/job_body.hpp>
#include <elasticjob/scheduler/job_context.hpp>
#include <elasticjob/scheduler/live_batch.hpp>
#include <elasticjob/scheduler/live_run.hpp>
#include <elasticjob/scheduler/rounds.hpp>
#include <elasticjob/scheduler/run_context.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace elasticjob::detail {

/// Carries out the steps that the `item_life` of each item decides, in one coroutine for each item, `attend`. Starts go
/// through `item_starts`, bodies through `body_calls`, ends through `item_ends`. Threads: the loop's; bodies run on the
/// pool.
template <class Environment>
class item_runs {
    using Registry = typename Environment::registry_type;
    using Loop = typename Environment::loop_type;
    using item_state = detail::item_state<Environment>;
    using live_batch = detail::live_batch<Environment>;
    using run_in_hand = detail::run_in_hand<Environment>;
    using item_share = item_life::share;

public:
    /// `context` belongs to the job and must outlive this object.
    item_runs(job_context<Environment>& context, job_body<Loop> body);
    ~item_runs();

    auto& terms() noexcept { return context_.terms; }
    auto const& terms() const noexcept { return context_.terms; }

    /// Makes every item check whether there is something to do.
    void wake();

    /// From now on this instance owns exactly these items.
    void own(item_claim claim);

    /// A dead instance has left runs of these items, and their owners will not repeat the runs (JV-5).
    void adopt(std::vector<item_index> const& interrupted);

    /// Tells each streaming run whether to continue or to end after its present round.
    void tell_streams();

    /// The share of this instance is unknown for now: no run begins, and live runs continue. Instants after `since`
    /// belong to the next owners.
    void doubt_ownership(wall_time since);

    /// An instant has become due: reports the items that are still running and wakes the others.
    void tick(wall_time due);

    /// Makes every item of this instance run once, now. An item that is running runs once more afterwards.
    void order_all(wall_time now);

    /// Whether every item is known not to run here and not to be starting.
    bool is_idle() const;

    /// The rounds, or null if there are no round hooks.
    detail::rounds<Environment>* rounds() noexcept { return rounds_.get(); }

    /// Notified when `is_idle` may have become true.
    event_count<Loop>& idle_news() noexcept { return context_.idle_news; }

    /// Adds the items that this instance owns, and those that run here.
    void list_items(std::vector<item_index>& ours, std::vector<item_index>& running) const;

    /// The items of this instance, in ascending order, for the latches of Java members.
    std::vector<latch_item> latch_items() const;

    /// Whether a run requires the instance to leave.
    bool stands_down() const noexcept { return context_.is_to_leave; }

    /// No run begins from now on, and ends that cannot be recorded now are given up.
    void close();

    /// Asks live runs to stop. A starting run is asked once it has begun: by its call if the job is draining, by its
    /// lease if the session is over.
    void request_stop(stop_reason why);

    /// Marks live runs again under the new session, because the old session's marks have gone with it.
    task<void> mark_again(session_generation g);

    enum class order_answer : std::uint8_t {
        done,    ///< the order was carried out, or no longer applies
        not_yet, ///< not known yet
        not_ours
    };

    /// Asks the item's run for that instant to stop, by an operator's order.
    order_answer stop(item_index i, wall_time due);

    /// Makes the item read its record again, because an operator has written it.
    order_answer look_again(item_index i);

    /// Publishes the counts since `since`, including those of live runs. Errors: see `element_counts`.
    task<result<void>> publish_counts(wall_time since);

    void look_at_lease();

private:
    /// Precondition: the item is not in the table.
    void look_after(item_life life);

    /// Takes one step after the other, until the item is neither owned here nor busy.
    task<void> attend(item_state& e);

    /// Carries out the next step of the item's life. Returns when to check again at the latest; nothing: the item
    /// leaves. (Separate from `attend`, whose frame every idle item keeps.)
    task<std::optional<mono_time>> take_step(item_state& e);

    /// The item leaves.
    void drop(item_state& e);

    item_step next(item_state& e);
    item_moment moment_of(item_state const& e) const;
    void report(item_state const& e, item_news const& news);

    /// The registry may have reported the start so late that the session may be over: then the body is not called.
    task<item_news> start(item_state& e);

    /// Reports a late start once, until a start is confirmed in time again.
    void tell_late_start(mono_time asked_at);

    /// Waits until a former owner's run has ended, or its instance is gone.
    task<void> follow_foreign_run(item_state& e);

    /// Waits for the mark of a Java member, which keeps no record. A mark of this instance belongs to no run, because
    /// this item is only starting: it is removed.
    task<void> wait_for_mark(item_state& e);
    task<result<bool>> is_mark_gone(item_state& e, event_watch<Loop>& changed);

    /// Whether an instance that has begun a run cannot end it any more. Our own runs are in the table, not here.
    bool is_gone(std::string const& id) const { return id == context_.self.str() || !context_.view->has_instance(id); }

    void tell_busy(item_state& e, wall_time due);

    /// Remembers the items of Java members until the next share is known.
    void note_javas(assignment const* in_force);

    run_context<Environment> context_;
    item_table<Environment> table_;                       ///< the items that this instance owns or runs
    std::unique_ptr<detail::rounds<Environment>> rounds_; ///< if there are round hooks
    item_starts<Environment> starts_;
    element_counts<Environment> counts_;
    body_calls<Environment> calls_;
    item_ends<Environment> ends_;
    bool is_share_known_ = false;
    bool is_told_of_late_start_ = false;
    bool is_first_sharding_ = false; ///< of the job: no instance has owned an item before
    bool were_others_javas_ = false; ///< a Java leader made the last sharding: others' items may be of Java members
    std::uint32_t known_items_ = 0;  ///< of the assignment in force; 0: there was none
    std::set<item_index> javas_;     ///< the items of Java members in the assignment in force
    wall_time doubted_at_;           ///< since when the share is unknown
    task_scope tasks_;               ///< last: its tasks use all of the above
};

template <class Environment>
item_runs<Environment>::item_runs(job_context<Environment>& context, job_body<Loop> body)
    : context_{context},
      rounds_{context.env.listeners.hear_rounds() ? std::make_unique<detail::rounds<Environment>>(context_) : nullptr},
      starts_{context_, table_},
      counts_{context_},
      calls_{context_, std::move(body), rounds_.get(), counts_},
      ends_{context_, table_},
      doubted_at_{context_.wall_now()} {}

template <class Environment>
item_runs<Environment>::~item_runs() = default;

template <class Environment>
void item_runs<Environment>::wake() {
    for (auto& [i, e] : table_) e.wake();
}

template <class Environment>
void item_runs<Environment>::own(item_claim claim) {
    auto const& view = *context_.view;
    if (rounds_) rounds_->set_item_count(static_cast<std::uint32_t>(terms().config->config().sharding_total_count));
    auto const wall = context_.wall_now();
    auto const ours_since =
        is_share_known_ ? wall : std::max(doubted_at_, wall - context_.env.options.sharding_timeout);
    is_share_known_ = true;
    auto const* in_force = view.assignment_in_force();
    bool const is_item_new = view.first_item() && view.first_item()->created == view.first_item()->modified;
    is_first_sharding_ = in_force && in_force->epoch() == 1 && is_item_new && !context_.has_java_members();
    // Earlier orders are not for items that a larger item count has added.
    bool const is_order_old = in_force && terms().run_order < view.assignment_node()->stat.modified;
    auto const known_before = std::exchange(known_items_, in_force ? in_force->items() : 0);
    starts_.require(std::move(claim.common));
    std::map<item_index, item_share> ours;
    for (auto& s : claim.shares) ours.emplace(s.item, std::move(s));
    for (auto& [i, e] : table_) {
        auto const at = ours.find(i);
        bool const is_ours = at != ours.end();
        if (!is_ours && e.life.is_adopted()) continue;
        if (!is_ours && e.live) e.live->order.give(stop_reason::reassigned);
        e.life.take_away(); // not before the order: a body may end during it
        if (is_ours) e.life.give(at->second);
        e.wake();
    }
    for (auto& [i, s] : ours) {
        if (table_.contains(i)) continue;
        bool const is_new = known_before != 0 && i >= known_before;
        bool const was_javas = were_others_javas_ || javas_.contains(i);
        auto const obeyed = is_new && is_order_old ? terms().run_order : 0;
        look_after(item_life{i, s, ours_since, obeyed, was_javas, is_first_sharding_});
    }
    note_javas(in_force);
}

template <class Environment>
void item_runs<Environment>::note_javas(assignment const* in_force) {
    javas_.clear();
    were_others_javas_ = !in_force && (were_others_javas_ || context_.has_java_members());
    if (!in_force) return;
    for (auto const& id : in_force->instances())
        if (id.is_java())
            for (auto const i : in_force->items_of(id)) javas_.insert(i);
}

template <class Environment>
void item_runs<Environment>::adopt(std::vector<item_index> const& interrupted) {
    for (auto const i : interrupted)
        if (!table_.contains(i)) look_after(item_life{i, item_share{i, {}, true}, context_.wall_now(), 0});
}

template <class Environment>
void item_runs<Environment>::look_after(item_life life) {
    auto const i = life.item();
    if (rounds_) rounds_->take(i);
    tasks_.spawn(attend(table_.try_emplace(i, context_.loop(), std::move(life)).first->second));
}

template <class Environment>
void item_runs<Environment>::tell_streams() {
    for (auto& [i, e] : table_)
        if (e.live) e.live->is_to_yield = !terms().may_stream;
}

template <class Environment>
void item_runs<Environment>::doubt_ownership(wall_time since) {
    if (std::exchange(is_share_known_, false)) doubted_at_ = since;
}

template <class Environment>
void item_runs<Environment>::tick(wall_time due) {
    for (auto& [i, e] : table_)
        if (e.life.holds_up(due) && terms().due->delay_of(i).count() == 0) tell_busy(e, due);
    wake();
}

template <class Environment>
void item_runs<Environment>::order_all(wall_time now) {
    for (auto& [i, e] : table_)
        if (e.life.is_assigned()) e.life.order(now);
    wake();
}

template <class Environment>
bool item_runs<Environment>::is_idle() const {
    auto const is_busy = [](auto const& one) { return one.second.life.is_busy(); };
    return calls_.is_idle() && (!rounds_ || rounds_->is_idle()) && std::none_of(table_.begin(), table_.end(), is_busy);
}

template <class Environment>
void item_runs<Environment>::list_items(std::vector<item_index>& ours, std::vector<item_index>& running) const {
    for (auto const& [i, e] : table_) {
        if (e.life.is_assigned()) ours.push_back(i);
        if (e.live) running.push_back(i);
    }
}

template <class Environment>
std::vector<latch_item> item_runs<Environment>::latch_items() const {
    std::vector<latch_item> all;
    for (auto const& [i, e] : table_)
        if (e.life.is_assigned()) all.push_back({i, e.life.is_busy(), e.life.record().last_begun});
    return all;
}

template <class Environment>
void item_runs<Environment>::close() {
    context_.is_closing = true;
    terms().is_open = false;
    wake();
}

template <class Environment>
void item_runs<Environment>::request_stop(stop_reason why) {
    if (why == stop_reason::draining) {
        context_.gives_up = true;
        calls_.drain();
        wake();
    }
    for (auto& [i, e] : table_)
        if (e.live) e.live->order.give(why);
}

template <class Environment>
task<void> item_runs<Environment>::mark_again(session_generation g) {
    std::vector<item_index> marked;
    for (auto& [i, e] : table_)
        if (e.live && e.life.mark()) marked.push_back(i);
    for (auto const i : marked) {
        auto at = table_.find(i);
        for (; at != table_.end() && at->second.is_being_written; at = table_.find(i)) {
            auto const pause = context_.now() + retry_pause;
            co_await idle_news().newer_than(idle_news().edition(), pause);
        }
        if (at == table_.end() || !at->second.live || !at->second.life.mark()) continue; // it has ended meanwhile
        auto& e = at->second;
        e.is_being_written = true;
        auto const ours = co_await context_.book.mark_again(g, i, e.life.version().value_or(0));
        e.release();
        if (ours && *ours) e.life.marked_again(g);
        if (!ours && is_lasting(ours.error())) context_.tell_trouble(ours.error());
        if (!ours || *ours) continue;      // still valid, or this session is over too: then the next call marks it
        e.life.marked_again(std::nullopt); // the mark belongs to another instance, which removes it
        if (e.live) e.live->order.give(stop_reason::taken_over);
    }
}

template <class Environment>
auto item_runs<Environment>::stop(item_index i, wall_time due) -> order_answer {
    auto const at = table_.find(i);
    if (at == table_.end()) return order_answer::not_ours;
    auto& e = at->second;
    auto const& running = e.life.record().running;
    if (e.live && running && running->due == due) e.live->order.give(stop_reason::ordered);
    if (e.live) return order_answer::done;
    return e.life.is_at_rest() && e.life.is_ours() ? order_answer::done : order_answer::not_yet;
}

template <class Environment>
auto item_runs<Environment>::look_again(item_index i) -> order_answer {
    auto const at = table_.find(i);
    if (at == table_.end() || !at->second.life.is_ours()) return order_answer::not_ours;
    at->second.life.note_edited();
    at->second.wake();
    return order_answer::done;
}

template <class Environment>
task<result<void>> item_runs<Environment>::publish_counts(wall_time since) {
    for (auto& [i, e] : table_) counts_.take(e);
    return counts_.publish(since);
}

template <class Environment>
void item_runs<Environment>::look_at_lease() {
    for (auto& [i, e] : table_)
        if (e.live && e.live->lease && !e.live->lease->is_valid()) e.live->order.give(stop_reason::lease_over);
}

template <class Environment>
task<void> item_runs<Environment>::attend(item_state& e) {
    for (;;) {
        e.has_news = false;
        auto const look_again = co_await take_step(e);
        if (!look_again) break;
        while (!e.has_news && *look_again > context_.now()) {
            auto const seen = e.woken.edition();
            co_await e.woken.newer_than(seen, *look_again);
        }
    }
    drop(e);
}

template <class Environment>
void item_runs<Environment>::drop(item_state& e) {
    for (auto const due : e.life.unfinished()) context_.tell_skipped(e.item(), due, events::skip_reason::not_ready);
    if (rounds_) rounds_->forget(e.item());
    table_.erase(e.item());
}

template <class Environment>
task<std::optional<mono_time>> item_runs<Environment>::take_step(item_state& e) {
    bool const was_busy = e.life.is_busy();
    auto const step = next(e);
    report(e, step.news);
    bool const has_begun = !was_busy && e.life.is_busy();
    item_news news;
    switch (step.is) {
    case item_step::kind::rest:
        news.look_again = step.until;
        break;
    case item_step::kind::read: {
        auto const there = co_await context_.registry.get(context_.at.run_record(e.item()));
        news = e.life.record_read(moment_of(e), there);
        break;
    }
    case item_step::kind::open:
        starts_.open(e, step.text);
        break;
    case item_step::kind::follow:
        co_await follow_foreign_run(e);
        break;
    case item_step::kind::note: {
        co_await e.write_access();
        auto const written =
            co_await context_.book.amend(terms().generation, e.life.note(), e.life.dead(), e.life.may_java_run_it());
        e.release();
        news = e.life.noted(moment_of(e), written);
        break;
    }
    case item_step::kind::start:
        news = co_await start(e);
        break;
    case item_step::kind::await:
        co_await wait_for_mark(e);
        e.life.mark_gone();
        break;
    case item_step::kind::call: {
        auto& run = *e.run;
        auto const ended = co_await calls_.call(e, run.config, run.lease ? &*run.lease : nullptr);
        run.lease.reset();
        run.name = ended.run;
        news = e.life.body_ended(moment_of(e), ended);
        break;
    }
    case item_step::kind::end: {
        auto const recorded = co_await ends_.put_on_record(e);
        news = e.life.end_answered(moment_of(e), recorded);
        if (recorded == end_result::fenced)
            context_.env.sink(
                events::item_fenced{context_.origin(), e.item(), e.run->due, e.life.token(), e.run->name});
        break;
    }
    case item_step::kind::catch_up: {
        auto const written = co_await context_.book.catch_up(e.life.resolves_in());
        news = e.life.caught_up(moment_of(e), written);
        break;
    }
    case item_step::kind::look: {
        auto const there = co_await context_.registry.get(context_.at.run_record(e.item()));
        news = e.life.start_looked_for(moment_of(e), there);
        break;
    }
    case item_step::kind::undo: {
        std::vector<run_end> start;
        start.push_back(e.life.undo());
        auto const undone = co_await context_.book.finish(e.life.resolves_in(), std::move(start));
        if (undone.refusal) ends_.tell_refused({&e}, *undone.refusal);
        news = e.life.undone(moment_of(e), undone.results.front());
        break;
    }
    case item_step::kind::leave:
        co_return std::nullopt;
    }
    report(e, news);
    if ((was_busy || has_begun) && !e.life.is_busy()) {
        e.run.reset();
        idle_news().notify();
    }
    co_return news.look_again;
}

template <class Environment>
item_step item_runs<Environment>::next(item_state& e) {
    terms().mend(context_.wall_now());
    return e.life.next(moment_of(e));
}

template <class Environment>
item_moment item_runs<Environment>::moment_of(item_state const& e) const {
    auto const& running = e.life.record().running;
    return {.terms = context_.terms,
            .self = context_.self,
            .at = context_.at,
            .now = context_.now(),
            .wall = context_.loop().wall_now(),
            .session = context_.registry.session(),
            .has_java_members = context_.has_java_members(),
            .is_share_known = is_share_known_,
            .is_first_sharding = is_first_sharding_,
            .is_closing = context_.is_closing,
            .gives_up = context_.gives_up,
            .is_runner_gone = running && is_gone(running->instance)};
}

template <class Environment>
void item_runs<Environment>::report(item_state const& e, item_news const& news) {
    if (news.trouble) context_.tell_trouble(*news.trouble);
    if (news.given_up_in) ends_.give_up(e.item(), *news.given_up_in);
    for (auto const& s : news.skipped) context_.tell_skipped(e.item(), s.last, s.why, s.count);
    if (rounds_ && news.deals_with_rounds)
        rounds_->dealt_with(e.item(), e.life.record().settled_through(), news.may_be_others);
}

template <class Environment>
task<item_news> item_runs<Environment>::start(item_state& e) {
    e.run = std::make_unique<run_in_hand>(run_in_hand{terms().config, {}, e.life.chosen().due});
    auto& run = *e.run;
    auto const answer = co_await starts_.ask(e);
    if (answer == start_answer::started && e.life.is_monitored()) {
        run.lease.emplace(context_.env.lease.keep(*e.life.mark(), context_.at.instance(context_.self), run.asked_at));
        if (run.lease->is_valid()) {
            is_told_of_late_start_ = false;
        } else {
            tell_late_start(run.asked_at);
            if (e.run->together) co_await live_batch::end(e);
            e.life.start_expired();
            co_return item_news{};
        }
    }
    co_return e.life.start_answered(moment_of(e), answer);
}

template <class Environment>
void item_runs<Environment>::tell_late_start(mono_time asked_at) {
    auto const timeout = context_.registry.session().timeout;
    auto const took = std::chrono::duration_cast<std::chrono::milliseconds>(context_.env.lease.now() - asked_at);
    bool const is_slow = context_.job.is_registered() && took >= lease_rule::assumed(timeout);
    if (!is_slow || std::exchange(is_told_of_late_start_, true)) return;
    context_.tell_trouble(
        {errc::timed_out,
         "the registry confirmed the start of a run after " + std::to_string(took.count()) +
             " ms, too late for a session time-out of " + std::to_string(timeout.count()) +
             " ms: the body was not called, and the item tries again; a longer session time-out allows "
             "slower confirmations",
         context_.at.root().str()});
}

template <class Environment>
task<void> item_runs<Environment>::follow_foreign_run(item_state& e) {
    event_watch<Loop> written{e.woken};
    while (e.life.is_ours() && terms().is_open) {
        auto const seen = e.woken.edition();
        auto until = mono_time::max();
        if (!written.is_linked()) {
            auto const there = co_await context_.registry.get(context_.at.run_record(e.item()), &written);
            auto const news = e.life.record_read(moment_of(e), there);
            report(e, news);
            if (!there) {
                written.unlink();
                until = news.look_again;
            }
        }
        bool const goes_on = e.life.follows() && !is_gone(e.life.record().running->instance);
        if (!goes_on) co_return;
        co_await e.woken.newer_than(seen, until);
    }
}

template <class Environment>
task<void> item_runs<Environment>::wait_for_mark(item_state& e) {
    event_watch<Loop> changed{e.woken};
    while (e.life.is_ours() && terms().is_open) {
        auto const seen = e.woken.edition();
        auto until = mono_time::max();
        if (!changed.is_linked()) {
            auto const is_gone = co_await is_mark_gone(e, changed);
            if (is_gone && *is_gone) co_return;
            if (!is_gone) {
                auto const news = e.life.mark_refused(moment_of(e), is_gone.error());
                report(e, news);
                changed.unlink();
                until = news.look_again;
            }
        }
        co_await e.woken.newer_than(seen, until);
    }
}

template <class Environment>
task<result<bool>> item_runs<Environment>::is_mark_gone(item_state& e, event_watch<Loop>& changed) {
    auto const mark = co_await context_.registry.get(context_.at.item_running(e.item()), &changed);
    if (mark) co_return co_await context_.book.drop_stray_mark(terms().generation, e.item(), *mark);
    if (mark.error() == errc::no_node) co_return true;
    co_return mark.error();
}

template <class Environment>
void item_runs<Environment>::tell_busy(item_state& e, wall_time due) {
    e.life.note_told_busy(due);
    if (terms().on_misfire.rule == misfire_rule::skip)
        context_.tell_skipped(e.item(), due, events::skip_reason::still_running);
    else
        context_.env.sink(events::item_misfired{context_.origin(), e.item(), due});
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_SCHEDULER_ITEM_RUNS_HPP
