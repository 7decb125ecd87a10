// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_EXECUTION_ITEM_LIFE_IPP
#define ELASTICJOB_IMPL_EXECUTION_ITEM_LIFE_IPP

#include <elasticjob/core/algorithm.hpp>
#include <elasticjob/execution/item_life.hpp>
#include <elasticjob/registry/retry_pauses.hpp>

#include <cassert>

namespace elasticjob::detail {

// ---- The requests.

ELASTICJOB_DECL item_life::item_life(item_index i, share s, wall_time ours_since, revision obeyed, bool was_javas,
                                     bool is_new)
    : item_{i},
      phase_{is_new ? phase::absent : phase::unread},
      was_javas_{was_javas},
      share_{std::move(s)},
      ours_since_{ours_since} {
    record_.obeyed = obeyed;
}

ELASTICJOB_DECL item_step item_life::next(item_moment const& m) {
    assert(holds());
    if (is_uncertain()) return resolve(m);
    if (phase_ == phase::ending) return end_run(m);
    if (phase_ == phase::running) return {item_step::kind::call};
    if (phase_ == phase::marked) return {item_step::kind::await};
    if (!share_) return {item_step::kind::leave};
    bool const is_owner_known = m.is_share_known || is_adopted(); // adopted items belong to no share
    if (!m.terms.is_open || !is_owner_known || phase_ == phase::opening) return {};
    if (phase_ == phase::opened) {
        auto const known = std::exchange(created_, {});
        phase_ = phase::unread;
        if (m.terms.is_monitored() && !is_edited_) return {.until = m.now, .news = take_record(m, *known)};
    }
    if (m.terms.is_monitored()) {
        bool const is_edited = std::exchange(is_edited_, false);
        if (is_edited || (phase_ == phase::resting && !version_)) phase_ = phase::unread;
        if (phase_ == phase::unread) return {item_step::kind::read};
    }
    if (!m.terms.is_monitored() && (phase_ == phase::unread || phase_ == phase::absent)) {
        begin_without_record(m);
        phase_ = phase::resting;
    }
    if (phase_ == phase::absent) {
        phase_ = phase::opening;
        return {.is = item_step::kind::open, .text = first_record(m).to_text()};
    }
    if (record_.running && !m.is_runner_gone) {
        if (!is_adopted()) return {item_step::kind::follow};
        take_away(); // another member has been faster
        return {item_step::kind::leave};
    }
    return choose(m);
}

ELASTICJOB_DECL item_step item_life::choose(item_moment const& m) {
    auto next = choice(m).choose({item_, record_, dead(), order_, told_through_, rounds_at_end_, is_adopted()});
    if (next.record->running) {
        is_failover_ = next.is_failover;
        begun_ = std::move(next);
        phase_ = phase::starting;
        return {item_step::kind::start};
    }
    item_step step;
    step.news = remember(std::move(next));
    if (pending_ != unwritten::nothing && version_) {
        phase_ = phase::noting;
        step.is = item_step::kind::note;
    } else if (is_adopted() && !record_.resume && !record_.retry) {
        take_away();
        step.until = m.now;
    } else if (auto const t = choice(m).next_look(item_, record_)) {
        auto const left = std::clamp<std::chrono::nanoseconds>(*t - m.wall, std::chrono::milliseconds{1}, looks_every);
        step.until = m.now + left;
    }
    return step;
}

ELASTICJOB_DECL item_step item_life::end_run(item_moment const& m) {
    bool const is_over = !mark_ && m.session.state != session_state::connected;
    if (is_over && m.gives_up) return {.until = m.now, .news = ended(false)};
    if (is_over) return {};
    if (end_again_ > m.now && !m.is_closing) return {.until = end_again_};
    asked_in_ = m.session.generation;
    return {item_step::kind::end};
}

ELASTICJOB_DECL item_step item_life::resolve(item_moment const& m) {
    if (phase_ == phase::looking) return {item_step::kind::look};
    if (phase_ == phase::undoing) return {item_step::kind::undo};
    if (m.session.state == session_state::connected) {
        doubt_->resolved_in = m.session.generation;
        return {item_step::kind::catch_up};
    }
    bool const is_over = m.session.generation != asked_in_;
    if (m.is_closing && is_over) return {.until = m.now, .news = resolved(m.now)};
    return {};
}

ELASTICJOB_DECL void item_life::begin_without_record(item_moment const& m) {
    auto fresh = first_record(m);
    // This instance may have handled instants of this schedule already.
    if (record_.schedule == fresh.schedule) {
        fresh.through = std::max(fresh.through, record_.through);
        fresh.last_completed = record_.last_completed;
    }
    record_ = std::move(fresh);
    version_.reset();
}

ELASTICJOB_DECL run_record item_life::first_record(item_moment const& m) const {
    run_record fresh;
    fresh.schedule = m.terms.schedule;
    fresh.through = choice(m).unrecorded_since(ours_since_);
    if (was_javas_ && !m.terms.due->follows()) fresh.through = ours_since_;
    fresh.obeyed = m.is_first_sharding ? record_.obeyed : std::max(record_.obeyed, m.terms.obeyed_before);
    // Without a record, no member knows the orders that others have obeyed: an order given before the item was ours was
    // for them.
    bool const was_for_others = !m.is_first_sharding && m.terms.ordered_at <= ours_since_;
    if (!m.terms.is_monitored() && was_for_others) fresh.obeyed = m.terms.run_order;
    return fresh;
}

ELASTICJOB_DECL run_start item_life::start() const {
    run_start what;
    what.share.item = item_;
    what.dead = begun_->dead;
    what.version = version_;
    what.is_failover = begun_->is_failover;
    if (begun_->is_monitored) what.record = begun_->record->to_text();
    return what;
}

ELASTICJOB_DECL run_end item_life::over_known(run_record const& r, run_progress const* progress) const {
    run_end what;
    what.item = item_;
    what.record = r.to_text(progress);
    what.version = version_.value_or(0);
    return what;
}

ELASTICJOB_DECL run_end item_life::end() const {
    auto what = over_known(record_);
    what.is_marked = mark_.has_value();
    what.is_failover = mark_.has_value() && is_failover_;
    return what;
}

ELASTICJOB_DECL run_end item_life::undo() const {
    return {item_, record_.to_text(), doubt_->version, true, is_failover_};
}

// ---- The replies.

ELASTICJOB_DECL item_news item_life::record_read(item_moment const& m, result<node> const& read) {
    if (read) return take_record(m, *read);
    if (read.error() == errc::no_node && is_adopted()) {
        take_away(); // the item has been removed
        return {};
    }
    if (read.error() == errc::no_node) {
        phase_ = phase::absent;
        return {};
    }
    return to_repeat(m, read.error());
}

ELASTICJOB_DECL item_news item_life::failed(error const& why, mono_time again) {
    item_news news{.look_again = again};
    if (failure_.is_news(why)) news.trouble = why;
    return news;
}

ELASTICJOB_DECL item_news item_life::to_repeat(item_moment const& m, error const& why) {
    return failed(why, is_lasting(why) ? back_off(m.now) : m.now + retry_pause);
}

ELASTICJOB_DECL item_news item_life::take_record(item_moment const& m, node const& there) {
    item_news news{.deals_with_rounds = true, .may_be_others = true};
    clear_pending();
    phase_ = phase::resting;
    bool const was_monitored = version_.has_value();
    version_ = there.stat.version;
    auto const ours = std::move(record_);
    auto read = run_record::parse(there.data);
    if (!read) {
        news.trouble = read.error();
        news.trouble->what = "a run record cannot be read, and is begun anew: " + read.error().what;
        record_ = run_record{};
        record_.obeyed = m.terms.obeyed_before;
    } else {
        record_ = *std::move(read);
        bool const is_foreign = record_.created != 0 && record_.created != there.stat.created;
        if (is_foreign || record_.obeyed > there.stat.modified) news.trouble = mend_copied(there.stat.modified, m);
    }
    record_.created = there.stat.created;
    record_.obeyed = std::max(record_.obeyed, ours.obeyed);
    if (!was_monitored && ours.schedule == m.terms.schedule) keep_unrecorded(ours);
    // The reply to the write of these skips was lost. If it had no effect, they are chosen
    // again.
    if (untold_ && untold_->back().last <= record_.through) news.skipped = take_untold();
    untold_.reset();
    // Instants that Java members may have run, without a record, are not made up for.
    bool const may_be_run = m.has_java_members || was_javas_;
    if (!may_be_run || m.terms.due->follows() || record_.through >= ours_since_) return news;
    record_.through = ours_since_;
    if (!m.has_java_members) pending_ = unwritten::an_end; // the next owner may not know of them
    return news;
}

ELASTICJOB_DECL void item_life::keep_unrecorded(run_record const& ours) {
    record_.schedule = ours.schedule;
    if (ours.through > record_.through) {
        record_.through = ours.through;
        pending_ = unwritten::an_end; // the next owner may not know of these runs
    }
    record_.last_completed = std::max(record_.last_completed, ours.last_completed);
    if (record_.running || record_.retry) return;
    record_.retry = ours.retry;
    record_.resume = ours.resume;
}

ELASTICJOB_DECL error item_life::mend_copied(revision written, item_moment const& m) {
    record_.obeyed = std::max(written, m.terms.obeyed_before);
    record_.copies = std::min(record_.copies + 1, run_record::copies_max);
    pending_ = unwritten::an_end;
    return {errc::malformed_data,
            "the run record was copied from another registry, because it does not belong to the node that has it: only "
            "orders that come from now on are carried out, and fencing tokens go on above the earlier ones",
            m.at.run_record(item_).str()};
}

ELASTICJOB_DECL void item_life::opened(record_creation r) {
    if (phase_ != phase::opening) return;
    phase_ = r.created != 0 ? phase::opened : phase::unread;
    if (r.created != 0) created_ = node{std::move(r.text), {.created = r.created, .modified = r.created}};
}

ELASTICJOB_DECL item_news item_life::noted(item_moment const& m, result<void> const& written) {
    if (!written) { // another member has been faster, or the outcome is unknown, or the registry refuses it
        phase_ = phase::unread;
        return failed(written.error(), back_off(m.now));
    }
    phase_ = phase::resting;
    version_ = *version_ + 1;
    failures_ = 0;
    failure_.end();
    clear_pending();
    return {.skipped = take_untold()};
}

ELASTICJOB_DECL void item_life::start_granted(run_ticket const& t, session_generation g) {
    token_ = begun_->record->token_of(t.at);
    if (!begun_->is_monitored) return;
    version_ = t.version;
    mark_ = g;
}

ELASTICJOB_DECL item_news item_life::start_answered(item_moment const& m, start_answer a) {
    auto next = *std::move(begun_);
    begun_.reset();
    phase_ = phase::resting;
    auto const what = *next.record->running;
    switch (a) {
    case start_answer::started:
        return begin(std::move(next));
    case start_answer::running_elsewhere:
        phase_ = phase::marked;
        return {};
    case start_answer::disabled:
        next.untold.push_back({what.due, 1, events::skip_reason::disabled});
        next.pending = unwritten::an_end;
        return drop(m, std::move(next), name_of(events::skip_reason::disabled));
    case start_answer::taken:
        next.pending = unwritten::javas_run;
        return drop(m, std::move(next), "a Java member makes up for it");
    case start_answer::clock_differs: {
        // None of it is written: such a clock may take future instants for past ones.
        item_news news{.look_again = back_off(m.now)};
        if (std::exchange(told_of_clock_, what.due) != what.due)
            news.skipped = {{what.due, 1, events::skip_reason::clock_differs}};
        return news;
    }
    case start_answer::outdated:
        phase_ = phase::unread;
        break;
    case start_answer::unclaimed:
        if (is_adopted()) phase_ = phase::unread;
        break;
    case start_answer::unknown:
        if (!next.is_monitored) break;
        begin_to_doubt(*next.record);
        return {};
    }
    return {.look_again = back_off(m.now)};
}

ELASTICJOB_DECL item_news item_life::begin(next_run next) {
    failures_ = 0;
    failure_.end();
    clear_pending();
    if (is_first_of_order(*next.record->running)) order_.reset();
    next.record.keep_in(record_);
    is_monitored_ = next.is_monitored;
    if (!is_monitored_) version_.reset(); // the record does not tell of this run
    passes_over_ = next.may_be_others;
    phase_ = phase::running;
    return {.skipped = std::move(next.untold)};
}

ELASTICJOB_DECL void item_life::start_expired() {
    mark_.reset();
    auto const next = *std::move(begun_);
    begun_.reset();
    begin_to_doubt(*next.record);
}

ELASTICJOB_DECL void item_life::begin_to_doubt(run_record const& started) {
    doubt_ = doubt{started.to_text(), {}, 0};
    phase_ = phase::uncertain;
}

ELASTICJOB_DECL item_news item_life::body_ended(item_moment const& m, body_end const& how) {
    rounds_at_end_ = m.terms.due->last_round();
    after_run{m.terms, m.now, whole(m.wall)}.note_end(record_, how);
    choice(m).note_next_due(record_);
    end_again_ = {};
    refusals_ = 0;
    if (!is_monitored_) return ended(true);
    phase_ = phase::ending;
    return {};
}

ELASTICJOB_DECL item_news item_life::end_answered(item_moment const& m, end_result r) {
    switch (r) {
    case end_result::recorded:
        version_ = *version_ + 1;
        return ended(true);
    case end_result::recorded_before:
    case end_result::fenced:
        return ended(false);
    case end_result::refused:
        if (m.is_closing) {
            auto const g = end_generation(m.session);
            auto news = ended(false);
            news.given_up_in = g;
            return news;
        }
        end_again_ = m.now + growing_pause(refusals_, refusal_pause_max);
        if (refusals_ < failures_max) ++refusals_;
        return {};
    case end_result::session_over:
        break;
    }
    mark_.reset(); // the mark has gone with its session
    if (m.gives_up) return ended(false);
    if (m.session.generation != asked_in_) return {};
    return {.look_again = m.now + retry_pause};
}

ELASTICJOB_DECL item_news item_life::caught_up(item_moment const& m, result<void> const& written) {
    if (!written) return failed(written.error(), m.now + retry_pause);
    phase_ = phase::looking;
    return {};
}

ELASTICJOB_DECL item_news item_life::start_looked_for(item_moment const& m, result<node> const& read) {
    bool const is_known = read || read.error() == errc::no_node;
    if (!is_known) {
        bool const is_unreadable = !is_connection(read.error().code);
        if (m.is_closing && is_unreadable) return given_up(m.now);
        phase_ = phase::uncertain;
        return failed(read.error(), m.now + retry_pause);
    }
    if (!read || read->data != doubt_->record) return resolved(m.now);
    doubt_->version = read->stat.version;
    // We cannot give a run back to the dead instance from which we took it: its writes are fenced by now.
    if (record_.running) record_.running->instance = nobody;
    record_.is_flagged = false; // the start has removed the flag
    phase_ = phase::undoing;
    return {};
}

ELASTICJOB_DECL item_news item_life::undone(item_moment const& m, end_result r) {
    bool const is_given_up = r == end_result::refused && m.is_closing;
    bool const is_known = r != end_result::refused && r != end_result::session_over;
    if (is_given_up) return given_up(m.now);
    if (is_known) return resolved(m.now);
    phase_ = phase::uncertain;
    return {.look_again = r == end_result::refused ? back_off(m.now) : m.now + retry_pause};
}

// ---- The next steps.

ELASTICJOB_DECL item_news item_life::remember(next_run next) {
    next.record.keep_in(record_);
    dead_ = next.dead ? boxed<instance_id>{*std::move(next.dead)} : boxed<instance_id>{};
    pending_ = std::max(pending_, next.pending);
    if (!next.untold.empty()) untold_ = std::move(next.untold);
    item_news news{.deals_with_rounds = true, .may_be_others = next.may_be_others};
    bool const is_written_first = pending_ != unwritten::nothing && version_;
    if (!is_written_first) news.skipped = take_untold();
    return news;
}

ELASTICJOB_DECL item_news item_life::drop(item_moment const& m, next_run next, std::string_view why) {
    auto const what = *next.record->running;
    bool const was_ordered = what.source == run_source::trigger;
    bool const had_failed = what.attempt > 1;
    bool const is_javas = next.pending == unwritten::javas_run;
    if (is_first_of_order(what)) order_.reset();
    auto& record = next.record.edit();
    record.last_begun = record_.last_begun;
    record.end(run_outcome::skipped, whole(m.wall), std::string{why});
    if (had_failed && !is_javas) record.add_dead_letter(m.terms.dead_letters_max);
    if (had_failed || was_ordered) next.pending = std::max(next.pending, unwritten::an_end);
    next.may_be_others = true;
    return remember(std::move(next));
}

ELASTICJOB_DECL item_news item_life::ended(bool is_known) {
    mark_.reset();
    is_failover_ = false;
    is_end_pending_ = false;
    phase_ = is_known ? phase::resting : phase::unread;
    bool const may_be_others = std::exchange(passes_over_, false);
    return {.deals_with_rounds = is_known, .may_be_others = is_known && may_be_others};
}

ELASTICJOB_DECL item_news item_life::resolved(mono_time now) {
    doubt_.reset();
    is_failover_ = false;
    is_end_pending_ = false;
    phase_ = phase::unread;
    return {.look_again = back_off(now)};
}

ELASTICJOB_DECL item_news item_life::given_up(mono_time now) {
    auto const g = doubt_->resolved_in;
    auto news = resolved(now);
    news.given_up_in = g;
    return news;
}

ELASTICJOB_DECL void item_life::clear_pending() noexcept {
    dead_.reset();
    pending_ = unwritten::nothing;
}

ELASTICJOB_DECL std::vector<skipped_instants> item_life::take_untold() noexcept {
    auto taken = std::exchange(untold_, {});
    return taken ? std::move(*taken) : std::vector<skipped_instants>{};
}

ELASTICJOB_DECL mono_time item_life::back_off(mono_time now) {
    auto const n = failures_ < failures_max ? failures_++ : failures_;
    return n == 0 ? now : now + growing_pause(n - 1U) / 2;
}

// ---- Outside events and the state.

ELASTICJOB_DECL void item_life::checkpointed(std::string text) {
    record_.checkpoint = std::move(text);
    written();
}

ELASTICJOB_DECL bool item_life::is_at_rest() const noexcept {
    return (phase_ == phase::resting || phase_ == phase::noting) && !record_.running;
}

ELASTICJOB_DECL bool item_life::holds_up(wall_time due) const noexcept {
    return !is_adopted() && (record_.running || record_.retry) && record_.through < due && told_through_ < due;
}

ELASTICJOB_DECL std::vector<wall_time> item_life::unfinished() const {
    std::vector<wall_time> all;
    if (order_) all.push_back(*order_); // the item belongs to another member now
    for (auto const* waiting : {&record_.resume, &record_.retry})
        if (*waiting && !version_) all.push_back((*waiting)->due); // no other member knows of it
    return all;
}

ELASTICJOB_DECL bool item_life::holds() const noexcept {
    bool const runs = phase_ == phase::running || phase_ == phase::ending;
    if (static_cast<bool>(created_) != (phase_ == phase::opened)) return false;
    if (static_cast<bool>(begun_) != (phase_ == phase::starting)) return false;
    if (static_cast<bool>(doubt_) != is_uncertain()) return false;
    if (mark_ && !(runs && is_monitored_) && phase_ != phase::starting) return false;
    if (runs && is_monitored_ && !version_) return false;
    if (phase_ == phase::running && !record_.running) return false;
    if (phase_ == phase::ending && record_.running) return false;
    return failures_ <= failures_max && refusals_ <= failures_max;
}

ELASTICJOB_DECL std::string to_string(item_life const& l, node_version zero) {
    static constexpr std::string_view names[]{"unread",    "absent",   "opening", "opened",  "resting",
                                              "noting",    "starting", "marked",  "running", "ending",
                                              "uncertain", "looking",  "undoing"};
    std::string text{names[static_cast<std::size_t>(l.phase_)]};
    auto const add = [&](std::string_view what, std::int64_t n) {
        text.append("; ").append(what).append(" ").append(std::to_string(n));
    };
    auto const add_if = [&](bool is, std::string_view what) {
        if (is) text.append("; ").append(what);
    };
    if (l.version_) add("version", *l.version_ - zero);
    if (l.mark_) add("mark of session", static_cast<std::int64_t>(l.mark_->value));
    if (l.is_uncertain()) add("asked in session", static_cast<std::int64_t>(l.asked_in_.value));
    if (l.phase_ >= item_life::phase::looking)
        add("resolved in session", static_cast<std::int64_t>(l.doubt_->resolved_in.value));
    if (l.phase_ == item_life::phase::undoing) add("start at version", l.doubt_->version - zero);
    if (l.pending_ != unwritten::nothing) add("pending write", static_cast<std::int64_t>(l.pending_));
    if (l.order_) add("ordered at", l.order_->time_since_epoch().count());
    add_if(l.is_ours(), "ours");
    add_if(l.is_edited_, "edited");
    add_if(l.is_failover_, "failover");
    add_if(l.is_end_pending_, "end refused");
    add_if(l.passes_over_, "makes up for others");
    if (l.untold_)
        for (auto const& s : *l.untold_) add("to report as skipped", static_cast<std::int64_t>(s.count));
    if (l.dead_) text.append("; in the place of ").append(l.dead_->str());
    text.append("\n").append(l.record_.to_text());
    if (l.created_) text.append("created:\n").append(l.created_->data);
    if (l.begun_) text.append("to begin:\n").append(l.begun_->record->to_text());
    if (l.doubt_) text.append("perhaps begun:\n").append(l.doubt_->record);
    return text;
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_IMPL_EXECUTION_ITEM_LIFE_IPP
