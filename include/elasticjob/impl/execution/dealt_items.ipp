// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_EXECUTION_DEALT_ITEMS_IPP
#define ELASTICJOB_IMPL_EXECUTION_DEALT_ITEMS_IPP

#include <elasticjob/execution/dealt_items.hpp>

namespace elasticjob::detail {

ELASTICJOB_DECL void dealt_items::take(item_index i) {
    if (!through_.try_emplace(i, wall_time::min()).second) return;
    count(wall_time::min());
    ++edition_;
}

ELASTICJOB_DECL bool dealt_items::deal(item_index i, wall_time through) {
    take(i);
    auto& known = through_[i];
    if (through <= known) return false;
    discount(known);
    count(through);
    known = through;
    return true;
}

ELASTICJOB_DECL void dealt_items::drop(item_index i) {
    auto const at = through_.find(i);
    if (at == through_.end()) return;
    discount(at->second);
    through_.erase(at);
    ++edition_;
}

ELASTICJOB_DECL bool dealt_items::is_through(item_index i, wall_time due) const {
    auto const at = through_.find(i);
    return at != through_.end() && at->second >= due;
}

ELASTICJOB_DECL std::size_t dealt_items::count_through(wall_time due) const {
    std::size_t sum = 0;
    for (auto at = counts_.lower_bound(due); at != counts_.end(); ++at) sum += at->second;
    return sum;
}

ELASTICJOB_DECL std::vector<item_index> dealt_items::list() const {
    std::vector<item_index> all;
    for (auto const& [i, through] : through_) all.push_back(i);
    return all;
}

ELASTICJOB_DECL void dealt_items::discount(wall_time through) {
    auto const at = counts_.find(through);
    if (--at->second == 0) counts_.erase(at);
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_IMPL_EXECUTION_DEALT_ITEMS_IPP
