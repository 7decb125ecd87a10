// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_EXECUTION_ROUND_LIFE_IPP
#define ELASTICJOB_IMPL_EXECUTION_ROUND_LIFE_IPP

#include <elasticjob/config/instant_text.hpp>
#include <elasticjob/config/schedule_text.hpp> // take_word
#include <elasticjob/config/text.hpp>
#include <elasticjob/core/algorithm.hpp>
#include <elasticjob/execution/round_life.hpp>
#include <elasticjob/registry/retry_pauses.hpp>

#include <array>
#include <cassert>
#include <iterator>

namespace elasticjob::detail {

// ---- The content of the node.

inline constexpr std::array<std::string_view, 3> round_stage_names{"before", "open", "after"};

ELASTICJOB_DECL std::string round_state::to_text() const {
    return std::string{round_stage_names[static_cast<std::size_t>(is)]} + " " + holder;
}

ELASTICJOB_DECL round_state round_state::of(std::string_view text) {
    round_state s;
    read_word(take_word(text), round_stage_names, s.is);
    if (instance_id::parse(text)) s.holder = text;
    return s;
}

ELASTICJOB_DECL std::int64_t round_life::milliseconds_of(wall_time t) {
    return std::chrono::floor<std::chrono::milliseconds>(t.time_since_epoch()).count();
}

ELASTICJOB_DECL node_path round_life::path(job_layout const& at) const { return at.round(milliseconds_text(due_)); }

// ---- The state.

ELASTICJOB_DECL bool round_life::is_open() const noexcept {
    return phase_ == phase::over || (phase_ == phase::known && state_.is != round_state::stage::before);
}

ELASTICJOB_DECL bool round_life::can_go_on(round_moment const& m) const {
    if (phase_ != phase::known || state_.is == round_state::stage::before || !m.items.all_through(due_)) return false;
    return is_ours(m) || m.is_holder_unseen || (state_.is == round_state::stage::open && has_unnoted(m));
}

ELASTICJOB_DECL bool round_life::holds() const noexcept {
    bool const is_first = changing_ == change::parent || changing_ == change::make;
    bool const is_later = changing_ != change::none && !is_first;
    return (!is_later || phase_ == phase::known) && (!is_first || phase_ != phase::known) &&
           (phase_ != phase::making || latest_) && (unread_.empty() || is_listed_) && failures_ <= failures_max &&
           (noting_.empty() || phase_ == phase::known);
}

ELASTICJOB_DECL std::string to_string(round_life const& l, node_version zero) {
    static constexpr std::string_view names[]{"unread", "absent", "first", "making", "known", "over"};
    std::string text{names[static_cast<std::size_t>(l.phase_)]};
    text += "; " + l.state_.to_text() + "; version " + std::to_string(l.version_ - zero);
    auto const add = [&](bool is_so, char const* what) {
        if (is_so) text.append(", ").append(what);
    };
    add(l.has_items_, "runs items");
    add(l.is_given_up_, "given up");
    add(l.must_read_, "is to be read");
    add(l.is_holder_gone_, "its holder has gone");
    add(l.has_called_[0], "before was called");
    add(l.has_called_[1], "after was called");
    if (l.latest_) text += ", " + std::to_string(l.latest_over_) + " is over";
    text += "; change " + std::to_string(static_cast<int>(l.changing_)) + "; noted";
    for (auto const i : l.noted_) text += " " + std::to_string(i);
    text += " of " + std::to_string(l.noted_edition_) + " in " + std::to_string(l.notes_) + "; noting";
    for (auto const i : l.noting_) text += " " + std::to_string(i);
    text += l.is_listed_ ? "; listed" : "; not listed";
    for (auto const& n : l.names_) text += " " + n;
    text += "; read";
    for (auto const& n : l.read_) text += " " + n;
    text += "; to read " + std::to_string(l.unread_.size());
    text += "; left " + std::to_string(l.dealt_.left);
    if (l.ready_.empty() && l.ready_noted_.empty()) return text;
    text += l.notes_ready_ ? "; notes as ready" : "; ready";
    for (auto const i : l.ready_) text += " " + std::to_string(i);
    text += " noted";
    for (auto const i : l.ready_noted_) text += " " + std::to_string(i);
    return text + " left " + std::to_string(l.all_ready_.left);
}

// ---- The requests.

ELASTICJOB_DECL round_step round_life::next(round_moment const& m) {
    using kind = round_step::kind;
    assert(holds());
    if (phase_ == phase::over || never_began()) return {kind::leave};
    if (m.calls_nothing_more) return {};
    if (m.now < again_) return {.until = again_};
    if (phase_ == phase::absent) return {kind::read_latest, m.at.rounds()};
    if (phase_ == phase::first) return make_parent(m);
    if (phase_ == phase::making) return make(m);
    if (phase_ == phase::unread || must_read_ || !m.is_current) return {kind::read, path(m.at)};
    switch (state_.is) {
    case round_state::stage::before:
        return step_before(m);
    case round_state::stage::open:
        return step_open(m);
    case round_state::stage::after:
        break;
    }
    return step_after(m);
}

ELASTICJOB_DECL round_step round_life::step_before(round_moment const& m) {
    auto const deadline = begun_ + m.start_timeout;
    bool const waits = m.starts_together && m.now < deadline;
    if (waits) {
        noting_ = unnoted_ready(m);
        if (!noting_.empty()) return write_note(m, ready_mark);
    }
    auto const until = waits && m.now < part_at_ ? std::min(part_at_, deadline) : deadline;
    if (waits && is_ours(m)) {
        if (auto step = learn_notes(m)) return *std::move(step);
        if (all_ready_.left > 0) return {.until = std::min(list_at_, until)};
    }
    bool const may_call = !m.starts_together || all_ready_.left == 0;
    if (is_ours(m) && may_call && m.now < deadline && !has_called(round_hook::before))
        return call(m, round_hook::before, deadline);
    if (waits && !is_ours(m) && is_free(m)) return write(m, change::hold, round_state::stage::before);
    if (is_ours(m) || is_free(m) || m.now >= deadline) return write(m, change::open, round_state::stage::open);
    return watch_holder(m, until);
}

ELASTICJOB_DECL round_step round_life::step_open(round_moment const& m) {
    auto const deadline = begun_ + m.end_timeout;
    if (has_unnoted(m)) {
        auto const step = note(m);
        if (step.is != round_step::kind::rest) return step;
    }
    if (is_given_up_ || m.now >= deadline) return write(m, change::expire, round_state::stage::after);
    if (!is_ours(m) && is_free(m)) return write(m, change::hold, round_state::stage::open);
    if (!is_ours(m)) return watch_holder(m, deadline);
    if (auto step = learn_notes(m)) return *std::move(step);
    if (dealt_.left == 0) return write(m, change::close, round_state::stage::after);
    return {.until = std::min(list_at_, deadline)};
}

ELASTICJOB_DECL round_step round_life::step_after(round_moment const& m) {
    if (is_ours(m) && !has_called(round_hook::after)) return call(m, round_hook::after, mono_time::max());
    if (is_ours(m) || is_free(m)) return remove(m);
    return watch_holder(m, mono_time::max());
}

ELASTICJOB_DECL round_step round_life::make_parent(round_moment const& m) {
    round_step step{round_step::kind::commit};
    step.changes = transaction{m.generation};
    step.changes.create(m.at.rounds(), {});
    changing_ = change::parent;
    return step;
}

ELASTICJOB_DECL round_step round_life::make(round_moment const& m) {
    round_step step{round_step::kind::commit};
    step.changes = transaction{m.generation};
    step.changes.check(m.at.rounds(), *latest_);
    step.changes.create(path(m.at), round_state{round_state::stage::before, m.self.str()}.to_text());
    changing_ = change::make;
    return step;
}

ELASTICJOB_DECL round_step round_life::remove(round_moment const& m) {
    if (!is_listed_ || !m.is_list_current) return list(m);
    if (!latest_) return {round_step::kind::read_latest, m.at.rounds()};
    round_step step{round_step::kind::commit};
    step.changes = transaction{m.generation};
    auto const over = std::max(latest_over_, milliseconds_of(due_));
    step.changes.set(m.at.rounds(), std::to_string(over), *latest_);
    for (auto const& name : names_) step.changes.remove(path(m.at) / name);
    step.changes.remove(path(m.at), version_);
    changing_ = change::remove;
    return step;
}

ELASTICJOB_DECL round_step round_life::write(round_moment const& m, change what, round_state::stage s) {
    round_step step{round_step::kind::commit};
    step.changes = transaction{m.generation};
    step.changes.set(path(m.at), round_state{s, m.self.str()}.to_text(), version_);
    changing_ = what;
    return step;
}

ELASTICJOB_DECL round_step round_life::watch_holder(round_moment const& m, mono_time until) {
    if (!m.is_holder_unseen || is_holder_gone_) return {.until = until};
    if (m.now < look_at_) return {.until = std::min(until, look_at_)};
    return {round_step::kind::look, m.at.instances() / state_.holder};
}

ELASTICJOB_DECL round_step round_life::call(round_moment const& m, round_hook which, mono_time until) {
    if (!m.is_fresh) return {round_step::kind::read, path(m.at)}; // this process may have stood still
    has_called(which) = true;
    round_step step{round_step::kind::call};
    step.hook = which;
    step.until = until;
    return step;
}

ELASTICJOB_DECL round_step round_life::list(round_moment const& m) { return {round_step::kind::list, path(m.at)}; }

ELASTICJOB_DECL round_step round_life::note(round_moment const& m) {
    auto const all = m.items.list();
    noting_.clear();
    std::set_difference(all.begin(), all.end(), noted_.begin(), noted_.end(), std::back_inserter(noting_));
    if (noting_.empty()) {
        noted_edition_ = m.items.edition();
        return {};
    }
    return write_note(m, {});
}

ELASTICJOB_DECL std::vector<item_index> round_life::unnoted_ready(round_moment const& m) const {
    bool const may_be_part = m.now >= part_at_;
    if (!may_be_part && ready_.size() + m.items.count_through(due_) < m.items.size()) return {};
    auto ready = m.items.list();
    auto const is_unready = [&](item_index i) { return !ready_.contains(i) && !m.items.is_through(i, due_); };
    if (std::erase_if(ready, is_unready) > 0 && !may_be_part) return {};
    std::vector<item_index> unnoted;
    std::set_difference(ready.begin(), ready.end(), ready_noted_.begin(), ready_noted_.end(),
                        std::back_inserter(unnoted));
    return unnoted;
}

ELASTICJOB_DECL round_step round_life::write_note(round_moment const& m, std::string_view mark) {
    notes_ready_ = !mark.empty();
    if (noting_.size() > noted_at_once_max) noting_.resize(noted_at_once_max);
    auto const name = m.self.str() + note_separator + std::to_string(notes_);
    round_step step{round_step::kind::note, path(m.at) / name};
    for (auto const i : noting_) step.text.append(mark).append(std::to_string(i)) += ' ';
    return step;
}

ELASTICJOB_DECL std::optional<round_step> round_life::learn_notes(round_moment const& m) {
    if (dealt_.has.size() != m.item_count) forget_notes(m.item_count);
    if (!is_listed_ || !m.is_list_current || m.now >= list_at_) return list(m);
    if (unread_.empty()) return std::nullopt;
    round_step step{round_step::kind::read_notes};
    for (auto const& name : unread_) step.paths.push_back(path(m.at) / name);
    return step;
}

// ---- The replies.

ELASTICJOB_DECL round_news round_life::read(round_moment const& m, result<node> there) {
    bool const is_absent = !there && there.error() == errc::no_node;
    if (!there && !is_absent) {
        try_again(m, is_lasting(there.error()));
        return {};
    }
    note_success();
    must_read_ = false;
    if (is_absent) {
        phase_ = phase_ == phase::known ? phase::over : phase::absent;
        return {};
    }
    if (phase_ != phase::known || version_ != there->stat.version) note_change();
    if (phase_ != phase::known) {
        begun_ = m.now;
        part_at_ = begun_ + notes_part_every;
    }
    phase_ = phase::known;
    latest_.reset();
    state_ = round_state::of(there->data);
    version_ = there->stat.version;
    is_holder_gone_ = false;
    look_at_ = {};
    return {};
}

ELASTICJOB_DECL round_news round_life::latest_read(round_moment const& m, result<node> const& there) {
    if (!there && there.error() == errc::no_node && phase_ == phase::absent) {
        phase_ = phase::first;
        return {};
    }
    if (!there) {
        try_again(m, is_lasting(there.error()));
        return {};
    }
    note_success();
    latest_ = there->stat.version;
    latest_over_ = parse_number<std::int64_t>(there->data).value_or(0);
    if (phase_ == phase::known) return {};
    bool const is_too_late = milliseconds_of(due_) <= latest_over_;
    phase_ = is_too_late ? phase::over : phase::making;
    if (!is_too_late || !has_items_) return {};
    char const* const why = "a later round was over before this one had begun";
    return {why, why};
}

ELASTICJOB_DECL round_news round_life::holder_looked_for(round_moment const& m, result<bool> is_there) {
    look_at_ = m.now + looks_for_holder_every;
    is_holder_gone_ = is_there && !*is_there;
    return {};
}

ELASTICJOB_DECL round_news round_life::committed(round_moment const& m, result<commit_reply> const& reply) {
    auto const what = std::exchange(changing_, change::none);
    bool const has_happened = reply && *reply;
    // Report twice rather than not at all if a reply was lost.
    bool const may_have_happened = has_happened || (!reply && reply.error() == errc::unknown_outcome);
    // A refusal means that another instance has created it.
    bool const is_there = reply && (what == change::make || what == change::parent);
    must_read_ = true;
    latest_.reset();
    if (what == change::parent) phase_ = phase::absent;
    if (what == change::make) phase_ = phase::unread;
    if (has_happened)
        note_change();
    else if (!is_there)
        try_again(m, !reply && is_lasting(reply.error()));
    if (!may_have_happened) {
        is_listed_ = false;
        unread_.clear();
        return {};
    }
    if (what == change::expire) {
        has_called(round_hook::after) = true; // not any more
        return {{}, "the round was not over in time"};
    }
    if (is_ours(m) && what == change::open && !has_called(round_hook::before))
        return {m.starts_together ? "not all items were ready in time"
                                  : "its time was over before this instance got to it"};
    if (is_ours(m)) return {};
    auto why = "it was up to " + (state_.holder.empty() ? "nobody" : state_.holder);
    if (what == change::open) return {std::move(why)};
    if (what == change::hold && state_.is == round_state::stage::before) {
        has_called(round_hook::before) = true; // by the lost holder, or never
        return {std::move(why)};
    }
    if (what == change::remove) return {{}, std::move(why)};
    return {};
}

ELASTICJOB_DECL round_news round_life::hook_called(result<void> const& outcome) {
    if (outcome) return {};
    bool const was_called = !(outcome.error() == errc::overloaded || outcome.error() == errc::closed);
    if (was_called) return {{}, {}, outcome.error()};
    if (state_.is == round_state::stage::before) return {outcome.error().what};
    return {{}, outcome.error().what};
}

ELASTICJOB_DECL round_news round_life::noted(round_moment const& m, result<node_path> const& made) {
    auto const items = std::exchange(noting_, {});
    if (made) {
        auto& known = notes_ready_ ? ready_noted_ : noted_;
        std::vector<item_index> all;
        std::merge(known.begin(), known.end(), items.begin(), items.end(), std::back_inserter(all));
        known = std::move(all);
        if (notes_ready_) part_at_ = m.now + notes_part_every;
        note_change();
        ++notes_;
    } else if (made.error() == errc::no_node) {
        must_read_ = true; // it is over
    } else if (made.error() == errc::node_exists) {
        ++notes_; // a former start's, or ours with a lost reply: a second note of the same items is harmless
    } else {
        try_again(m, is_lasting(made.error()));
    }
    return {};
}

ELASTICJOB_DECL round_news round_life::listed(round_moment const& m, result<std::vector<std::string>> names) {
    if (!names) {
        if (names.error() == errc::no_node)
            must_read_ = true;
        else
            try_again(m, is_lasting(names.error()));
        return {};
    }
    note_success();
    is_listed_ = true;
    list_at_ = m.now + lists_every;
    names_ = *std::move(names);
    unread_.clear();
    for (auto const& name : names_)
        if (!read_.contains(name)) unread_.push_back(name);
    return {};
}

ELASTICJOB_DECL round_news round_life::notes_read(round_moment const& m,
                                                  result<std::vector<std::optional<node>>> const& notes) {
    if (!notes) {
        try_again(m, is_lasting(notes.error()));
        return {};
    }
    note_success();
    auto const names = std::exchange(unread_, {});
    for (std::size_t n = 0; n < names.size(); ++n) {
        if (!(*notes)[n]) continue;
        take_note((*notes)[n]->data);
        // Older members give notes their own names, and change them.
        if (names[n].find(note_separator) != names[n].npos) read_.insert(names[n]);
    }
    return {};
}

// ---- The next steps.

ELASTICJOB_DECL void round_life::forget_notes(std::uint32_t item_count) {
    dealt_.reset(item_count);
    all_ready_.reset(item_count);
    read_.clear();
    unread_.clear();
    is_listed_ = false;
}

ELASTICJOB_DECL void round_life::take_note(std::string_view text) {
    while (!text.empty()) {
        auto word = take_word(text);
        bool const is_ready = word.starts_with(ready_mark);
        if (is_ready) word.remove_prefix(ready_mark.size());
        auto const i = parse_number<item_index>(word);
        if (!i) continue;
        all_ready_.add(*i);
        if (!is_ready) dealt_.add(*i);
    }
}

ELASTICJOB_DECL void round_life::noted_items::reset(std::uint32_t item_count) {
    has.assign(item_count, false);
    left = item_count;
}

ELASTICJOB_DECL void round_life::noted_items::add(item_index i) {
    if (i >= has.size() || has[i]) return;
    has[i] = true;
    --left;
}

ELASTICJOB_DECL void round_life::try_again(round_moment const& m, bool lasts) noexcept {
    is_refused_ = is_refused_ || lasts;
    again_ = m.now + growing_pause(failures_);
    if (failures_ < failures_max) ++failures_;
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_IMPL_EXECUTION_ROUND_LIFE_IPP
