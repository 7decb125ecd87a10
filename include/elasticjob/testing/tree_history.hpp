// SPDX-License-Identifier: Apache-2.0
/// \file \brief The recent past of a node tree, which a follower shows that is slightly behind.
#ifndef ELASTICJOB_TESTING_TREE_HISTORY_HPP
#define ELASTICJOB_TESTING_TREE_HISTORY_HPP

#include <elasticjob/core/chrono.hpp>
#include <elasticjob/core/clock.hpp>
#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/path.hpp>
#include <elasticjob/registry/memory/node_tree.hpp>

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace elasticjob::testing {

/// Remembers the changes of the last two seconds. Older revisions are not available. Threads: the world's.
class tree_history {
public:
    /// One revision of the tree: its events, and the nodes as they were before that revision.
    struct change {
        revision at = 0;
        mono_time when{};
        std::vector<tree_event> events;
        std::map<std::string, std::optional<node>> before; ///< by path
    };

    /// Begins with the current tree. The tree must outlive the history.
    explicit tree_history(node_tree const& tree);

    /// Call it after each revision that has changed the tree. Amortised O(events * log nodes).
    void note(revision at, std::vector<tree_event> const& events, mono_time now);

    /// The node as of that revision.
    std::optional<node> find(node_path const& path, revision at) const;

    /// The names below the node as of that revision, in ascending order.
    std::vector<std::string> children(node_path const& path, revision at) const;

    /// In the order of their revisions.
    std::deque<change> const& changes() const noexcept { return changes_; }

private:
    static constexpr std::chrono::seconds span{2};

    node_tree const& tree_;
    std::map<std::string, node> shown_; ///< the tree as of the last call of `note`
    std::deque<change> changes_;
};

} // namespace elasticjob::testing

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/testing/tree_history.ipp>
#endif
#endif // ELASTICJOB_TESTING_TREE_HISTORY_HPP
