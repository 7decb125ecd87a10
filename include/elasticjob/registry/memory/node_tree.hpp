// SPDX-License-Identifier: Apache-2.0
/// \file \brief The tree of nodes behind the in-memory registry: data, versions, transactions. No sessions, no time.
#ifndef ELASTICJOB_REGISTRY_MEMORY_NODE_TREE_HPP
#define ELASTICJOB_REGISTRY_MEMORY_NODE_TREE_HPP

#include <elasticjob/core/algorithm.hpp> // any_of
#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/path.hpp>
#include <elasticjob/registry/node.hpp>
#include <elasticjob/registry/transaction.hpp>
#include <elasticjob/registry/watch.hpp>

#include <cstdio>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace elasticjob {

/// One change that fires the watches of this kind on this path.
struct tree_event {
    std::string path;
    watch_kind kind;
};

/// ZooKeeper's data model, with the counters of `node_stat`. Every operation except `children` is O(log nodes), also
/// within a transaction. Threads: one.
class node_tree {
    using reply = commit_reply;

public:
    node_tree() { nodes_.emplace("/", entry{}); }

    node const* find(node_path const& path) const;

    /// In ascending order. The tree stores no child lists: the paths below a node begin with its own path, and one
    /// look-up skips all deeper paths of the same child. O((children + 1) * log nodes).
    std::vector<std::string> children(node_path const& path) const;

    struct applied {
        std::optional<typename reply::refusal> refused;
        revision at = 0;
        std::vector<std::string> created; ///< for each create: the created path
        std::vector<tree_event> events;   ///< in the order of the changes
    };

    /// Applies all operations or none, for the given session, at the given server time. Even a single `check` uses up a
    /// revision.
    applied apply(std::vector<operation> const& operations, std::int64_t session, std::int64_t now_ms);

    /// Removes the ephemeral nodes of the session, in one revision.
    std::vector<tree_event> end_session(std::int64_t session, std::int64_t now_ms);

    /// The revision of the last attempted change.
    revision last_revision() const noexcept { return last_revision_; }

    /// Makes all nodes below that one read-only, or writable again. To write, create or remove a read-only node fails
    /// with `no_auth`. The end of a session removes its nodes all the same.
    void set_read_only(node_path const& above, bool is_read_only);
    bool is_read_only(std::string_view path) const;

    /// Makes that node and all below it unreadable, or readable again. To read the data or the children of such a node
    /// fails with `no_auth`, but `exists` does not, as with ZooKeeper's access lists.
    void set_unreadable(node_path const& top, bool is_unreadable);
    bool is_unreadable(node_path const& path) const;

    /// Every path, in order, for comparisons and dumps.
    template <class F>
    void for_each(F&& f) const {
        for (auto const& [path, e] : nodes_) f(path, e.value);
    }

private:
    struct entry {
        node value{};
        std::int64_t created_below = 0; ///< numbers the sequential children; counts all creations, as in ZooKeeper
    };
    /// One change, and the data to undo it.
    struct undo {
        operation::kind what;
        std::string path;
        entry before{};                ///< set, remove
        revision children_changed = 0; ///< create, remove: the parent's value before the change
    };

    entry& parent_of(std::string const& path);

    void link(std::string const& path, entry e);
    void unlink(std::string const& path);

    void revert(undo& u);

    std::optional<errc> step(operation const& o, std::int64_t session, std::int64_t now_ms, applied& answer,
                             std::vector<undo>& journal);

    std::optional<errc> create(operation const& o, std::int64_t session, std::int64_t now_ms, applied& answer,
                               std::vector<undo>& journal);

    /// Without the check for read-only nodes: the end of a session removes its own nodes even if they are read-only.
    applied apply_checked(std::vector<operation> const& operations, std::int64_t session, std::int64_t now_ms);

    std::map<std::string, entry> nodes_;
    std::set<std::string> read_only_, unreadable_; ///< the paths passed to their setters, each followed by a slash
    revision last_revision_ = 0;
};

} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/registry/memory/node_tree.ipp>
#endif
#endif // ELASTICJOB_REGISTRY_MEMORY_NODE_TREE_HPP
