// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_TESTING_TREE_HISTORY_IPP
#define ELASTICJOB_IMPL_TESTING_TREE_HISTORY_IPP

#include <elasticjob/testing/tree_history.hpp>

#include <iterator>
#include <set>

namespace elasticjob::testing {

ELASTICJOB_DECL tree_history::tree_history(node_tree const& tree) : tree_{tree} {
    tree.for_each([&](std::string const& path, node const& n) { shown_.emplace(path, n); });
}

ELASTICJOB_DECL void tree_history::note(revision at, std::vector<tree_event> const& events, mono_time now) {
    if (events.empty()) return;
    change c{at, now, events, {}};
    for (auto const& e : events) {
        if (c.before.contains(e.path)) continue;
        auto const shown = shown_.find(e.path);
        auto& before = c.before[e.path];
        if (shown != shown_.end()) before = std::move(shown->second);
        auto const* is = tree_.find(*node_path::parse(e.path));
        if (is)
            shown_.insert_or_assign(e.path, *is);
        else if (shown != shown_.end())
            shown_.erase(shown);
    }
    changes_.push_back(std::move(c));
    while (changes_.front().when + span < now) changes_.pop_front();
}

ELASTICJOB_DECL std::optional<node> tree_history::find(node_path const& path, revision at) const {
    for (auto const& c : changes_) {
        if (c.at <= at) continue;
        auto const was = c.before.find(path.str());
        if (was != c.before.end()) return was->second;
    }
    auto const* is = tree_.find(path);
    return is ? std::optional<node>{*is} : std::nullopt;
}

ELASTICJOB_DECL std::vector<std::string> tree_history::children(node_path const& path, revision at) const {
    auto const now = tree_.children(path);
    std::set<std::string> names{now.begin(), now.end()};
    for (auto c = changes_.rbegin(); c != changes_.rend() && c->at > at; ++c)
        for (auto const& [changed, before] : c->before) {
            auto const child = *node_path::parse(changed);
            if (child.is_root() || child.parent() != path) continue;
            if (before)
                names.insert(std::string{child.name()});
            else
                names.erase(std::string{child.name()});
        }
    return {names.begin(), names.end()};
}

} // namespace elasticjob::testing
#endif // ELASTICJOB_IMPL_TESTING_TREE_HISTORY_IPP
