// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_OPERATIONS_ROUND_OVERVIEW_IPP
#define ELASTICJOB_IMPL_OPERATIONS_ROUND_OVERVIEW_IPP

#include <elasticjob/operations/round_overview.hpp>

#include <array>
#include <functional>
#include <map>

namespace elasticjob {

ELASTICJOB_DECL std::string_view name_of(round_outcome s) noexcept {
    constexpr std::array<std::string_view, 7> names{"running",   "failed",    "interrupted", "retrying",
                                                    "completed", "coalesced", "skipped"};
    return names[static_cast<std::size_t>(s)];
}

namespace detail {

inline round_outcome state_of(run_outcome outcome) noexcept {
    switch (outcome) {
    case run_outcome::completed:
        return round_outcome::completed;
    case run_outcome::failed:
        return round_outcome::failed;
    case run_outcome::coalesced:
        return round_outcome::coalesced;
    case run_outcome::skipped:
        return round_outcome::skipped;
    case run_outcome::interrupted:
        return round_outcome::interrupted;
    case run_outcome::retried:
        return round_outcome::retrying;
    }
    return round_outcome::failed;
}

} // namespace detail

ELASTICJOB_DECL std::vector<round_overview> rounds_of(std::vector<run_record> const& records) {
    struct part { // of the round, for one item
        round_outcome state{};
        std::optional<wall_time> begun{}, ended{};
    };
    std::map<wall_time, round_overview, std::greater<>> rounds;
    for (auto const& r : records) {
        std::map<wall_time, part> parts; // a later attempt replaces an earlier one, except for its begin
        auto const add = [&](run_begin const& run, round_outcome state, std::optional<wall_time> ended) {
            if (run.source == run_source::trigger) return;
            auto& p = parts[run.due];
            bool const was_run = state != round_outcome::skipped && state != round_outcome::coalesced;
            if (was_run && !p.begun) p.begun = run.begun;
            p.state = state;
            p.ended = ended;
        };
        for (auto const& e : r.ledger) add(e.run, detail::state_of(e.outcome), e.ended);
        for (auto const* again : {&r.retry, &r.resume})
            if (*again && parts.contains((*again)->due)) parts[(*again)->due].state = round_outcome::retrying;
        if (r.running) add(*r.running, round_outcome::running, std::nullopt);
        for (auto const& [due, p] : parts) {
            auto [at, is_new] = rounds.try_emplace(due, round_overview{due, p.state, p.begun, p.ended});
            auto& round = at->second;
            ++round.items;
            if (is_new) continue;
            round.outcome = std::min(round.outcome, p.state);
            if (p.begun) round.begun = std::min(round.begun.value_or(*p.begun), *p.begun);
            if (round.ended) round.ended = p.ended ? std::max(*round.ended, *p.ended) : std::optional<wall_time>{};
        }
    }
    std::vector<round_overview> all;
    for (auto const& [due, round] : rounds) all.push_back(round);
    return all;
}

} // namespace elasticjob
#endif // ELASTICJOB_IMPL_OPERATIONS_ROUND_OVERVIEW_IPP
