// SPDX-License-Identifier: Apache-2.0
/// \file \brief What is written down about the runs of one item: what stands in the node `ext/run/{item}`.
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
struct run_record {
    std::uint64_t schedule = 0;                          ///< the fingerprint of the schedule that `through` belongs to
    std::int64_t obeyed = 0;                             ///< the revision of the last order to run that was obeyed
    wall_time through{};                                 ///< every due instant up to here has been dealt with
    std::optional<run_begin> running{};                  ///< what runs, if something does
    std::optional<run_retry> retry{};                    ///< what waits to be tried again; later instants wait for it
    std::optional<run_retry> resume{};                   ///< an order that was stopped while `retry` waited: it goes first
    std::optional<wall_time> last_begun{}, last_completed{}, next_due{};
    std::string checkpoint{};    ///< what the item's body last saved, for its next run
    std::vector<run_entry> ledger{}; ///< the last entries, oldest first
    std::vector<run_entry>
        dead_letters{}; ///< the last runs that failed for good, oldest first, until an operator sees to them

    static constexpr std::size_t ledger_max = 12;
    static constexpr std::size_t note_bytes_max = 200;
    static constexpr std::size_t checkpoint_bytes_max = 32'768;
    /// The most lines of a text that is read: far more than is ever written.
    static constexpr std::size_t lines_max = 500;

    void add(run_entry e);

    /// What runs is over.
    void end(run_outcome outcome, wall_time now, std::string note = {});

    /// Whether the last entry is of this very attempt, which was to begin before. Precondition: something runs.
    bool was_put_off() const;

    /// What runs has not come to its end, and is tried again; from a place of its own, if another run waits for its retry.
    void end_for_retry(wall_time now, std::string note, run_retry again);

    /// What ended last, not well, is kept as a dead letter, of which there are at most `max`.
    void bury(std::size_t max);

    /// With every due instant up to here the item is done: it neither runs for it, nor waits to be tried again. (What
    /// somebody asked for is for no due instant.)
    wall_time settled_through() const;

    /// Lines of words, the free text last in its line.
    std::string to_text() const;

    /// Errors: malformed_data, naming the line, which may not say an instant before 1969 or after 2226; or if there are
    /// more than `lines_max`. Lines of a later version's kinds are passed over.
    static result<run_record> parse(std::string_view text);

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
    static void add_word(std::string& line, wall_time t);
    static void add_word(std::string& line, free_text what);
    static void add_line(std::string& text, std::string_view key, auto const&... words) {
        text.append(key);
        (add_word(text += ' ', words), ...);
        text += '\n';
    }

    /// For one more, so that there are at most `max`, which is not 0: the oldest go.
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
    /// What a run and one that is to come have in common: due instant, source, attempt, and when.
    static bool read_run(std::string_view& rest, auto& into, wall_time& when) {
        return detail::read_instant(take(rest, ' '), into.due) &&
               read_name(take(rest, ' '), detail::run_source_names, into.source) &&
               detail::read_number(take(rest, ' '), into.attempt) && detail::read_instant(take(rest, ' '), when);
    }
    static bool read_retry(std::string_view rest, run_retry& into) { return read_run(rest, into, into.at); }
    static bool read_begin(std::string_view& rest, run_begin& into);
    static bool read_entry(std::string_view rest, run_entry& into);

    static std::string unescaped(std::string_view text);
};

} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/execution/run_record.ipp>
#endif
#endif // ELASTICJOB_EXECUTION_RUN_RECORD_HPP
