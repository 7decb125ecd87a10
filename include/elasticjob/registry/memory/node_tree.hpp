// SPDX-License-Identifier: Apache-2.0
/// \file \brief The tree of nodes behind the in-memory registry: data, versions, transactions. No sessions, no time.
#ifndef ELASTICJOB_REGISTRY_MEMORY_NODE_TREE_HPP
#define ELASTICJOB_REGISTRY_MEMORY_NODE_TREE_HPP

#include <elasticjob/core/deferred.hpp>
#include <elasticjob/core/path.hpp>
#include <elasticjob/registry/node.hpp>
#include <elasticjob/registry/transaction.hpp>
#include <elasticjob/registry/watch.hpp>

#include <cstdio>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace elasticjob {

/// What one change did to whom: those who watch (path, kind) are told.
struct tree_event {
    std::string path;
    watch_kind kind;
};

/// ZooKeeper's data model: see `node_stat` for what is counted. Other operations than `children` are O(log nodes), those of
/// a transaction each. Threads: one.
template <class T = void>
class basic_node_tree {
    using reply = deferred<commit_reply, T>;

public:
    basic_node_tree() { nodes_.emplace("/", entry{}); }

    node const* find(node_path const& path) const {
        auto const at = nodes_.find(path.str());
        return at == nodes_.end() ? nullptr : &at->second.value;
    }

    /// In ascending order. Kept nowhere: below a node are the paths that begin with its own, and of those that lie deeper
    /// one leap passes over all behind the same child. O((children + 1) * log nodes).
    deferred<std::vector<std::string>, T> children(node_path const& path) const {
        constexpr char behind_slash = '/' + 1;
        deferred<std::vector<std::string>, T> names;
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

    struct applied {
        std::optional<typename reply::refusal> refused;
        revision at = 0;
        deferred<std::vector<std::string>, T> created; ///< for each create: the path that it got
        deferred<std::vector<tree_event>, T> events;   ///< in the order of the changes
    };

    /// All of it or nothing, for the given session, at the given server time. A `check` alone takes a revision too.
    applied apply(deferred<std::vector<operation>, T> const& operations, std::int64_t session, std::int64_t now_ms) {
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

    /// Removes what the session has left behind, in one revision.
    deferred<std::vector<tree_event>, T> end_session(std::int64_t session, std::int64_t now_ms) {
        if (session == 0) return {}; // nobody's: that is how persistent nodes look
        deferred<std::vector<operation>, T> removals;
        for (auto const& [path, e] : nodes_)
            if (e.value.stat.owner == session) removals.push_back({operation::kind::remove, *node_path::parse(path)});
        return apply(removals, session, now_ms).events;
    }

    /// Every path, in order, for comparisons and dumps.
    template <class F>
    void for_each(F&& f) const {
        for (auto const& [path, e] : nodes_) f(path, e.value);
    }

private:
    struct entry {
        node value{};
        std::int64_t created_below = 0; ///< numbers the sequential children; counts all creations, as ZooKeeper does
    };
    /// One change, and what it takes to take it back.
    struct undo {
        operation::kind what;
        std::string path;
        entry before{}; ///< set, remove
    };

    entry& parent_of(std::string const& path) {
        auto const end = path.rfind('/');
        return nodes_.at(end == 0 ? "/" : path.substr(0, end));
    }

    void link(std::string const& path, entry e) {
        ++parent_of(path).value.stat.children;
        nodes_.emplace(path, std::move(e));
    }
    void unlink(std::string const& path) {
        --parent_of(path).value.stat.children;
        nodes_.erase(path);
    }

    void revert(undo& u) {
        switch (u.what) {
        case operation::kind::check:
            break;
        case operation::kind::create:
            --parent_of(u.path).created_below;
            unlink(u.path);
            break;
        case operation::kind::set:
            nodes_.at(u.path).value = std::move(u.before.value);
            break;
        case operation::kind::remove:
            link(u.path, std::move(u.before));
            break;
        }
    }

    deferred<std::optional<errc>, T> step(operation const& o, std::int64_t session, std::int64_t now_ms,
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
            journal.push_back({o.what, o.path.str(), std::move(at->second)});
            unlink(o.path.str());
            answer.events.push_back({o.path.str(), watch_kind::data});
            answer.events.push_back({o.path.str(), watch_kind::children});
            answer.events.push_back({o.path.parent().str(), watch_kind::children});
        }
        return std::nullopt;
    }

    deferred<std::optional<errc>, T> create(operation const& o, std::int64_t session, std::int64_t now_ms,
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
        ++above->second.created_below;
        entry fresh;
        fresh.value.data = o.data;
        fresh.value.stat = {.created = answer.at,
                            .modified = answer.at,
                            .version = 0,
                            .children = 0,
                            .owner = is_ephemeral(o.mode) ? session : 0,
                            .modified_at_ms = now_ms};
        link(path, std::move(fresh));
        answer.events.push_back({path, watch_kind::data});
        answer.events.push_back({parent.str(), watch_kind::children});
        answer.created.push_back(std::move(path));
        return std::nullopt;
    }

    std::map<std::string, entry> nodes_;
    revision last_revision_ = 0;
};

/// A template only so that including it costs nothing: see docs/decisions/0006.
using node_tree = basic_node_tree<>;

} // namespace elasticjob
#endif // ELASTICJOB_REGISTRY_MEMORY_NODE_TREE_HPP
