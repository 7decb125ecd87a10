// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_EXECUTION_ROUND_ENDS_IPP
#define ELASTICJOB_IMPL_EXECUTION_ROUND_ENDS_IPP

#include <elasticjob/execution/round_ends.hpp>

namespace elasticjob {

ELASTICJOB_DECL item_rounds::item_rounds(run_record const& r)
    : settled_{r.settled_through()},
      is_full_{r.ledger.size() >= run_record::ledger_max} {
    for (auto at = r.ledger.begin(); at != r.ledger.end(); ++at)
        if (!is_ordered(r.ledger, at)) put({at->run.due, fate_of(at->outcome), at->ended, at->count > 1});
}

ELASTICJOB_DECL auto item_rounds::part_in(wall_time due) const -> part {
    auto const at = first_from(due);
    if (at != parts_.end() && at->due == due) return *at;
    auto const fate = at != parts_.begin()                 ? round_fate::passed_over
                      : is_full_                           ? round_fate::forgotten
                      : at != parts_.end() && at->is_group ? round_fate::passed_over
                                                           : round_fate::absent;
    return {.due = due, .fate = fate};
}

ELASTICJOB_DECL auto item_rounds::first_from(wall_time due) const -> std::vector<part>::const_iterator {
    auto const is_before = [](part const& left, wall_time right) { return left.due < right; };
    return std::lower_bound(parts_.begin(), parts_.end(), due, is_before);
}

ELASTICJOB_DECL void item_rounds::put(part p) {
    auto const at = parts_.begin() + (first_from(p.due) - parts_.begin());
    if (at != parts_.end() && at->due == p.due)
        *at = p;
    else
        parts_.insert(at, p);
}

ELASTICJOB_DECL std::vector<ended_round> ended_rounds(std::vector<item_rounds> const& items, wall_time after) {
    std::vector<ended_round> all;
    if (items.empty()) return all;
    auto settled = items.front().settled();
    for (auto const& i : items) settled = std::min(settled, i.settled());
    for (auto const& i : items)
        for (auto const& p : i.parts())
            if (p.due > after && p.due <= settled) all.push_back({p.due, round_fate::completed, {}});
    std::sort(all.begin(), all.end(), [](auto const& a, auto const& b) { return a.due < b.due; });
    all.erase(std::unique(all.begin(), all.end()), all.end());
    constexpr auto rank = [](round_fate f) {
        return f == round_fate::failed ? 3 : f == round_fate::forgotten ? 2 : f == round_fate::passed_over ? 1 : 0;
    };
    for (auto& round : all)
        for (auto const& i : items) {
            auto const part = i.part_in(round.due);
            round.ended = std::max(round.ended, part.ended);
            if (rank(part.fate) > rank(round.fate)) round.fate = part.fate;
        }
    return all;
}

} // namespace elasticjob
#endif // ELASTICJOB_IMPL_EXECUTION_ROUND_ENDS_IPP
