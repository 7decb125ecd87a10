// SPDX-License-Identifier: Apache-2.0
/// \file \brief Tries every order of events in a small world, and prints the shortest trace to a problem.
#ifndef ELASTICJOB_TESTING_CHECK_ALL_HPP
#define ELASTICJOB_TESTING_CHECK_ALL_HPP

#include <elasticjob/core/decl.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace elasticjob::testing {

/// A world is a value that holds everything on which its future depends, and nothing else.
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
    std::string problem;            ///< the first problem found; empty: none
    std::vector<std::string> trace; ///< the moves that lead to it; no shorter trace exists
    bool is_complete = true;        ///< false: ended at `states_max`, so the absence of a problem proves nothing

    bool holds() const noexcept { return problem.empty() && is_complete; }
};

std::string to_string(search_report const& r);

namespace detail {

struct fingerprint {
    std::uint64_t first = 0, second = 0;

    static fingerprint of(std::string_view key);
    friend bool operator==(fingerprint const&, fingerprint const&) = default;

    struct hash {
        std::size_t operator()(fingerprint const& f) const noexcept { return static_cast<std::size_t>(f.first); }
    };
};

} // namespace detail

/// Searches breadth-first, so the first problem has the shortest trace. It looks for a state with a `problem()`, and
/// for a state from which no sequence of moves leads to a goal. Makes O(states * moves) copies. Keeps some 200 bytes
/// for each state, and the worlds whose moves it has not tried yet. Keeps a fingerprint of 128 bits of each key: among
/// ten million states, the odds that two share one are below 1 in 10^24. Threads: any one.
template <searchable_world World>
search_report check_all(World const& start, std::uint64_t states_max = 1'000'000) {
    struct origin {
        std::size_t from;
        std::string move;
    };
    std::vector<origin> origins;
    std::vector<std::vector<std::size_t>> into; // for each state: the states that lead to it in one move
    std::vector<std::size_t> goals;
    std::unordered_map<detail::fingerprint, std::size_t, detail::fingerprint::hash> numbers;
    std::deque<World> waiting; // the last ones of `origins`, in their order
    search_report report;

    auto const trace_to = [&](std::size_t state) {
        std::vector<std::string> trace;
        for (; state != 0; state = origins[state].from) trace.insert(trace.begin(), origins[state].move);
        return trace;
    };
    auto const add = [&](World w, std::size_t from, std::string move) {
        auto const [at, is_new] = numbers.try_emplace(detail::fingerprint::of(w.key()), origins.size());
        if (is_new) {
            origins.push_back({from, std::move(move)});
            into.emplace_back();
            if (w.is_goal()) goals.push_back(at->second);
            report.problem = w.problem();
            waiting.push_back(std::move(w));
        }
        return at->second;
    };
    auto const end = [&]() -> search_report& {
        report.states = origins.size();
        return report;
    };

    add(start, 0, "");
    for (std::size_t next = 0; !waiting.empty() && report.problem.empty(); ++next) {
        if (origins.size() > states_max) {
            report.is_complete = false;
            return end();
        }
        auto const world = std::move(waiting.front());
        waiting.pop_front();
        for (auto const& move : world.moves()) {
            ++report.moves;
            auto after = world;
            after.make(move);
            auto const reached = add(std::move(after), next, move);
            if (!report.problem.empty()) {
                report.trace = trace_to(reached);
                return end();
            }
            into[reached].push_back(next);
        }
    }
    if (!report.problem.empty()) return end();

    std::vector<bool> is_hopeful(origins.size());
    for (auto const goal : goals) is_hopeful[goal] = true;
    while (!goals.empty()) {
        auto const state = goals.back();
        goals.pop_back();
        for (auto const from : into[state]) {
            if (is_hopeful[from]) continue;
            is_hopeful[from] = true;
            goals.push_back(from);
        }
    }
    for (std::size_t state = 0; state < origins.size(); ++state) {
        if (is_hopeful[state]) continue;
        report.problem = "whatever happens from here on, the goal is never reached";
        report.trace = trace_to(state);
        break;
    }
    return end();
}

} // namespace elasticjob::testing

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/testing/check_all.ipp>
#endif
#endif // ELASTICJOB_TESTING_CHECK_ALL_HPP
