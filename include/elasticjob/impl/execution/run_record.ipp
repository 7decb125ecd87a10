// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_EXECUTION_RUN_RECORD_IPP
#define ELASTICJOB_IMPL_EXECUTION_RUN_RECORD_IPP

#include <elasticjob/core/line_text.hpp>
#include <elasticjob/execution/run_record.hpp>

namespace elasticjob {

ELASTICJOB_DECL void run_record::make_room(std::vector<run_entry>& entries, std::size_t max) {
    if (entries.size() < max) return;
    entries.erase(entries.begin(), entries.end() - static_cast<std::ptrdiff_t>(max - 1));
}

ELASTICJOB_DECL void run_record::add(run_entry e) {
    e.note.resize(detail::whole_characters(e.note, note_bytes_max).size());
    e.ended = std::max(e.ended, e.run.begun); // a run that has started ahead of time may end before its body begins
    // Consecutive instants with the same outcome share one entry, but an instant that had been tried before has its
    // own, and an order is no due instant.
    auto const is_order = [](run_entry const& x) { return x.run.source == run_source::trigger; };
    if (!ledger.empty() && e.outcome == run_outcome::skipped && ledger.back().outcome == e.outcome &&
        ledger.back().note == e.note && ledger.back().run.instance == e.run.instance &&
        ledger.back().run.attempt == 1 && e.run.attempt == 1 && is_order(ledger.back()) == is_order(e)) {
        e.count += ledger.back().count;
        e.run.begun = ledger.back().run.begun;
        ledger.back() = std::move(e);
        return;
    }
    make_room(ledger, ledger_max);
    ledger.push_back(std::move(e));
}

ELASTICJOB_DECL void run_record::end(run_outcome outcome, wall_time now, std::string note) {
    run_entry e{*std::exchange(running, std::nullopt), outcome, now, 1, std::move(note)};
    is_flagged = false;
    if (outcome == run_outcome::completed || outcome == run_outcome::failed) last_completed = now;
    add(std::move(e));
}

ELASTICJOB_DECL bool run_record::was_put_off() const {
    if (ledger.empty() || ledger.back().outcome != run_outcome::retried) return false;
    auto const& last = ledger.back().run;
    return last.due == running->due && last.source == running->source && last.attempt == running->attempt;
}

ELASTICJOB_DECL void run_record::end_for_retry(wall_time now, std::string note, run_retry again) {
    (retry ? resume : retry) = again;
    if (was_put_off()) ledger.pop_back(); // an attempt that does not begin needs only one entry
    add({*std::exchange(running, std::nullopt), run_outcome::retried, now, 1, std::move(note)});
    is_flagged = false;
}

ELASTICJOB_DECL void run_record::add_dead_letter(std::size_t max) {
    if (max == 0) return;
    make_room(dead_letters, max);
    dead_letters.push_back(ledger.back());
}

ELASTICJOB_DECL wall_time run_record::settled_through() const {
    auto settled = through;
    auto const hold_back = [&](auto const& unsettled) {
        if (unsettled && unsettled->source != run_source::trigger)
            settled = std::min(settled, unsettled->due - std::chrono::milliseconds{1});
    };
    hold_back(running);
    hold_back(retry);
    hold_back(resume);
    return settled;
}

ELASTICJOB_DECL std::string run_record::to_text(run_progress const* progress) const {
    std::string text;
    text.reserve(256 + checkpoint.size() + (ledger.size() + dead_letters.size()) * 128);
    text.append(header);
    add_line(text, "schedule", schedule);
    add_line(text, "through", through);
    if (obeyed != 0) add_line(text, "obeyed", obeyed);
    if (created != 0) add_line(text, "created", created);
    if (copies != 0) add_line(text, "copies", copies);
    if (last_begun) add_line(text, "begun", *last_begun);
    if (last_completed) add_line(text, "completed", *last_completed);
    if (next_due) add_line(text, "next", *next_due);
    if (!checkpoint.empty()) add_line(text, "checkpoint", free_text{checkpoint});
    add_ledger(text);
    for (auto const& e : dead_letters) add_entry(text, "dead", e);
    auto const add_retry = [&](std::string_view key, std::optional<run_retry> const& r) {
        if (r) add_line(text, key, r->due, name_of(r->source), r->attempt, r->at);
    };
    add_retry("retry", retry);
    add_retry("resume", resume);
    if (running) add_run(text, "running", *running);
    if (is_flagged) add_line(text, "flagged", std::string_view{"yes"});
    if (progress) add_line(text, "progress", progress->at, progress->done, progress->total);
    return text;
}

ELASTICJOB_DECL void run_record::add_entry(std::string& text, std::string_view key, run_entry const& e) {
    add_run(text, key, e.run, name_of(e.outcome), e.ended, e.count, free_text{e.note});
}

ELASTICJOB_DECL bool run_record::is_plain(run_entry const& e) noexcept {
    return e.outcome == run_outcome::completed && e.run.source == run_source::schedule && e.run.attempt == 1 &&
           e.count == 1 && e.note.empty();
}

ELASTICJOB_DECL void run_record::add_ledger(std::string& text) const {
    run_begin const* last = nullptr; // in the line of several entries that is not finished yet
    for (std::size_t n = 0; n < ledger.size(); ++n) {
        auto const& e = ledger[n];
        bool const is_short = n + own_lines < ledger.size() && is_plain(e);
        if (last && !(is_short && last->instance == e.run.instance)) {
            text += '\n';
            last = nullptr;
        }
        if (!is_short) {
            add_entry(text, "entry", e);
            continue;
        }
        if (!last) text.append("entries ").append(e.run.instance);
        auto const due = milliseconds_of(e.run.due), begun = milliseconds_of(e.run.begun);
        add_word(text += ' ', last ? due - milliseconds_of(last->due) : due);
        add_word(text += ' ', begun - due);
        add_word(text += ' ', milliseconds_of(e.ended) - begun);
        last = &e.run;
    }
    if (last) text += '\n';
}

ELASTICJOB_DECL result<run_record> run_record::parse(std::string_view text) {
    auto refuse = [](std::string_view line) {
        return error{errc::malformed_data, "not a line of a run record", detail::cut_short(line)};
    };
    if (auto const lines = std::count(text.begin(), text.end(), '\n'); lines > std::ptrdiff_t{lines_max})
        return error{errc::malformed_data,
                     "a run record has at most " + std::to_string(lines_max) + " lines, not " + std::to_string(lines)};
    if (!text.starts_with(header)) return refuse(text.substr(0, text.find('\n')));
    text.remove_prefix(header.size());
    run_record r;
    while (!text.empty()) {
        auto const line = take(text, '\n');
        auto rest = line;
        auto const key = take(rest, ' ');
        bool good = true;
        if (key == "schedule")
            good = detail::read_number(rest, r.schedule);
        else if (key == "through")
            good = detail::read_instant(rest, r.through);
        else if (key == "obeyed")
            good = detail::read_number(rest, r.obeyed);
        else if (key == "created")
            good = detail::read_number(rest, r.created);
        else if (key == "copies")
            good = detail::read_number(rest, r.copies) && r.copies <= copies_max;
        else if (key == "begun")
            good = detail::read_instant(rest, r.last_begun.emplace());
        else if (key == "completed")
            good = detail::read_instant(rest, r.last_completed.emplace());
        else if (key == "next")
            good = detail::read_instant(rest, r.next_due.emplace());
        else if (key == "checkpoint")
            r.checkpoint = unescaped(rest);
        else if (key == "entry")
            good = read_entry(rest, r.ledger.emplace_back());
        else if (key == "entries")
            good = read_plain_entries(rest, r.ledger);
        else if (key == "dead")
            good = read_entry(rest, r.dead_letters.emplace_back());
        else if (key == "retry")
            good = read_retry(rest, r.retry.emplace());
        else if (key == "resume")
            good = read_retry(rest, r.resume.emplace());
        else if (key == "running")
            good = read_begin(rest, r.running.emplace());
        else if (key == "flagged")
            r.is_flagged = true;
        if (!good) return refuse(line);
    }
    return r;
}

ELASTICJOB_DECL std::int64_t run_record::milliseconds_of(wall_time t) {
    return std::chrono::floor<std::chrono::milliseconds>(t.time_since_epoch()).count();
}

ELASTICJOB_DECL void run_record::add_word(std::string& line, free_text what) {
    for (char const c : what.text) {
        if (c == '\\' || c == '\n') line += '\\';
        line += c == '\n' ? 'n' : c;
    }
}

ELASTICJOB_DECL std::string_view run_record::take(std::string_view& text, char separator) {
    auto const word = text.substr(0, text.find(separator));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    return word;
}

ELASTICJOB_DECL std::optional<run_progress> run_record::parse_progress(std::string_view text) {
    constexpr std::string_view key = "\nprogress ";
    auto const at = text.rfind(key);
    if (at == text.npos || text.find("\nrunning ") == text.npos) return std::nullopt;
    auto rest = text.substr(at + key.size());
    auto line = take(rest, '\n');
    run_progress p;
    bool const is_good = detail::read_instant(take(line, ' '), p.at) && detail::read_number(take(line, ' '), p.done) &&
                         detail::read_number(take(line, ' '), p.total);
    if (!is_good) return std::nullopt;
    return p;
}

ELASTICJOB_DECL bool run_record::read_begin(std::string_view& rest, run_begin& into) {
    bool const good = read_run(rest, into, into.begun);
    into.instance = take(rest, ' ');
    return good && !into.instance.empty();
}

ELASTICJOB_DECL bool run_record::read_entry(std::string_view rest, run_entry& into) {
    bool const good =
        read_begin(rest, into.run) && read_name(take(rest, ' '), detail::run_outcome_names, into.outcome) &&
        detail::read_instant(take(rest, ' '), into.ended) && detail::read_number(take(rest, ' '), into.count);
    into.note = unescaped(rest);
    return good;
}

ELASTICJOB_DECL bool run_record::read_plain_entries(std::string_view rest, std::vector<run_entry>& into) {
    run_entry e{.run{.instance = std::string{take(rest, ' ')}}, .outcome = run_outcome::completed};
    if (e.run.instance.empty()) return false;
    do {
        bool const good = detail::read_instant_since(e.run.due, take(rest, ' '), e.run.due) &&
                          detail::read_instant_since(e.run.due, take(rest, ' '), e.run.begun) &&
                          detail::read_instant_since(e.run.begun, take(rest, ' '), e.ended);
        if (!good || into.size() == lines_max) return false;
        into.push_back(e);
    } while (!rest.empty());
    return true;
}

ELASTICJOB_DECL std::string run_record::unescaped(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        bool const is_escape = text[i] == '\\' && i + 1 < text.size();
        if (is_escape) ++i;
        out += is_escape && text[i] == 'n' ? '\n' : text[i];
    }
    return out;
}

} // namespace elasticjob
#endif // ELASTICJOB_IMPL_EXECUTION_RUN_RECORD_IPP
