// SPDX-License-Identifier: Apache-2.0
/// \file \brief A local copy of one node, kept current by a watch.
#ifndef ELASTICJOB_REGISTRY_MIRRORED_NODE_HPP
#define ELASTICJOB_REGISTRY_MIRRORED_NODE_HPP

#include <elasticjob/core/chrono.hpp>
#include <elasticjob/core/event_count.hpp>
#include <elasticjob/core/memory.hpp>
#include <elasticjob/core/task.hpp>
#include <elasticjob/registry/registry.hpp>

#include <cstdint>
#include <optional>
#include <utility>

namespace elasticjob {

/// How often a node exists.
enum class node_presence : std::uint8_t {
    common, ///< a node that exists costs one request, an absent node two
    rare,   ///< the other way round
};

namespace detail {

/// The node, or nothing if it is absent. The watch is armed in both cases.
template <registry Registry>
task<result<std::optional<node>>>
read_watched(Registry& r, node_path path, node_watch<typename Registry::loop_type>& watch, node_presence presence) {
    for (;; presence = node_presence::common) {
        if (presence == node_presence::common) {
            auto found = co_await r.get(path, &watch);
            if (found) co_return std::optional<node>{std::move(*found)};
            if (!(found.error() == errc::no_node)) co_return found.error();
        }
        ELASTICJOB_CO_TRY(auto const here, co_await r.exists(path, &watch));
        if (!here) co_return std::optional<node>{};
    }
}

/// Whether users should hear of a failed read: neither the connection nor the end of the registry is the reason.
inline bool is_read_trouble(error const& why) noexcept { return !is_transient(why) && !(why == errc::closed); }

/// Waits after a failed read until it is worth another: the session has changed, or a moment has passed, because a read
/// may fail without a change of the session. A registry that is closed is never read again.
template <registry Registry>
task<void> before_next_read(Registry& r, error const& why, std::uint64_t edition) {
    if (why == errc::closed) co_await sleep_until(r.loop(), mono_time::max());
    auto const pause = is_transient(why) ? std::chrono::milliseconds{200} : std::chrono::milliseconds{10'000};
    co_await r.session_changed().newer_than(edition, r.loop().now() + pause);
}

} // namespace detail

/// Shows one node as `mirror` shows a tree: a state that was true at some moment, and finally the final state. After a
/// failed read the last known state stays. It has a coroutine only while it reads the node, because a process holds
/// seven such nodes for each of its jobs. Costs: one watch. Threads: the loop's.
template <registry Registry>
class mirrored_node : work {
    using Loop = typename Registry::loop_type;

public:
    /// Starts to read. `news` is notified after each change, after each failure, and when the node has been created or
    /// has been read for the first time; it must outlive the object.
    mirrored_node(Registry& r, node_path path, event_count<Loop>& news, node_presence presence = node_presence::common);

    /// Whether the node has been read once.
    bool is_loaded() const noexcept { return is_loaded_; }

    /// Whether the node may exist although it is unknown: it has never been read, or it was absent and has been created
    /// since. Then `get` returns null.
    bool is_unread() const noexcept { return is_unread_; }

    /// The reason why the node cannot be read, if it is not the connection; or null.
    error const* failure() const noexcept { return failure_.get(); }

    /// The node, or null.
    node const* get() const noexcept { return node_ ? &*node_ : nullptr; }

private:
    /// The watch has fired.
    static void on_fired(work& w, work_action action);

    /// Reads until a watch covers the last reading.
    task<void> read();

    void note_unread();
    void note_failure(error why);
    void put(std::optional<node> fresh);

    Registry& registry_;
    node_path path_;
    event_count<Loop>& news_;
    node_watch<Loop> watch_;
    std::optional<node> node_;
    std::unique_ptr<error> failure_; ///< rare, so allocated separately
    node_presence presence_;
    bool is_loaded_ = false;
    bool is_unread_ = true;
    task_scope reading_; ///< last: its task uses all of the above
};

template <registry Registry>
mirrored_node<Registry>::mirrored_node(Registry& r, node_path path, event_count<Loop>& news, node_presence presence)
    : work{&on_fired},
      registry_{r},
      path_{std::move(path)},
      news_{news},
      watch_{r.loop()},
      presence_{presence} {
    reading_.spawn(read());
}

template <registry Registry>
void mirrored_node<Registry>::on_fired(work& w, work_action action) {
    auto& self = static_cast<mirrored_node&>(w);
    if (action == work_action::run) self.reading_.spawn(self.read());
}

template <registry Registry>
task<void> mirrored_node<Registry>::read() {
    while (!watch_.is_linked()) {
        auto const edition = registry_.session_changed().edition();
        note_unread();
        auto found = co_await detail::read_watched(registry_, path_, watch_, get() ? node_presence::common : presence_);
        if (found) {
            put(std::move(*found));
            continue;
        }
        watch_.unlink(); // it may be armed although its reply never came; then it covers nothing
        if (detail::is_read_trouble(found.error())) note_failure(found.error());
        co_await detail::before_next_read(registry_, found.error(), edition);
    }
    watch_.news().post_next(*this);
}

template <registry Registry>
void mirrored_node<Registry>::note_unread() {
    if (!get() && !std::exchange(is_unread_, true)) news_.notify();
}

template <registry Registry>
void mirrored_node<Registry>::note_failure(error why) {
    failure_ = std::make_unique<error>(std::move(why));
    news_.notify();
}

template <registry Registry>
void mirrored_node<Registry>::put(std::optional<node> fresh) {
    failure_.reset();
    bool const is_first = !std::exchange(is_loaded_, true);
    bool const was_unread = std::exchange(is_unread_, false);
    bool const is_same = node_ == fresh;
    node_ = std::move(fresh);
    if (is_first || was_unread || !is_same) news_.notify();
}

} // namespace elasticjob
#endif // ELASTICJOB_REGISTRY_MIRRORED_NODE_HPP
