// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_TESTING_CHECK_ALL_IPP
#define ELASTICJOB_IMPL_TESTING_CHECK_ALL_IPP

#include <elasticjob/core/hash.hpp>
#include <elasticjob/testing/check_all.hpp>

#include <cstring>

namespace elasticjob::testing {

namespace detail {

ELASTICJOB_DECL fingerprint fingerprint::of(std::string_view key) {
    using elasticjob::detail::mix_bits;
    fingerprint f{mix_bits(key.size()), key.size()};
    while (!key.empty()) {
        std::uint64_t piece = 0;
        auto const n = key.size() < sizeof piece ? key.size() : sizeof piece;
        std::memcpy(&piece, key.data(), n);
        f.first = mix_bits(f.first + piece);
        f.second = mix_bits(f.second ^ piece) + 1;
        key.remove_prefix(n);
    }
    return f;
}

ELASTICJOB_DECL state_table::state_table() : slots_(1024, none) {}

ELASTICJOB_DECL std::size_t state_table::slot_of(fingerprint const& f) const noexcept {
    auto slot = static_cast<std::size_t>(f.second) & (slots_.size() - 1);
    while (slots_[slot] != none && prints_[slots_[slot]] != f) slot = (slot + 1) & (slots_.size() - 1);
    return slot;
}

ELASTICJOB_DECL auto state_table::add(fingerprint const& f, number from, std::string_view move) -> place {
    auto const slot = slot_of(f);
    if (slots_[slot] != none) return {slots_[slot], false};
    auto const state = static_cast<number>(prints_.size());
    auto const [name, is_new] = name_numbers_.try_emplace(std::string{move}, static_cast<std::uint32_t>(names_.size()));
    if (is_new) names_.push_back(name->first);
    slots_[slot] = state;
    prints_.push_back(f);
    from_.push_back(from);
    move_.push_back(name->second);
    if (prints_.size() * 2 > slots_.size()) grow();
    return {state, true};
}

ELASTICJOB_DECL void state_table::grow() {
    slots_.assign(slots_.size() * 2, none);
    for (std::size_t i = 0; i < prints_.size(); ++i) slots_[slot_of(prints_[i])] = static_cast<number>(i);
}

ELASTICJOB_DECL std::vector<std::string> state_table::trace_to(number state) const {
    std::vector<std::string> trace;
    for (; state != 0; state = from_[state]) trace.push_back(names_[move_[state]]);
    std::reverse(trace.begin(), trace.end());
    return trace;
}

ELASTICJOB_DECL std::optional<state_table::number> state_table::first_hopeless() const {
    // The moves in the other direction: for each state, the states from which a move leads to it.
    std::vector<std::uint64_t> into_end(size() + 1);
    for (auto const to : reached_) ++into_end[to + 1];
    for (std::size_t i = 1; i < into_end.size(); ++i) into_end[i] += into_end[i - 1];
    std::vector<number> into(reached_.size());
    auto next = into_end; // the place of the next move into each state
    number from = 0;
    for (std::uint64_t i = 0; i < reached_.size(); ++i) {
        while (from + 1 < moves_begin_.size() && moves_begin_[from + 1] <= i) ++from;
        into[next[reached_[i]]++] = from;
    }

    std::vector<bool> is_hopeful(size());
    auto open = goals_;
    for (auto const goal : open) is_hopeful[goal] = true;
    while (!open.empty()) {
        auto const state = open.back();
        open.pop_back();
        for (auto i = into_end[state]; i < into_end[state + 1]; ++i) {
            if (is_hopeful[into[i]]) continue;
            is_hopeful[into[i]] = true;
            open.push_back(into[i]);
        }
    }
    for (number state = 0; state < size(); ++state)
        if (!is_hopeful[state]) return state;
    return std::nullopt;
}

ELASTICJOB_DECL std::uint64_t state_table::bytes() const noexcept {
    auto const of = [](auto const& v) { return v.capacity() * sizeof v[0]; };
    return of(prints_) + of(from_) + of(move_) + of(moves_begin_) + of(reached_) + of(goals_) + of(slots_);
}

} // namespace detail

ELASTICJOB_DECL std::string to_string(search_report const& r) {
    auto text = std::to_string(r.states) + " states, " + std::to_string(r.moves) + " moves, depth " +
                std::to_string(r.depth) + ", " + std::to_string(r.took.count()) + " ms, " +
                std::to_string(r.bytes >> 20) + " MiB, at most " + std::to_string(r.waiting_most) + " worlds at once";
    if (!r.is_complete) text += "; the search ended before it had seen all of them";
    if (r.problem.empty()) return text;
    text += "\n" + r.problem + ", after " + std::to_string(r.trace.size()) + " moves:";
    for (auto const& move : r.trace) text += "\n  " + move;
    return text;
}

} // namespace elasticjob::testing
#endif // ELASTICJOB_IMPL_TESTING_CHECK_ALL_IPP
