// SPDX-License-Identifier: Apache-2.0
/// \file \brief What is written down about the runs of one item: what stands in the node `ext/run/{item}`.
#ifndef ELASTICJOB_EXECUTION_RUN_RECORD_HPP
#define ELASTICJOB_EXECUTION_RUN_RECORD_HPP

#include <elasticjob/config/text.hpp>
#include <elasticjob/core/algorithm.hpp> // min
#include <elasticjob/core/chrono.hpp>
#include <elasticjob/core/clock.hpp>
#include <elasticjob/core/deferred.hpp>
#include <elasticjob/core/result.hpp>
#include <elasticjob/events/run_source.hpp>

#include <array>
#include <charconv>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace elasticjob {

/// How a due instant, or an order, ended.
enum class run_outcome : std::uint8_t {
    completed,
    failed,      ///< the body said so, or threw; the note says what
    coalesced,   ///< the run of a later instant made up for it
    skipped,     ///< it was not run, and the note says why
    interrupted, ///< its instance died, or the library stopped it, and nobody ran it again
    retried,     ///< its instance died, or it did not come to its end for a reason that the note says; the next attempt has
                 ///< an entry of its own
};

namespace detail {
inline constexpr std::array<std::string_view, 6> run_outcome_names{"completed", "failed",      "coalesced",
                                                                   "skipped",   "interrupted", "retried"};
} // namespace detail

constexpr std::string_view name_of(run_outcome o) noexcept {
    return detail::run_outcome_names[static_cast<std::size_t>(o)];
}

/// Stands for the instance of a run that has been taken from one that died, and then not been begun after all.
inline constexpr std::string_view nobody = "nobody@-@-";

/// A run that has begun. All times are whole milliseconds, by the clock of the instance that wrote them.
struct run_begin {
    wall_time due{}; ///< the instant that it is for; of an order, when it was taken
    run_source source = run_source::schedule;
    std::uint32_t attempt = 1; ///< one more for each run before that did not come to its end
    std::string instance{};
    wall_time begun{};

    friend bool operator==(run_begin const&, run_begin const&) = default;
};

/// A run that failed, or was not let come to its end, and is to be tried again.
struct run_retry {
    wall_time due{}; ///< the instant that it is for
    run_source source = run_source::schedule;
    std::uint32_t attempt = 2; ///< the one that is to come
    wall_time at{};            ///< not before that

    friend bool operator==(run_retry const&, run_retry const&) = default;
};

/// What became of it. Due instants that were not run share an entry, which then stands for `count` of them up to `due`.
struct run_entry {
    run_begin run;
    run_outcome outcome{};
    wall_time ended{};
    std::uint64_t count = 1;
    std::string note{};

    friend bool operator==(run_entry const&, run_entry const&) = default;
};

/// The one truth about an item's runs: written when it starts, when it saves a checkpoint, and when it ends, each time
/// against the version that was read. Whoever owns the item next goes on from here, so that every due instant is dealt
/// with once, by whomever. A value; its functions only keep it in shape.
template <class Entry = run_entry>
struct basic_run_record {
    std::uint64_t schedule = 0;                          ///< the fingerprint of the schedule that `through` belongs to
    std::int64_t obeyed = 0;                             ///< the revision of the last order to run that was obeyed
    wall_time through{};                                 ///< every due instant up to here has been dealt with
    deferred<std::optional<run_begin>, Entry> running{}; ///< what runs, if something does
    deferred<std::optional<run_retry>, Entry> retry{};   ///< what waits to be tried again; later instants wait for it
    deferred<std::optional<wall_time>, Entry> last_begun{}, last_completed{}, next_due{};
    std::string checkpoint{};    ///< what the item's body last saved, for its next run
    std::vector<Entry> ledger{}; ///< the last entries, oldest first
    std::vector<Entry> dead_letters{}; ///< the last runs that failed for good, oldest first, until an operator sees to them

    static constexpr std::size_t ledger_max = 12;
    static constexpr std::size_t note_bytes_max = 200;
    static constexpr std::size_t checkpoint_bytes_max = 32'768;

    void add(Entry e) {
        if (e.note.size() > note_bytes_max) e.note.resize(note_bytes_max);
        // A row of instants that meet the same fate is one entry; but what had been tried before has one of its own.
        if (!ledger.empty() && e.outcome == run_outcome::skipped && ledger.back().outcome == e.outcome &&
            ledger.back().note == e.note && ledger.back().run.instance == e.run.instance &&
            ledger.back().run.attempt == 1 && e.run.attempt == 1) {
            e.count += ledger.back().count;
            e.run.begun = ledger.back().run.begun;
            ledger.back() = std::move(e);
            return;
        }
        while (ledger.size() >= ledger_max) ledger.erase(ledger.begin());
        ledger.push_back(std::move(e));
    }

    /// What runs is over.
    void end(run_outcome outcome, wall_time now, std::string note = {}) {
        Entry e{*std::exchange(running, std::nullopt), outcome, now, 1, std::move(note)};
        if (outcome == run_outcome::completed || outcome == run_outcome::failed) last_completed = now;
        add(std::move(e));
    }

    /// Whether the last entry is of this very attempt, which was to begin before. Precondition: something runs.
    bool was_put_off() const {
        if (ledger.empty() || ledger.back().outcome != run_outcome::retried) return false;
        auto const& last = ledger.back().run;
        return last.due == running->due && last.source == running->source && last.attempt == running->attempt;
    }

    /// What runs has not come to its end, and is tried again.
    void end_for_retry(wall_time now, std::string note, run_retry again) {
        retry = again;
        if (was_put_off()) ledger.pop_back(); // of an attempt that does not get to begin, one entry is enough
        add({*std::exchange(running, std::nullopt), run_outcome::retried, now, 1, std::move(note)});
    }

    /// What ended last, not well, is kept as a dead letter, of which there are at most `max`.
    void bury(std::size_t max) {
        if (max == 0) return;
        while (dead_letters.size() >= max) dead_letters.erase(dead_letters.begin());
        dead_letters.push_back(ledger.back());
    }

    /// With every due instant up to here the item is done: it neither runs for it, nor waits to be tried again. (What
    /// somebody asked for is for no due instant.)
    wall_time settled_through() const {
        auto settled = through;
        auto const hold_back = [&](auto const& unsettled) {
            if (unsettled && unsettled->source != run_source::trigger)
                settled = std::min(settled, unsettled->due - std::chrono::milliseconds{1});
        };
        hold_back(running);
        hold_back(retry);
        return settled;
    }

    /// Lines of words, the free text last in its line.
    std::string to_text() const {
        std::string text;
        text.reserve(256 + checkpoint.size() + (ledger.size() + dead_letters.size()) * 128);
        text.append(header);
        add_line(text, "schedule", schedule);
        add_line(text, "through", through);
        if (obeyed != 0) add_line(text, "obeyed", obeyed);
        if (last_begun) add_line(text, "begun", *last_begun);
        if (last_completed) add_line(text, "completed", *last_completed);
        if (next_due) add_line(text, "next", *next_due);
        if (!checkpoint.empty()) add_line(text, "checkpoint", free_text{checkpoint});
        auto const add_run = [&](std::string_view key, run_begin const& r, auto const&... more) {
            add_line(text, key, r.due, name_of(r.source), r.attempt, r.begun, std::string_view{r.instance}, more...);
        };
        for (auto const* all : {&ledger, &dead_letters})
            for (auto const& e : *all)
                add_run(all == &ledger ? "entry" : "dead", e.run, name_of(e.outcome), e.ended, e.count, free_text{e.note});
        if (retry) add_line(text, "retry", retry->due, name_of(retry->source), retry->attempt, retry->at);
        if (running) add_run("running", *running);
        return text;
    }

    /// Errors: malformed_data, naming the line. Lines of a later version's kinds are passed over.
    static result<basic_run_record> parse(std::string_view text) {
        auto refuse = [](std::string_view line) {
            return error{errc::malformed_data, "not a line of a run record", std::string{line}};
        };
        if (!text.starts_with(header)) return refuse(text.substr(0, text.find('\n')));
        text.remove_prefix(header.size());
        basic_run_record r;
        while (!text.empty()) {
            auto const line = take(text, '\n');
            auto rest = line;
            auto const key = take(rest, ' ');
            bool good = true;
            if (key == "schedule")
                good = detail::read_number(rest, r.schedule);
            else if (key == "through")
                good = read_time(rest, r.through);
            else if (key == "obeyed")
                good = detail::read_number(rest, r.obeyed);
            else if (key == "begun")
                good = read_time(rest, r.last_begun.emplace());
            else if (key == "completed")
                good = read_time(rest, r.last_completed.emplace());
            else if (key == "next")
                good = read_time(rest, r.next_due.emplace());
            else if (key == "checkpoint")
                r.checkpoint = unescaped(rest);
            else if (key == "entry")
                good = read_entry(rest, r.ledger.emplace_back());
            else if (key == "dead")
                good = read_entry(rest, r.dead_letters.emplace_back());
            else if (key == "retry")
                good = read_retry(rest, r.retry.emplace());
            else if (key == "running")
                good = read_begin(rest, r.running.emplace());
            if (!good) return refuse(line);
        }
        return r;
    }

    friend bool operator==(basic_run_record const&, basic_run_record const&) = default;

private:
    static constexpr std::string_view header = "elasticjob run 1\n";

    struct free_text {
        std::string_view text;
    };
    static void add_word(std::string& line, std::string_view word) { line.append(word); }
    static void add_word(std::string& line, std::integral auto number) {
        char digits[24];
        line.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
    }
    static void add_word(std::string& line, wall_time t) {
        add_word(line, std::chrono::floor<std::chrono::milliseconds>(t.time_since_epoch()).count());
    }
    static void add_word(std::string& line, free_text what) {
        for (char const c : what.text) {
            if (c == '\\' || c == '\n') line += '\\';
            line += c == '\n' ? 'n' : c;
        }
    }
    static void add_line(std::string& text, std::string_view key, auto const&... words) {
        text.append(key);
        (add_word(text += ' ', words), ...);
        text += '\n';
    }

    static std::string_view take(std::string_view& text, char separator) {
        auto const word = text.substr(0, text.find(separator));
        text.remove_prefix(std::min(text.size(), word.size() + 1));
        return word;
    }
    static bool read_time(std::string_view word, wall_time& into) {
        std::int64_t ms = 0;
        if (!detail::read_number(word, ms)) return false;
        into = wall_time{std::chrono::milliseconds{ms}};
        return true;
    }
    template <class Enum, std::size_t N>
    static bool read_name(std::string_view word, std::array<std::string_view, N> const& names, Enum& into) {
        for (std::size_t n = 0; n < N; ++n)
            if (names[n] == word) {
                into = static_cast<Enum>(n);
                return true;
            }
        return false;
    }
    /// What a run and one that is to come have in common: due instant, source, attempt, and when.
    static bool read_run(std::string_view& rest, auto& into, wall_time& when) {
        return read_time(take(rest, ' '), into.due) &&
               read_name(take(rest, ' '), detail::run_source_names, into.source) &&
               detail::read_number(take(rest, ' '), into.attempt) && read_time(take(rest, ' '), when);
    }
    static bool read_retry(std::string_view rest, run_retry& into) { return read_run(rest, into, into.at); }
    static bool read_begin(std::string_view& rest, run_begin& into) {
        bool const good = read_run(rest, into, into.begun);
        into.instance = take(rest, ' ');
        return good && !into.instance.empty();
    }
    static bool read_entry(std::string_view rest, Entry& into) {
        bool const good = read_begin(rest, into.run) &&
                          read_name(take(rest, ' '), detail::run_outcome_names, into.outcome) &&
                          read_time(take(rest, ' '), into.ended) && detail::read_number(take(rest, ' '), into.count);
        into.note = unescaped(rest);
        return good;
    }

    static std::string unescaped(std::string_view text) {
        std::string out;
        for (std::size_t i = 0; i < text.size(); ++i) {
            bool const is_escape = text[i] == '\\' && i + 1 < text.size();
            if (is_escape) ++i;
            out += is_escape && text[i] == 'n' ? '\n' : text[i];
        }
        return out;
    }
};

/// A template only so that including it costs nothing: see docs/decisions/0006.
using run_record = basic_run_record<>;

} // namespace elasticjob
#endif // ELASTICJOB_EXECUTION_RUN_RECORD_HPP
