// SPDX-License-Identifier: Apache-2.0
/// \file \brief The items of this instance: each lives on its own, none delaying another.
#ifndef ELASTICJOB_SCHEDULER_ITEM_RUNS_HPP
#define ELASTICJOB_SCHEDULER_ITEM_RUNS_HPP

#include <elasticjob/config/misfire_policy.hpp>
#include <elasticjob/core/algorithm.hpp>
#include <elasticjob/core/chrono.hpp>
#include <elasticjob/core/event_count.hpp>
#include <elasticjob/core/task.hpp>
#include <elasticjob/events/event.hpp>
#include <elasticjob/execution/after_run.hpp>
#include <elasticjob/execution/run_book.hpp>
#include <elasticjob/execution/run_choice.hpp>
#include <elasticjob/execution/run_record.hpp>
#include <elasticjob/registry/watch.hpp>
#include <elasticjob/scheduler/body_calls.hpp>
#include <elasticjob/scheduler/item_ends.hpp>
#include <elasticjob/scheduler/item_starts.hpp>
#include <elasticjob/scheduler/item_state.hpp>
#include <elasticjob/scheduler/item_tally.hpp>
#include <elasticjob/scheduler/job_body.hpp>
#include <elasticjob/scheduler/job_site.hpp>
#include <elasticjob/scheduler/job_standing.hpp>
#include <elasticjob/scheduler/live_batch.hpp>
#include <elasticjob/scheduler/live_run.hpp>
#include <elasticjob/scheduler/rounds.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace elasticjob::detail {

/// One coroutine for each item that is ours, `attend`, which reads from top to bottom like the life of the item: learn
/// what is known of its runs, wait until something is to be run (`run_choice`), begin (`item_starts`), run (`body_calls`),
/// end (`item_ends`). Threads: the loop's; bodies run on the pool.
template <class Environment>
class item_runs {
    using Registry = typename Environment::registry_type;
    using Loop = typename Environment::loop_type;
    using site = job_site<Environment>;
    using item_state = detail::item_state<Environment>;
    using live_batch = detail::live_batch<Environment>;
    using hold = typename Environment::lease_type::hold;
    using listeners = typename Environment::listeners_type;
    using item_share = item_claim::share;

public:
    /// The standing is the job's, and must outlive this.
    item_runs(job_standing<Environment>& here, job_body<Loop> body);
    ~item_runs();

    auto& terms() noexcept { return site_.terms; }

    /// Everybody looks whether there is something to do for him.
    void stir();

    /// From now on these items are ours, and no others.
    void own(item_claim claim);

    /// What streams hears whether it may go on, or is to end behind the round that it is in.
    void tell_streams();

    /// It is not known for the moment what is ours: nothing begins, and what runs goes on.
    void doubt_ownership();

    /// An instant has become due. Items that are still running are told of; the others see to themselves.
    void tick(wall_time due);

    /// Has every item of ours run once, now; what runs runs once more when it has ended.
    void order_all(wall_time now);

    /// Nothing runs, nothing is about to, and of nothing is it unknown whether it does.
    bool is_idle() const;

    /// Nothing of the user's is called any more. Precondition: is_idle.
    void seal() noexcept { rounds_.seal(); }

    /// Notified when that may have become so.
    event_count<Loop>& idle_news() noexcept { return site_.idle_news; }

    bool has_java_members() const { return site_.has_java_members(); }

    /// The instance is to leave, for a reason of its runs'.
    bool stands_down() const noexcept { return site_.is_to_leave; }

    /// Nothing begins any more, and what cannot be recorded now is given up.
    void close();

    /// What runs is asked to stop. What is just beginning is asked when it has begun: by its call if the job is draining, by
    /// its lease if the session is over.
    void request_stop(stop_reason why);

    /// The instance has a new session: the marks of the old one have gone with it.
    task<void> mark_again(session_generation g);

    enum class order_answer : std::uint8_t {
        done,    ///< it has been obeyed, or there is nothing to obey any more
        not_yet, ///< that cannot be said just now
        not_ours
    };

    /// An operator asks the run of an item for that instant to stop.
    order_answer stop(item_index i, wall_time due);

    /// An operator has written the record of an item.
    order_answer look_again(item_index i);

    /// Writes down how much has been processed since `since`, by what still runs too. Errors: see `item_tally`.
    task<result<void>> publish_counts(wall_time since);

    void look_at_lease();

private:
    /// The life of an item, from the moment that it is ours.
    task<void> attend(item_state& e);

    /// Does what is to be done next. Gives when to look again, if nothing stirs before.
    task<mono_time> step(item_state& e);

    /// Reads what is known of the item's runs, or begins to write it down.
    task<mono_time> take_in(item_state& e);

    void take_record(item_state& e, node const& there);

    /// A record is written behind the order that it has obeyed. If it says otherwise, it was copied from another registry,
    /// whose revisions mean nothing here. Orders count anew from now on, and that is told.
    void mend_copied(item_state& e, revision written);

    /// Whether an instance that has begun a run cannot end it any more. Our own runs are in the table, not here.
    bool is_gone(std::string const& id) const { return id == site_.self.str() || !site_.view->has_instance(id); }

    /// A former owner still runs it. Waits for that one node: until the run has ended, or the instance is gone.
    task<mono_time> follow_foreign_run(item_state& e);

    /// What is true of the record, though nothing is run for it now.
    void remember(item_state& e, next_run next);

    /// Writes what others have to know, though there is no run to write it with.
    task<mono_time> write_down(item_state& e);

    /// From the first request to the record of the end.
    task<mono_time> run(item_state& e, next_run next);

    task<mono_time> run_if_possible(item_state& e, next_run next);

    /// A later attempt carries out an earlier order, not the one that waits.
    static bool is_first_of_order(run_begin const& what) noexcept {
        return what.source == run_source::trigger && what.attempt == 1;
    }

    /// The run that was to begin is not to be, and that is final.
    void drop(item_state& e, next_run next, std::string_view why);

    /// Somebody's mark stands there who keeps no record: a Java member's. One of our own has no run behind it, for it
    /// is this item's only one that begins: it is removed.
    task<void> wait_for_mark(item_state& e);

    /// A session ended before it was known whether a run had begun on record. The body was not called: if it had begun,
    /// that is undone. As long as we live nobody else would; so nobody leaves before it is, unless that session is over,
    /// which took the mark along, and there is no other. What we had taken from a dead instance cannot be given back to
    /// it, for its writings are fenced by now.
    task<mono_time> settle(item_state& e);
    mono_time settled(item_state& e);

    /// The loop's time of an instant; a minute from now at the latest, because clocks are put forward.
    mono_time moment_of(std::optional<wall_time> t) const;

    /// 0 the first time, for then the news is there already; later longer and longer, up to some seconds.
    static std::chrono::milliseconds back_off(item_state& e);

    /// Rounds hear of what the item has dealt with; of what it runs, they do when it has ended.
    void tell_rounds(item_state const& e, bool may_be_others);

    void tell_skipped(item_state const& e, skipped_instants const& which);
    void tell_untold(item_state& e);

    void tell_busy(item_state& e, wall_time due);

    site site_;
    item_table<Environment> table_; ///< what is ours, or runs here
    rounds_of<Environment> rounds_;
    item_starts<Environment> starts_;
    item_tally<Environment> tally_;
    body_calls<Environment> calls_;
    item_ends<Environment> ends_;
    int busy_ = 0;
    bool is_share_known_ = false;
    bool is_first_sharding_ = false; ///< of the job: nobody has had an item before
    std::uint32_t known_items_ = 0;  ///< of the assignment in force; 0: none was
    wall_time doubted_at_;           ///< since when it is not known what is ours
    task_scope tasks_;               ///< last: its tasks use all of the above
};

template <class Environment>
item_runs<Environment>::item_runs(job_standing<Environment>& here, job_body<Loop> body)
    : site_{here},
      rounds_{site_},
      starts_{site_, table_},
      tally_{site_},
      calls_{site_, std::move(body), rounds_, tally_},
      ends_{site_, table_},
      doubted_at_{site_.wall_now()} {}

template <class Environment>
item_runs<Environment>::~item_runs() = default;

template <class Environment>
void item_runs<Environment>::stir() {
    for (auto& [i, e] : table_) e.stir();
}

template <class Environment>
void item_runs<Environment>::own(item_claim claim) {
    auto const& view = *site_.view;
    if constexpr (listeners::hear_rounds)
        rounds_.set_item_count(static_cast<std::uint32_t>(terms().config->config().sharding_total_count));
    auto const wall = site_.wall_now();
    auto const ours_since = is_share_known_ ? wall : std::max(doubted_at_, wall - site_.env.options.sharding_timeout);
    is_share_known_ = true;
    auto const* in_force = view.assignment_in_force();
    bool const is_item_new = view.first_item() && view.first_item()->stat.created == view.first_item()->stat.modified;
    is_first_sharding_ = in_force && in_force->epoch() == 1 && is_item_new && !site_.has_java_members();
    // What was ordered before the items were made more is not for the new ones.
    bool const is_order_old = in_force && terms().run_order < view.assignment_node()->stat.modified;
    auto const known_before = std::exchange(known_items_, in_force ? in_force->items() : 0);
    starts_.require(std::move(claim.common));
    std::map<item_index, item_share> ours;
    for (auto& s : claim.shares) ours.emplace(s.item, std::move(s));
    for (auto& [i, e] : table_) {
        auto const at = ours.find(i);
        bool const is_ours = at != ours.end();
        if (!is_ours && e.live) e.live->order.give(stop_reason::reassigned);
        e.share.reset(); // not before the order, in which a body may end
        if (is_ours) e.share = at->second;
        e.stir();
    }
    for (auto& [i, s] : ours) {
        if (table_.contains(i)) continue;
        auto& e = table_.try_emplace(i, site_.loop(), i).first->second;
        e.share = s;
        e.ours_since = ours_since;
        if (known_before != 0 && i >= known_before && is_order_old) e.record.obeyed = terms().run_order;
        tasks_.spawn(attend(e));
    }
}

template <class Environment>
void item_runs<Environment>::tell_streams() {
    for (auto& [i, e] : table_)
        if (e.live) e.live->is_to_yield = !terms().may_stream;
}

template <class Environment>
void item_runs<Environment>::doubt_ownership() {
    if (std::exchange(is_share_known_, false)) doubted_at_ = site_.wall_now();
}

template <class Environment>
void item_runs<Environment>::tick(wall_time due) {
    for (auto& [i, e] : table_)
        if ((e.live || e.record.running || e.record.retry) && e.record.through < due && e.told_through < due &&
            terms().due->delay_of(i).count() == 0)
            tell_busy(e, due);
    stir();
}

template <class Environment>
void item_runs<Environment>::order_all(wall_time now) {
    for (auto& [i, e] : table_)
        if (e.share) e.order = now;
    stir();
}

template <class Environment>
bool item_runs<Environment>::is_idle() const {
    auto const is_certain = [](auto const& one) { return !one.second.uncertain; };
    return busy_ == 0 && calls_.is_idle() && rounds_.is_idle() && std::all_of(table_.begin(), table_.end(), is_certain);
}

template <class Environment>
void item_runs<Environment>::close() {
    site_.is_closing = true;
    terms().is_open = false;
    stir();
}

template <class Environment>
void item_runs<Environment>::request_stop(stop_reason why) {
    if (why == stop_reason::draining) calls_.drain();
    for (auto& [i, e] : table_)
        if (e.live) e.live->order.give(why);
}

template <class Environment>
task<void> item_runs<Environment>::mark_again(session_generation g) {
    std::vector<item_index> marked;
    for (auto& [i, e] : table_)
        if (e.live && e.mark) marked.push_back(i);
    for (auto const i : marked) {
        auto at = table_.find(i);
        for (; at != table_.end() && at->second.is_being_written; at = table_.find(i)) {
            auto const pause = site_.now() + site::retry_pause;
            co_await idle_news().newer_than(idle_news().edition(), pause);
        }
        if (at == table_.end() || !at->second.live || !at->second.mark) continue; // it has ended meanwhile
        auto& e = at->second;
        e.is_being_written = true;
        auto const ours = co_await site_.book.mark_again(g, i, e.version.value_or(0));
        e.release();
        if (ours && *ours) e.mark = g;
        if (!ours || *ours) continue; // ours, or of a session that is over too: then once more
        e.mark.reset();               // the mark that stands there is somebody else's, and not ours to take away
        if (e.live) e.live->order.give(stop_reason::taken_over);
    }
}

template <class Environment>
auto item_runs<Environment>::stop(item_index i, wall_time due) -> order_answer {
    auto const at = table_.find(i);
    if (at == table_.end()) return order_answer::not_ours;
    auto& e = at->second;
    if (e.live && e.record.running && e.record.running->due == due) e.live->order.give(stop_reason::ordered);
    if (e.live) return order_answer::done;
    bool const is_known = !e.is_busy && !e.uncertain && e.is_read && !e.record.running;
    return is_known && e.share ? order_answer::done : order_answer::not_yet;
}

template <class Environment>
auto item_runs<Environment>::look_again(item_index i) -> order_answer {
    auto const at = table_.find(i);
    if (at == table_.end() || !at->second.share) return order_answer::not_ours;
    at->second.is_edited = true;
    at->second.stir();
    return order_answer::done;
}

template <class Environment>
task<result<void>> item_runs<Environment>::publish_counts(wall_time since) {
    for (auto& [i, e] : table_) tally_.take(e);
    return tally_.publish(since);
}

template <class Environment>
void item_runs<Environment>::look_at_lease() {
    for (auto& [i, e] : table_)
        if (e.live && e.live->lease && !e.live->lease->is_valid()) e.live->order.give(stop_reason::lease_over);
}

template <class Environment>
task<void> item_runs<Environment>::attend(item_state& e) {
    while (e.share || e.uncertain) {
        e.has_news = false;
        auto const look_again = co_await step(e);
        while (!e.has_news && look_again > site_.now()) {
            auto const seen = e.stirred.edition();
            co_await e.stirred.newer_than(seen, look_again);
        }
    }
    if (e.order) site_.tell_skipped(e.item, *e.order, events::skip_reason::not_ready); // it is somebody else's item now
    for (auto const* waiting : {&e.record.resume, &e.record.retry})
        if (*waiting && !e.version) // nobody else knows of it
            site_.tell_skipped(e.item, (*waiting)->due, events::skip_reason::not_ready);
    if constexpr (listeners::hear_rounds) rounds_.forget(e.item);
    table_.erase(e.item);
}

template <class Environment>
task<mono_time> item_runs<Environment>::step(item_state& e) {
    if (e.uncertain) co_return co_await settle(e);
    if (!terms().is_open || !is_share_known_) co_return mono_time::max();
    if (std::exchange(e.is_edited, false)) e.is_read = false;
    if (!e.is_read) co_return co_await take_in(e);
    if (e.record.running && !is_gone(e.record.running->instance)) co_return co_await follow_foreign_run(e);
    terms().mend(site_.wall_now());
    auto next = site_.choice().choose(e.facts());
    if (next.record.running) co_return co_await run(e, std::move(next));
    remember(e, std::move(next));
    if (e.owed != unwritten::nothing && e.version) co_return co_await write_down(e);
    co_return moment_of(site_.choice().next_look(e.item, e.record));
}

template <class Environment>
task<mono_time> item_runs<Environment>::take_in(item_state& e) {
    if (e.is_being_opened) co_return mono_time::max();
    run_record fresh;
    fresh.schedule = terms().schedule;
    fresh.through = site_.choice().unrecorded_since(e.ours_since);
    fresh.obeyed = is_first_sharding_ ? e.record.obeyed : std::max(e.record.obeyed, terms().obeyed_before);
    if (!terms().is_monitored()) {
        // There is no record to say what others have obeyed: what was ordered before the item was ours was for them.
        if (!is_first_sharding_ && terms().ordered_at <= e.ours_since) fresh.obeyed = terms().run_order;
        e.record = std::move(fresh);
        e.version.reset();
        e.is_read = true;
        co_return site_.now();
    }
    auto const there = co_await site_.registry.get(site_.at.run_record(e.item));
    if (there) {
        take_record(e, *there);
        co_return site_.now();
    }
    if (!(there.error() == errc::no_node)) co_return site_.now() + site::retry_pause;
    starts_.open(e, fresh.to_text());
    co_return mono_time::max(); // or when it has been opened
}

template <class Environment>
void item_runs<Environment>::take_record(item_state& e, node const& there) {
    e.owes_nothing();
    e.version = there.stat.version;
    e.is_read = true;
    auto const obeyed = e.record.obeyed;
    auto read = run_record::parse(there.data);
    if (read) {
        e.record = *std::move(read);
    } else {
        auto why = read.error();
        why.what = "a run record cannot be read, and is begun anew: " + why.what;
        site_.tell_trouble(why);
        e.record = run_record{};
        e.record.obeyed = terms().obeyed_before;
    }
    if (e.record.obeyed > there.stat.modified) mend_copied(e, there.stat.modified);
    e.record.obeyed = std::max(e.record.obeyed, obeyed);
    // Their writing had no reply. If it has not happened, they are chosen anew.
    if (e.untold && e.untold->last <= e.record.through) tell_untold(e);
    e.untold.reset();
    // Instants that Java members may have run, who keep no record, are not made up for.
    if (site_.has_java_members() && !terms().due->follows())
        e.record.through = std::max(e.record.through, e.ours_since);
    tell_rounds(e, true);
}

template <class Environment>
void item_runs<Environment>::mend_copied(item_state& e, revision written) {
    site_.tell_trouble({errc::malformed_data,
                        "the run record was copied from another registry, because it has obeyed an order of revision " +
                            std::to_string(e.record.obeyed) + " and was written at revision " +
                            std::to_string(written) +
                            ": only orders that come from now on are carried out, and fencing tokens start anew, so a "
                            "store that compares them must forget the old ones",
                        site_.at.run_record(e.item).str()});
    e.record.obeyed = std::max(written, terms().obeyed_before);
    e.owed = unwritten::an_end;
}

template <class Environment>
task<mono_time> item_runs<Environment>::follow_foreign_run(item_state& e) {
    node_watch<Loop> written{e.stirred};
    while (e.share && terms().is_open) {
        auto const seen = e.stirred.edition();
        auto until = mono_time::max();
        if (!written.is_linked()) {
            auto const there = co_await site_.registry.get(site_.at.run_record(e.item), &written);
            if (there)
                take_record(e, *there);
            else if (there.error() == errc::no_node)
                e.is_read = false;
            else
                until = site_.now() + site::retry_pause;
            if (!there) written.unlink();
        }
        if (!e.is_read || !e.record.running || is_gone(e.record.running->instance)) break;
        co_await e.stirred.newer_than(seen, until);
    }
    co_return site_.now();
}

template <class Environment>
void item_runs<Environment>::remember(item_state& e, next_run next) {
    e.record = std::move(next.record);
    e.dead = next.dead ? std::make_unique<instance_id>(*std::move(next.dead)) : nullptr;
    e.owed = std::max(e.owed, next.owed);
    if (next.untold.count != 0) e.untold = std::make_unique<skipped_instants>(next.untold);
    bool const is_written_first = e.owed != unwritten::nothing && e.version;
    if (!is_written_first) tell_untold(e);
    tell_rounds(e, next.may_be_others);
}

template <class Environment>
task<mono_time> item_runs<Environment>::write_down(item_state& e) {
    co_await e.write_access();
    auto what = e.over_known(e.record);
    bool const is_javas = e.owed == unwritten::javas_run;
    auto const written = co_await site_.book.amend(terms().generation, std::move(what), e.dead_instance(), is_javas);
    e.release();
    if (!written) {
        e.is_read = false; // somebody has been faster, or it is not known
        co_return site_.now() + back_off(e);
    }
    e.version = *e.version + 1;
    e.failures = 0;
    e.owes_nothing();
    tell_untold(e);
    co_return site_.now();
}

template <class Environment>
task<mono_time> item_runs<Environment>::run(item_state& e, next_run next) {
    ++busy_;
    e.is_busy = true;
    auto const look_again = co_await run_if_possible(e, std::move(next));
    e.is_busy = false;
    --busy_;
    idle_news().notify();
    co_return look_again;
}

template <class Environment>
task<mono_time> item_runs<Environment>::run_if_possible(item_state& e, next_run next) {
    auto const what = *next.record.running;
    auto const config = terms().config;
    bool const is_monitored = next.is_monitored;
    auto const answer = co_await starts_.ask(e, next);
    switch (answer) {
    case start_answer::started:
        break;
    case start_answer::running_elsewhere:
        co_await wait_for_mark(e);
        co_return site_.now();
    case start_answer::disabled:
        next.untold = {what.due, 1, events::skip_reason::disabled};
        next.owed = unwritten::an_end;
        drop(e, std::move(next), name_of(events::skip_reason::disabled));
        co_return site_.now();
    case start_answer::clock_differs:
        // Nothing of it is written down: such a clock may take what comes for what has been.
        if (std::exchange(e.told_of_clock, what.due) != what.due)
            site_.tell_skipped(e.item, what.due, events::skip_reason::clock_differs);
        co_return site_.now() + back_off(e);
    case start_answer::taken:
        next.owed = unwritten::javas_run;
        drop(e, std::move(next), "a Java member makes up for it");
        co_return site_.now();
    case start_answer::outdated:
        e.is_read = false;
        co_return site_.now() + back_off(e);
    case start_answer::unclaimed:
        co_return site_.now() + back_off(e);
    case start_answer::unknown:
        if (!is_monitored) co_return site_.now() + back_off(e);
        e.uncertain = std::make_unique<std::string>(next.record.to_text());
        co_return site_.now();
    }
    std::optional<hold> lease;
    if (is_monitored) {
        lease.emplace(site_.env.lease.keep(*e.mark, site_.at.instance(site_.self), e.asked_at));
        if (!lease->is_valid()) { // the answer took so long that the session may be over
            if constexpr (listeners::hear_batches) co_await live_batch::end(e);
            e.mark.reset();
            e.uncertain = std::make_unique<std::string>(next.record.to_text());
            co_return site_.now();
        }
    }
    e.failures = 0;
    e.owes_nothing();
    if (is_first_of_order(what)) e.order.reset();
    tell_skipped(e, next.untold);
    e.record = std::move(next.record);
    auto const ended = co_await calls_.call(e, config, lease ? &*lease : nullptr);
    e.rounds_at_end = terms().due->last_round();
    lease.reset();
    site_.aftermath().note_end(e.record, ended);
    site_.choice().note_next_due(e.record);
    if (is_monitored) co_await ends_.put_on_record(e, what.due, ended.run);
    if (e.is_read) tell_rounds(e, true);
    co_return site_.now();
}

template <class Environment>
void item_runs<Environment>::drop(item_state& e, next_run next, std::string_view why) {
    bool const was_ordered = next.record.running->source == run_source::trigger;
    bool const had_failed = next.record.running->attempt > 1;
    bool const is_javas = next.owed == unwritten::javas_run;
    if (is_first_of_order(*next.record.running)) e.order.reset();
    next.record.last_begun = e.record.last_begun;
    next.record.end(run_outcome::skipped, site_.wall_now(), std::string{why});
    if (had_failed && !is_javas) next.record.bury(terms().dead_letters_max);
    if (had_failed || was_ordered) next.owed = std::max(next.owed, unwritten::an_end);
    next.may_be_others = true;
    remember(e, std::move(next));
}

template <class Environment>
task<void> item_runs<Environment>::wait_for_mark(item_state& e) {
    node_watch<Loop> gone{e.stirred};
    while (e.share && terms().is_open) {
        auto const seen = e.stirred.edition();
        auto until = mono_time::max();
        if (!gone.is_linked()) {
            auto const mark = co_await site_.registry.get(site_.at.item_running(e.item), &gone);
            if (!mark && mark.error() == errc::no_node) co_return;
            bool is_known = mark.has_value();
            if (mark) {
                auto const stray = co_await site_.book.drop_stray_mark(terms().generation, e.item, *mark);
                if (stray && *stray) co_return;
                is_known = stray.has_value();
            }
            if (!is_known) {
                gone.unlink();
                until = site_.now() + site::retry_pause;
            }
        }
        co_await e.stirred.newer_than(seen, until);
    }
}

template <class Environment>
task<mono_time> item_runs<Environment>::settle(item_state& e) {
    auto const session = site_.registry.session();
    if (session.state != session_state::connected) {
        bool const is_over = session.generation != e.asked_in;
        co_return site_.is_closing&& is_over ? settled(e) : mono_time::max();
    }
    auto const caught_up = co_await site_.book.catch_up(session.generation);
    if (!caught_up) co_return site_.now() + site::retry_pause;
    auto const there = co_await site_.registry.get(site_.at.run_record(e.item));
    if (!there && !(there.error() == errc::no_node)) {
        if (site_.is_closing && !is_connection(there.error().code)) co_return settled(e); // it cannot be read at all
        co_return site_.now() + site::retry_pause;
    }
    if (there && there->data == *e.uncertain) {
        if (e.record.running) e.record.running->instance = nobody;
        std::vector<run_end> undo{{e.item, e.record.to_text(), there->stat.version, true, e.is_failover}};
        auto const undone = co_await site_.book.finish(session.generation, std::move(undo));
        if (undone.results.front() == end_result::session_over) co_return site_.now() + site::retry_pause;
        if (undone.results.front() == end_result::refused) {
            ends_.tell_refused({&e}, *undone.refusal);
            if (!site_.is_closing) co_return site_.now() + back_off(e);
            ends_.give_up(e, session.generation);
        }
    }
    co_return settled(e);
}

template <class Environment>
mono_time item_runs<Environment>::settled(item_state& e) {
    e.uncertain.reset();
    e.is_end_owed = false;
    e.is_read = false;
    idle_news().notify();
    return site_.now() + back_off(e);
}

template <class Environment>
mono_time item_runs<Environment>::moment_of(std::optional<wall_time> t) const {
    if (!t) return mono_time::max();
    auto const left = *t - site_.loop().wall_now();
    return site_.now() +
           std::clamp<std::chrono::nanoseconds>(left, std::chrono::milliseconds{1}, std::chrono::minutes{1});
}

template <class Environment>
std::chrono::milliseconds item_runs<Environment>::back_off(item_state& e) {
    auto const n = e.failures < 7 ? e.failures++ : e.failures;
    return n == 0 ? std::chrono::milliseconds{0} : site::retry_pause * (1 << (n - 1)) / 2;
}

template <class Environment>
void item_runs<Environment>::tell_rounds(item_state const& e, bool may_be_others) {
    if constexpr (listeners::hear_rounds) {
        rounds_.dealt_with(e.item, e.record.settled_through(), may_be_others);
    } else {
        (void)e, (void)may_be_others;
    }
}

template <class Environment>
void item_runs<Environment>::tell_skipped(item_state const& e, skipped_instants const& which) {
    if (which.count != 0) site_.tell_skipped(e.item, which.last, which.why, which.count);
}

template <class Environment>
void item_runs<Environment>::tell_untold(item_state& e) {
    if (auto const which = std::move(e.untold)) tell_skipped(e, *which);
}

template <class Environment>
void item_runs<Environment>::tell_busy(item_state& e, wall_time due) {
    e.told_through = due;
    if (terms().on_misfire.rule == misfire_rule::skip)
        site_.tell_skipped(e.item, due, events::skip_reason::still_running);
    else
        site_.env.sink(events::item_misfired{site_.origin(), e.item, due});
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_SCHEDULER_ITEM_RUNS_HPP
