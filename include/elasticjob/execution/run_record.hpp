// SPDX-License-Identifier: Apache-2.0
/// \file \brief The record of an item's runs: the content of the node `ext/run/{item}`.
#ifndef ELASTICJOB_EXECUTION_RUN_RECORD_HPP
#define ELASTICJOB_EXECUTION_RUN_RECORD_HPP

#include <elasticjob/config/instant_text.hpp>
#include <elasticjob/config/text.hpp>
#include <elasticjob/core/algorithm.hpp> // min
#include <elasticjob/core/chrono.hpp>
#include <elasticjob/core/clock.hpp>
#include <elasticjob/core/decl.hpp>
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

/// The outcome of a due instant or of an order.
enum class run_outcome : std::uint8_t {
    completed,
    failed,      ///< the body returned an error or threw; the note has the text
    coalesced,   ///< the run of a later instant made up for it
    skipped,     ///< it was not run; the note has the reason
    interrupted, ///< its instance died, or the library stopped it, and it was not repeated
    retried,     ///< its instance died, or it did not finish (see the note); the next attempt has its own entry
};

namespace detail {
inline constexpr std::array<std::string_view, 6> run_outcome_names{"completed", "failed",      "coalesced",
                                                                   "skipped",   "interrupted", "retried"};
} // namespace detail

constexpr std::string_view name_of(run_outcome o) noexcept {
    return detail::run_outcome_names[static_cast<std::size_t>(o)];
}

/// Takes the place of the instance if a run was taken over from a dead instance but then not started.
inline constexpr std::string_view nobody = "nobody@-@-";

/// A run that has begun. All times are whole milliseconds, by the clock of the instance that wrote them.
struct run_begin {
    wall_time due{}; ///< the instant that it is for; for an order, when it was accepted
    run_source source = run_source::schedule;
    std::uint32_t attempt = 1; ///< one more for each earlier run that did not finish
    std::string instance{};
    wall_time begun{};

    friend bool operator==(run_begin const&, run_begin const&) = default;
};

/// The progress of the live run, in units of its body's own.
struct run_progress {
    std::uint64_t done = 0;
    std::uint64_t total = 0; ///< 0: not known
    wall_time at{};          ///< when the body reported it

    friend bool operator==(run_progress const&, run_progress const&) = default;
};

/// A run that failed or was stopped by the library, and that is to be repeated.
struct run_retry {
    wall_time due{}; ///< the instant that it is for
    run_source source = run_source::schedule;
    std::uint32_t attempt = 2; ///< the next attempt
    wall_time at{};            ///< the earliest time

    friend bool operator==(run_retry const&, run_retry const&) = default;
};

/// An entry of the history. Due instants that were not run share an entry, which stands for `count` of them up to
/// `due`; so do orders, in entries of their own.
struct run_entry {
    run_begin run;
    run_outcome outcome{};
    wall_time ended{};
    std::uint64_t count = 1;
    std::string note{};

    friend bool operator==(run_entry const&, run_entry const&) = default;
};

/// The authoritative record of an item's runs: written when a run starts, saves a checkpoint, reports progress, or
/// ends, each time with a check of the version that was read. The item's next owner continues from it, so that every
/// due instant is handled once, by whichever instance. A value; its functions only preserve its invariants.
struct run_record {
    std::uint64_t schedule = 0; ///< the fingerprint of the schedule that `through` belongs to
    std::int64_t obeyed = 0;    ///< the revision of the last order to run that was obeyed
    std::int64_t created = 0;   ///< the revision that created the record's node; 0: from a version that did not note it
    std::uint32_t copies = 0;   ///< how often the record was found in another node than it was written to
    wall_time through{};        ///< every due instant up to here has been handled
    std::optional<run_begin> running{}; ///< the live run, if any
    bool is_flagged = false;            ///< it was lost with a Java member, and a flag lets other ones make up for it
    std::optional<run_retry> retry{};   ///< the run that waits for a retry; later instants wait for it
    std::optional<run_retry> resume{};  ///< an order that was stopped while `retry` waited; repeated first
    std::optional<wall_time> last_begun{}, last_completed{}, next_due{};
    std::string checkpoint{};        ///< the text that the item's body saved last, for its next run
    std::vector<run_entry> ledger{}; ///< the last entries, oldest first
    std::vector<run_entry>
        dead_letters{}; ///< the last runs that failed for good, oldest first, until an operator handles them

    static constexpr std::size_t ledger_max = 12;
    /// The number of entries, the newest ones, that have lines of their own, as every version reads them. Earlier plain
    /// entries share a line, because each run writes all of them twice.
    static constexpr std::size_t own_lines = 3;
    static constexpr std::uint32_t copies_max = 127;
    static constexpr std::size_t note_bytes_max = 200;
    static constexpr std::size_t checkpoint_bytes_max = 32'768;
    /// The maximum number of lines that `parse` accepts: far more than are ever written.
    static constexpr std::size_t lines_max = 500;

    /// The fencing token of a run that was started at that revision. Revisions begin again after the znodes have been
    /// copied to another ensemble, so the number of copies comes first: it takes the upper bits. ZooKeeper's revisions
    /// need the other 56 after 16 million elections.
    std::int64_t token_of(std::int64_t started_at) const noexcept { return (std::int64_t{copies} << 56) + started_at; }

    void add(run_entry e);

    /// Ends the live run.
    void end(run_outcome outcome, wall_time now, std::string note = {});

    /// Whether the last entry belongs to this same attempt, which was to begin before. Precondition: a run is live.
    bool was_put_off() const;

    /// Ends the live run as unfinished, to be repeated; in `resume` if another run already waits in `retry`.
    void end_for_retry(wall_time now, std::string note, run_retry again);

    /// Keeps the run that failed last as a dead letter, of which there are at most `max`.
    void add_dead_letter(std::size_t max);

    /// The item has handled every due instant up to the result: no run for one is live or waits for a retry. (Orders
    /// belong to no due instant.)
    wall_time settled_through() const;

    /// Lines of words; free text is at the end of its line. With the progress of the live run, if there is any.
    std::string to_text(run_progress const* progress = nullptr) const;

    /// Errors: malformed_data, with the line, also for instants before 1969 or after 2226, or if there are more than
    /// `lines_max` lines, or that many entries before one of a line `entries`. Lines of unknown kinds, from later
    /// versions, are ignored.
    static result<run_record> parse(std::string_view text);

    /// The progress in a record's text, which is not part of a `run_record`. Nothing if no run is live or has reported
    /// any, or if that line cannot be read.
    static std::optional<run_progress> parse_progress(std::string_view text);

    friend bool operator==(run_record const&, run_record const&) = default;

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
    static std::int64_t milliseconds_of(wall_time t);
    static void add_word(std::string& line, wall_time t) { add_word(line, milliseconds_of(t)); }
    static void add_word(std::string& line, free_text what);
    static void add_line(std::string& text, std::string_view key, auto const&... words) {
        text.append(key);
        (add_word(text += ' ', words), ...);
        text += '\n';
    }

    static void add_run(std::string& text, std::string_view key, run_begin const& r, auto const&... more) {
        add_line(text, key, r.due, name_of(r.source), r.attempt, r.begun, std::string_view{r.instance}, more...);
    }
    static void add_entry(std::string& text, std::string_view key, run_entry const& e);
    void add_ledger(std::string& text) const;

    /// Whether the line `entries` can hold it: the run completed a due instant in its first attempt.
    static bool is_plain(run_entry const& e) noexcept;

    /// Drops the oldest until there is room for one more within `max`, which is not 0.
    static void make_room(std::vector<run_entry>& entries, std::size_t max);
    static std::string_view take(std::string_view& text, char separator);
    template <class Enum, std::size_t N>
    static bool read_name(std::string_view word, std::array<std::string_view, N> const& names, Enum& into) {
        for (std::size_t n = 0; n < N; ++n)
            if (names[n] == word) {
                into = static_cast<Enum>(n);
                return true;
            }
        return false;
    }
    /// The common part of a run and of a future run: due instant, source, attempt, and time.
    static bool read_run(std::string_view& rest, auto& into, wall_time& when) {
        return detail::read_instant(take(rest, ' '), into.due) &&
               read_name(take(rest, ' '), detail::run_source_names, into.source) &&
               detail::read_number(take(rest, ' '), into.attempt) && detail::read_instant(take(rest, ' '), when);
    }
    static bool read_retry(std::string_view rest, run_retry& into) { return read_run(rest, into, into.at); }
    static bool read_begin(std::string_view& rest, run_begin& into);
    static bool read_entry(std::string_view rest, run_entry& into);
    static bool read_plain_entries(std::string_view rest, std::vector<run_entry>& into);

    static std::string unescaped(std::string_view text);
};

} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/execution/run_record.ipp>
#endif
#endif // ELASTICJOB_EXECUTION_RUN_RECORD_HPP
