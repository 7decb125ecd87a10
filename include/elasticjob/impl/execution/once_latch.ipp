// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_EXECUTION_ONCE_LATCH_IPP
#define ELASTICJOB_IMPL_EXECUTION_ONCE_LATCH_IPP

#include <elasticjob/core/algorithm.hpp>
#include <elasticjob/execution/once_latch.hpp>
#include <elasticjob/registry/job_layout.hpp> // item_name

namespace elasticjob::detail {

ELASTICJOB_DECL latch_item const* once_latch::find(std::vector<latch_item> const& ours, item_index item) {
    auto const is_before = [](latch_item const& i, item_index other) { return i.item < other; };
    auto const at = std::lower_bound(ours.begin(), ours.end(), item, is_before);
    return at != ours.end() && at->item == item ? &*at : nullptr;
}

ELASTICJOB_DECL bool once_latch::is_to_register(latch_item const& i, bool is_open) const {
    if (stage_ == stage::started) return true;
    if (i.is_running) return false;
    auto const last = registered_.find(i.item);
    return is_open || (last != registered_.end() && last->second != i.begun);
}

ELASTICJOB_DECL bool once_latch::is_being_removed(std::set<std::string> const& there, mono_time now) {
    auto const is_missing = [&](item_index item) { return !there.contains(item_name(item)); };
    if (std::none_of(ours_.begin(), ours_.end(), is_missing)) {
        removed_by_ = mono_time::max();
        return false;
    }
    if (removed_by_ == mono_time::max()) removed_by_ = now + removal_max;
    if (now < removed_by_) return true;
    removed_by_ = mono_time::max();
    std::erase_if(ours_, is_missing);
    return false;
}

ELASTICJOB_DECL once_latch::step once_latch::next(std::vector<latch_item> const& ours, std::uint32_t item_count,
                                                  std::optional<std::vector<std::string>> const& names, bool is_used,
                                                  mono_time now, mono_time::duration timeout) {
    step s;
    for (auto const& i : ours) registered_.try_emplace(i.item, i.begun);
    std::set<std::string> const there =
        names ? std::set<std::string>{names->begin(), names->end()} : std::set<std::string>{};
    if (!names) ours_.clear();
    if (is_being_removed(there, now)) return s;
    for (auto const item : ours_)
        if (!find(ours, item) && there.contains(item_name(item))) s.withdrawn.push_back(item);
    bool const has_java_items = ours.size() < item_count;
    if (is_used && has_java_items)
        for (auto const& i : ours)
            if (!there.contains(item_name(i.item)) && is_to_register(i, !there.empty())) s.registered.push_back(i.item);
    bool const is_full = has_java_items && s.withdrawn.empty() && there.size() + s.registered.size() >= item_count;
    if (!is_full)
        full_until_ = mono_time::max();
    else if (full_until_ == mono_time::max())
        full_until_ = now + timeout;
    bool const is_last = is_full && !s.registered.empty();
    if (is_last || now >= full_until_) {
        s.all.assign(there.begin(), there.end());
        for (auto const item : s.registered) s.all.push_back(item_name(item));
    }
    return s;
}

ELASTICJOB_DECL void once_latch::done(std::vector<latch_item> const& ours, step const& s) {
    for (auto const item : s.withdrawn) ours_.erase(item);
    for (auto const item : s.registered) {
        ours_.insert(item);
        if (auto const* const i = find(ours, item)) registered_[item] = i->begun;
    }
    if (s.all.empty()) return;
    ours_.clear();
    full_until_ = mono_time::max();
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_IMPL_EXECUTION_ONCE_LATCH_IPP
