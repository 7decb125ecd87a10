// SPDX-License-Identifier: Apache-2.0
/// \file \brief A local copy of a few nodes, kept current by watches.
#ifndef ELASTICJOB_REGISTRY_MIRROR_HPP
#define ELASTICJOB_REGISTRY_MIRROR_HPP

#include <elasticjob/core/chrono.hpp>
#include <elasticjob/core/memory.hpp>
#include <elasticjob/registry/mirrored.hpp>

#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace elasticjob {

/// The part of the tree that a mirror holds.
struct mirror_scope {
    int levels; ///< 0: only the root; 1: its children too; and so on

    static constexpr mirror_scope root_only() noexcept { return {0}; }
    static constexpr mirror_scope children() noexcept { return {1}; }
    static constexpr mirror_scope subtree() noexcept { return {1'000'000}; }
};

/// One change of a mirror. Paths are relative to the root: "" for the root itself, "a/b" below it.
struct node_change {
    enum class kind : std::uint8_t { added, updated, removed };
    kind what;
    std::string_view path;
    node const& value; ///< after the change; for a removed node, the last known one
};

/// Called for each change, in order: a parent is added before its children and removed after them. If a node has been
/// created again, its new children may be added before it is removed and added.
struct change_listener {
    void (*on_change)(change_listener&, node_change const&);
};

/// A local copy of nodes. Every state that a mirror shows was true at some moment. If the nodes stop changing, the
/// mirror shows the final state; it may miss states that existed only for a short time. Each node is read with a watch,
/// and again when the watch fires. A failed read is repeated, and the last known state stays meanwhile, so a lost
/// connection is never taken for an absent node. A transaction that relies on a mirror checks the versions that the
/// mirror shows. Costs: one watch for each node with data, and one more for each node whose children are mirrored.
/// Threads: the loop's. A listener must not destroy its mirror.
template <registry Registry>
class mirror {
    using Loop = typename Registry::loop_type;

public:
    /// Starts to read. Notifies `news` after each change, after each failure and the end of one, and when a node has
    /// been created or read for the first time. `news` must outlive the mirror.
    mirror(Registry& r, node_path root, mirror_scope scope, event_count<Loop>& news,
           change_listener* listener = nullptr);
    mirror(mirror const&) = delete;
    mirror& operator=(mirror const&) = delete;

    /// Whether all nodes in scope have been read once.
    bool is_loaded() const noexcept { return unread_ == 0; }

    /// The reason why a node cannot be read, unless the connection is the reason; otherwise null. If several nodes
    /// cannot be read, the reason for the first of them, until that node has been read.
    error const* failure() const noexcept { return failure_ ? &failure_->why : nullptr; }

    /// The root, or null.
    node const* root() const { return find({}); }

    /// The node at a relative path, or null.
    node const* find(std::string_view relative) const;

    /// All nodes, ordered by relative path.
    std::map<std::string, node, std::less<>> const& nodes() const noexcept { return nodes_; }

private:
    Loop& loop() noexcept { return registry_.loop(); }

    void follow(node_path path, std::string key, int levels);

    /// Runs once for each node with data, until the node is gone; for the root it does not end.
    task<void> follow_node(node_path path, std::string key, int levels);

    /// Reads the parts that no armed watch covers any more, however long that takes. Returns whether the node exists.
    task<bool> take(node_path const& path, std::string const& key, int levels, node_watch<Loop>& data,
                    node_watch<Loop>& names);

    void take_children(node_path const& path, std::string const& key, int levels,
                       std::vector<std::string> const& names);

    static std::string child_key(std::string const& key, std::string const& name);

    /// A read has failed. Waits before the next one.
    task<void> before_retry(std::string const& key, error why, std::uint64_t edition);

    /// Call it when a node has been read.
    void forget_failure(std::string const& key);

    void put(std::string const& key, std::optional<node> fresh);

    /// Removes the node and all nodes below it that are older than `created`, the deepest first: deeper paths sort
    /// after their parents. If the node has been created again, its new children may have been read before it.
    void remove(std::string const& key, revision created);

    void tell(node_change::kind what, std::string const& key, node const& value);

    void count_read();

    Registry& registry_;
    node_path root_;
    mirror_scope scope_;
    event_count<Loop>& news_;
    change_listener* listener_;
    std::map<std::string, node, std::less<>> nodes_;
    std::set<std::string, std::less<>> following_; ///< children that have their own follower
    struct failed_read {
        std::string key;
        error why;
    };
    std::unique_ptr<failed_read> failure_; ///< allocated separately, because it is rare and there are many mirrors
    int unread_ = 0;
    task_scope scope_tasks_; ///< last: its tasks use all of the above
};

template <registry Registry>
mirror<Registry>::mirror(Registry& r, node_path root, mirror_scope scope, event_count<Loop>& news,
                         change_listener* listener)
    : registry_{r},
      root_{std::move(root)},
      scope_{scope},
      news_{news},
      listener_{listener} {
    follow(root_, {}, scope_.levels);
}

template <registry Registry>
node const* mirror<Registry>::find(std::string_view relative) const {
    auto const at = nodes_.find(relative);
    return at == nodes_.end() ? nullptr : &at->second;
}

template <registry Registry>
void mirror<Registry>::follow(node_path path, std::string key, int levels) {
    ++unread_;
    scope_tasks_.spawn(follow_node(std::move(path), std::move(key), levels));
}

template <registry Registry>
task<void> mirror<Registry>::follow_node(node_path path, std::string key, int levels) {
    event_count<Loop> fired{loop()};
    event_watch<Loop> data{fired};
    event_watch<Loop> names{fired};
    for (bool first = true;; first = false) {
        auto const seen = fired.edition();
        bool const is_here = co_await take(path, key, levels, data, names);
        if (first) count_read();
        if (!is_here && !key.empty()) co_return; // the parent's follower starts it again
        co_await fired.newer_than(seen);
    }
}

template <registry Registry>
task<bool> mirror<Registry>::take(node_path const& path, std::string const& key, int levels, node_watch<Loop>& data,
                                  node_watch<Loop>& names) {
    for (;;) {
        auto const edition = registry_.session_changed().edition();
        if (!data.is_linked()) {
            auto found = co_await detail::read_watched<node>(registry_, path, data, node_presence::common);
            if (!found) {
                data.unlink(); // it may be armed although the reply never came; then the server has no such watch
                co_await before_retry(key, found.error(), edition);
                continue;
            }
            forget_failure(key);
            put(key, std::move(*found));
        }
        if (!find(key)) co_return false;
        if (levels == 0 || names.is_linked()) co_return true;
        auto children = co_await registry_.children(path, &names);
        if (children) {
            forget_failure(key);
            take_children(path, key, levels, *children);
            co_return true;
        }
        names.unlink(); // as above
        if (!(children.error() == errc::no_node)) co_await before_retry(key, children.error(), edition);
    }
}

template <registry Registry>
void mirror<Registry>::take_children(node_path const& path, std::string const& key, int levels,
                                     std::vector<std::string> const& names) {
    for (auto const& name : names)
        if (!node_path::element_fault(name) && following_.insert(child_key(key, name)).second)
            follow(path / name, child_key(key, name), levels - 1);
}

template <registry Registry>
std::string mirror<Registry>::child_key(std::string const& key, std::string const& name) {
    return key.empty() ? name : key + "/" + name;
}

template <registry Registry>
task<void> mirror<Registry>::before_retry(std::string const& key, error why, std::uint64_t edition) {
    if (detail::is_read_trouble(why)) {
        if (!failure_ || failure_->key == key) failure_ = std::make_unique<failed_read>(failed_read{key, why});
        news_.notify();
    }
    co_await detail::before_next_read(registry_, why, edition);
}

template <registry Registry>
void mirror<Registry>::forget_failure(std::string const& key) {
    if (!failure_ || failure_->key != key) return;
    failure_.reset();
    news_.notify();
}

template <registry Registry>
void mirror<Registry>::put(std::string const& key, std::optional<node> fresh) {
    auto const at = nodes_.find(key);
    bool const was_here = at != nodes_.end();
    if (fresh && was_here && at->second.stat.created == fresh->stat.created) {
        if (at->second == *fresh) return;
        at->second = std::move(*fresh);
        tell(node_change::kind::updated, key, at->second);
        return;
    }
    if (was_here) remove(key, fresh ? fresh->stat.created : std::numeric_limits<revision>::max());
    if (fresh) {
        auto const& value = nodes_.emplace(key, std::move(*fresh)).first->second;
        tell(node_change::kind::added, key, value);
    }
    if (!fresh) following_.erase(key);
}

template <registry Registry>
void mirror<Registry>::remove(std::string const& key, revision created) {
    auto const below = key.empty() ? key : key + "/";
    std::vector<std::string> doomed{key};
    for (auto at = nodes_.lower_bound(below); at != nodes_.end() && at->first.starts_with(below); ++at)
        if (at->first != key && at->second.stat.created < created) doomed.push_back(at->first);
    for (; !doomed.empty(); doomed.pop_back()) {
        auto const last_known = nodes_.extract(doomed.back());
        tell(node_change::kind::removed, doomed.back(), last_known.mapped());
    }
}

template <registry Registry>
void mirror<Registry>::tell(node_change::kind what, std::string const& key, node const& value) {
    if (listener_) listener_->on_change(*listener_, node_change{what, key, value});
    news_.notify();
}

template <registry Registry>
void mirror<Registry>::count_read() {
    --unread_;
    news_.notify(); // also if the read has shown that a node is absent, which is not a change
}

} // namespace elasticjob
#endif // ELASTICJOB_REGISTRY_MIRROR_HPP
