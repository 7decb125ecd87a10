// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_REGISTRY_MEMORY_NODE_TREE_IPP
#define ELASTICJOB_IMPL_REGISTRY_MEMORY_NODE_TREE_IPP

#include <elasticjob/registry/memory/node_tree.hpp>

namespace elasticjob::detail {

inline void set_prefix(std::set<std::string>& prefixes, node_path const& path, bool is_in) {
    auto prefix = path.str() + "/";
    if (is_in)
        prefixes.insert(std::move(prefix));
    else
        prefixes.erase(prefix);
}

inline bool has_prefix(std::set<std::string> const& prefixes, std::string_view path) {
    return std::any_of(prefixes.begin(), prefixes.end(), [&](std::string const& p) { return path.starts_with(p); });
}

} // namespace elasticjob::detail

namespace elasticjob {

ELASTICJOB_DECL node const* node_tree::find(node_path const& path) const {
    auto const at = nodes_.find(path.str());
    return at == nodes_.end() ? nullptr : &at->second.value;
}

ELASTICJOB_DECL std::vector<std::string> node_tree::children(node_path const& path) const {
    constexpr char behind_slash = '/' + 1;
    std::vector<std::string> names;
    auto const prefix = path.is_root() ? path.str() : path.str() + "/";
    for (auto at = nodes_.upper_bound(prefix); at != nodes_.end() && at->first.starts_with(prefix);) {
        auto const deeper = at->first.find('/', prefix.size());
        if (deeper == std::string::npos) {
            names.push_back(at->first.substr(prefix.size()));
            ++at;
        } else {
            at = nodes_.lower_bound(at->first.substr(0, deeper) + behind_slash);
        }
    }
    return names;
}

ELASTICJOB_DECL void node_tree::set_read_only(node_path const& above, bool is_read_only) {
    detail::set_prefix(read_only_, above, is_read_only);
}

ELASTICJOB_DECL bool node_tree::is_read_only(std::string_view path) const {
    return detail::has_prefix(read_only_, path);
}

ELASTICJOB_DECL void node_tree::set_unreadable(node_path const& top, bool is_unreadable) {
    detail::set_prefix(unreadable_, top, is_unreadable);
}

ELASTICJOB_DECL bool node_tree::is_unreadable(node_path const& path) const {
    return !unreadable_.empty() && detail::has_prefix(unreadable_, path.str() + "/");
}

ELASTICJOB_DECL auto node_tree::apply(std::vector<operation> const& operations, std::int64_t session,
                                      std::int64_t now_ms) -> applied {
    if (!read_only_.empty())
        for (std::size_t i = 0; i < operations.size(); ++i)
            if (operations[i].what != operation::kind::check && is_read_only(operations[i].path.str()))
                return {.refused = typename reply::refusal{i, errc::no_auth}, .created = {}, .events = {}};
    return apply_checked(operations, session, now_ms);
}

ELASTICJOB_DECL auto node_tree::apply_checked(std::vector<operation> const& operations, std::int64_t session,
                                              std::int64_t now_ms) -> applied {
    applied answer;
    answer.at = ++last_revision_;
    std::vector<undo> journal;
    for (std::size_t i = 0; i < operations.size(); ++i) {
        auto const why = step(operations[i], session, now_ms, answer, journal);
        if (!why) continue;
        for (; !journal.empty(); journal.pop_back()) revert(journal.back());
        answer = {};
        answer.refused = typename reply::refusal{i, *why};
        break;
    }
    return answer;
}

ELASTICJOB_DECL std::vector<tree_event> node_tree::end_session(std::int64_t session, std::int64_t now_ms) {
    if (session == 0) return {}; // no session; persistent nodes have this owner
    std::vector<operation> removals;
    for (auto const& [path, e] : nodes_)
        if (e.value.stat.owner == session) removals.push_back({operation::kind::remove, *node_path::parse(path)});
    return apply_checked(removals, session, now_ms).events;
}

ELASTICJOB_DECL auto node_tree::parent_of(std::string const& path) -> entry& {
    auto const end = path.rfind('/');
    return nodes_.at(end == 0 ? "/" : path.substr(0, end));
}

ELASTICJOB_DECL void node_tree::link(std::string const& path, entry e) {
    ++parent_of(path).value.stat.children;
    nodes_.emplace(path, std::move(e));
}

ELASTICJOB_DECL void node_tree::unlink(std::string const& path) {
    --parent_of(path).value.stat.children;
    nodes_.erase(path);
}

ELASTICJOB_DECL void node_tree::revert(undo& u) {
    switch (u.what) {
    case operation::kind::check:
        break;
    case operation::kind::create:
        --parent_of(u.path).created_below;
        unlink(u.path);
        parent_of(u.path).value.stat.children_changed = u.children_changed;
        break;
    case operation::kind::set:
        nodes_.at(u.path).value = std::move(u.before.value);
        break;
    case operation::kind::remove:
        link(u.path, std::move(u.before));
        parent_of(u.path).value.stat.children_changed = u.children_changed;
        break;
    }
}

ELASTICJOB_DECL std::optional<errc> node_tree::step(operation const& o, std::int64_t session, std::int64_t now_ms,
                                                    applied& answer, std::vector<undo>& journal) {
    if (o.what == operation::kind::create) return create(o, session, now_ms, answer, journal);
    auto const at = nodes_.find(o.path.str());
    if (at == nodes_.end()) return errc::no_node;
    node& target = at->second.value;
    if (o.version != any_version && o.version != target.stat.version) return errc::version_conflict;
    if (o.what == operation::kind::set) {
        journal.push_back({o.what, o.path.str()});
        journal.back().before.value = target;
        target.data = o.data;
        target.stat.modified = answer.at;
        target.stat.modified_at_ms = now_ms;
        ++target.stat.version;
        answer.events.push_back({o.path.str(), watch_kind::data});
    } else if (o.what == operation::kind::remove) {
        if (target.stat.children != 0 || o.path.is_root()) return errc::not_empty;
        auto& parent = parent_of(o.path.str()).value;
        journal.push_back({o.what, o.path.str(), std::move(at->second), parent.stat.children_changed});
        unlink(o.path.str());
        parent.stat.children_changed = answer.at;
        answer.events.push_back({o.path.str(), watch_kind::data});
        answer.events.push_back({o.path.str(), watch_kind::children});
        answer.events.push_back({o.path.parent().str(), watch_kind::children});
    }
    return std::nullopt;
}

ELASTICJOB_DECL std::optional<errc> node_tree::create(operation const& o, std::int64_t session, std::int64_t now_ms,
                                                      applied& answer, std::vector<undo>& journal) {
    auto const parent = o.path.parent();
    auto const above = nodes_.find(parent.str());
    if (above == nodes_.end()) return errc::no_node;
    if (above->second.value.stat.owner != 0) return errc::no_children_for_ephemerals;
    std::string path = o.path.str();
    if (is_sequential(o.mode)) {
        char digits[24];
        std::snprintf(digits, sizeof digits, "%010lld", static_cast<long long>(above->second.created_below));
        path += digits;
    }
    if (o.path.is_root() || nodes_.contains(path)) return errc::node_exists;
    journal.push_back({o.what, path});
    journal.back().children_changed = above->second.value.stat.children_changed;
    ++above->second.created_below;
    entry fresh;
    fresh.value.data = o.data;
    fresh.value.stat = {.created = answer.at,
                        .modified = answer.at,
                        .version = 0,
                        .children = 0,
                        .owner = is_ephemeral(o.mode) ? session : 0,
                        .modified_at_ms = now_ms,
                        .children_changed = answer.at};
    link(path, std::move(fresh));
    above->second.value.stat.children_changed = answer.at;
    answer.events.push_back({path, watch_kind::data});
    answer.events.push_back({parent.str(), watch_kind::children});
    answer.created.push_back(std::move(path));
    return std::nullopt;
}

} // namespace elasticjob
#endif // ELASTICJOB_IMPL_REGISTRY_MEMORY_NODE_TREE_IPP
