// SPDX-License-Identifier: Apache-2.0
/// \file \brief Tries every order of events in a small world, and prints the shortest trace to a problem.
#ifndef ELASTICJOB_TESTING_CHECK_ALL_HPP
#define ELASTICJOB_TESTING_CHECK_ALL_HPP

#include <elasticjob/core/algorithm.hpp> // max, min
#include <elasticjob/core/chrono.hpp>
#include <elasticjob/core/decl.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace elasticjob::testing {

/// A world is a value that contains all data on which its future depends, and no other data.
///
/// | expression     | gives               | must hold                                                               |
/// |----------------|---------------------|-------------------------------------------------------------------------|
/// | `W{w}`         | a copy              | acts as `w` does                                                        |
/// | `w.moves()`    | vector<std::string> | the names of all possible next moves; empty if nothing can happen       |
/// | `w.make(name)` |                     | `name` is one of them                                                   |
/// | `w.key()`      | std::string         | two worlds with the same key have the same future                       |
/// | `w.problem()`  | std::string         | a forbidden state, or an empty text                                     |
/// | `w.is_goal()`  | bool                | whether the required state has been reached                             |
template <class W>
concept searchable_world = std::copyable<W> && requires(W w, W const& seen, std::string const& move) {
    { seen.moves() } -> std::same_as<std::vector<std::string>>;
    w.make(move);
    { seen.key() } -> std::same_as<std::string>;
    { seen.problem() } -> std::same_as<std::string>;
    { seen.is_goal() } -> std::same_as<bool>;
};

/// The result of a search.
struct search_report {
    std::uint64_t states = 0;       ///< distinct ones
    std::uint64_t moves = 0;        ///< tried
    std::uint64_t depth = 0;        ///< the largest number of moves that the shortest way to any state takes
    std::uint64_t waiting_most = 0; ///< the most worlds kept at once because of untried moves
    std::uint64_t bytes = 0;        ///< the size of the table of states at the end, without those worlds
    std::chrono::milliseconds took{0};
    std::string problem;            ///< the first problem found; empty: none
    std::vector<std::string> trace; ///< the moves that lead to it; no shorter sequence does
    bool is_complete = true;        ///< false: ended at `states_max`; then the absence of a problem proves nothing

    bool holds() const noexcept { return problem.empty() && is_complete; }
};

std::string to_string(search_report const& r);

namespace detail {

struct fingerprint {
    std::uint64_t first = 0, second = 0;

    static fingerprint of(std::string_view key);
    friend bool operator==(fingerprint const&, fingerprint const&) = default;
};

/// The states that a search has found, numbered in the order of their discovery, and the moves between them. It keeps
/// neither worlds nor keys.
class state_table {
public:
    using number = std::uint32_t;
    static constexpr std::uint64_t states_max = 0xffff'fff0;

    state_table();

    struct place {
        number state;
        bool is_new;
    };
    /// The state with this fingerprint. If it is new, `move` has led to it from `from`.
    place add(fingerprint const& f, number from, std::string_view move);

    std::uint64_t size() const noexcept { return prints_.size(); }

    /// Call these for each state in turn, in the order of the states.
    void begin_moves() { moves_begin_.push_back(reached_.size()); }
    void note_move(number to) { reached_.push_back(to); }

    void note_goal(number state) { goals_.push_back(state); }

    std::vector<std::string> trace_to(number state) const;

    /// The first state from which no sequence of moves leads to a goal. Precondition: the moves of all states have been
    /// noted.
    std::optional<number> first_hopeless() const;

    std::uint64_t bytes() const noexcept;

private:
    void grow();
    std::size_t slot_of(fingerprint const& f) const noexcept;

    static constexpr number none = 0xffff'ffff;

    std::vector<fingerprint> prints_;
    std::vector<number> from_;
    std::vector<std::uint32_t> move_;        ///< the move that led to the state: an index of `names_`
    std::vector<std::uint64_t> moves_begin_; ///< in `reached_`
    std::vector<number> reached_;
    std::vector<number> goals_;
    std::vector<number> slots_; ///< open addressing; the size is a power of two, and at most half are taken
    std::vector<std::string> names_;
    std::unordered_map<std::string, std::uint32_t> name_numbers_;
};

} // namespace detail

/// Searches breadth-first, so the first problem has the shortest trace. It looks for a state with a `problem()`, and
/// for a state from which no sequence of moves leads to a goal. Makes O(states * moves) copies.
///
/// Keeps some 50 bytes for each state, 4 for each move (8 at the end), and the worlds whose moves it has not tried yet.
/// So small worlds save memory. Instead of a key it keeps a fingerprint of 128 bits. If two states had the same
/// fingerprint, the search would take them for one state and would miss the future of the second. Among n states the
/// odds of that are n * n / 2^129: for ten million states, below 1 in 10^24.
///
/// Threads: one.
template <searchable_world World>
search_report check_all(World const& start, std::uint64_t states_max = 1'000'000) {
    using number = detail::state_table::number;
    auto const began = std::chrono::steady_clock::now();
    detail::state_table table;
    std::deque<World> waiting; // the last states of the table, in their order
    search_report report;
    number problem_in = 0;

    auto const add = [&](World w, number from, std::string const& move) {
        auto const [state, is_new] = table.add(detail::fingerprint::of(w.key()), from, move);
        if (is_new) {
            if (w.is_goal()) table.note_goal(state);
            report.problem = w.problem();
            if (!report.problem.empty()) problem_in = state;
            waiting.push_back(std::move(w));
            report.waiting_most = std::max<std::uint64_t>(report.waiting_most, waiting.size());
        }
        return state;
    };
    auto const end = [&]() -> search_report& {
        if (!report.problem.empty()) report.trace = table.trace_to(problem_in);
        report.states = table.size();
        report.bytes = table.bytes();
        report.took = std::chrono::floor<std::chrono::milliseconds>(std::chrono::steady_clock::now() - began);
        return report;
    };

    states_max = std::min(states_max, detail::state_table::states_max);
    add(start, 0, "");
    std::uint64_t level_end = 1; // the states before it take at most `depth` moves
    for (number next = 0; !waiting.empty() && report.problem.empty(); ++next) {
        if (table.size() > states_max) {
            report.is_complete = false;
            return end();
        }
        if (next == level_end) {
            ++report.depth;
            level_end = table.size();
        }
        auto const world = std::move(waiting.front());
        waiting.pop_front();
        table.begin_moves();
        for (auto const& move : world.moves()) {
            ++report.moves;
            auto after = world;
            after.make(move);
            table.note_move(add(std::move(after), next, move));
            if (!report.problem.empty()) return end();
        }
    }
    if (!report.problem.empty()) return end();

    if (auto const hopeless = table.first_hopeless()) {
        report.problem = "no sequence of moves leads from here to a goal";
        problem_in = *hopeless;
    }
    return end();
}

} // namespace elasticjob::testing

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/testing/check_all.ipp>
#endif
#endif // ELASTICJOB_TESTING_CHECK_ALL_HPP
