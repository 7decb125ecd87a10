// SPDX-License-Identifier: Apache-2.0
/// \file \brief A local copy of one node, of its stat, or of the names of its children, kept current by one watch.
#ifndef ELASTICJOB_REGISTRY_MIRRORED_HPP
#define ELASTICJOB_REGISTRY_MIRRORED_HPP

#include <elasticjob/core/algorithm.hpp>
#include <elasticjob/core/chrono.hpp>
#include <elasticjob/core/event_count.hpp>
#include <elasticjob/core/memory.hpp>
#include <elasticjob/core/task.hpp>
#include <elasticjob/registry/registry.hpp>
#include <elasticjob/registry/retry_pauses.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace elasticjob {

/// How often a node exists.
enum class node_presence : std::uint8_t {
    common, ///< a node that exists costs one request, an absent node two
    rare,   ///< the other way round
};

/// The names of a node's children, in ascending order.
using node_names = std::vector<std::string>;

namespace detail {

template <registry Registry>
auto read_value(Registry& r, node_path const& path, watch_of<Registry>& watch, std::type_identity<node>) {
    return r.get(path, &watch);
}
template <registry Registry>
auto read_value(Registry& r, node_path const& path, watch_of<Registry>& watch, std::type_identity<node_names>) {
    return r.children(path, &watch);
}

/// The value, or nothing if the node is absent. The watch is armed in both cases. Errors: version_conflict if the node
/// is created or removed during each of ten attempts; those of the registry.
template <class Value, registry Registry>
task<result<std::optional<Value>>> read_watched(Registry& r, node_path path, watch_of<Registry>& watch,
                                                node_presence presence) {
    for (int attempt = 0; attempt < 10; ++attempt) {
        if (attempt > 0 || presence == node_presence::common) {
            auto found = co_await read_value(r, path, watch, std::type_identity<Value>{});
            if (found) co_return std::optional<Value>{std::move(*found)};
            if (!(found.error() == errc::no_node)) co_return found.error();
        }
        ELASTICJOB_CO_TRY(auto const here, co_await r.exists(path, &watch));
        if (!here) co_return std::optional<Value>{};
    }
    co_return error{errc::version_conflict, "the node keeps coming and going, so it cannot be read", path.str()};
}

/// Whether users should hear of a failed read: neither the connection nor the end of the registry is the reason.
inline bool is_read_trouble(error const& why) noexcept { return !is_transient(why) && !(why == errc::closed); }

/// The pause after a failed read, because a read may fail without a change of the session.
inline std::chrono::milliseconds pause_after(error const& why) noexcept {
    return is_transient(why) ? retry_pause : std::chrono::milliseconds{10'000};
}

/// Waits after a failed read until it is worth another: the session has changed, or the pause is over. A registry that
/// is closed is never read again.
template <registry Registry>
task<void> before_next_read(Registry& r, error const& why, std::uint64_t edition) {
    if (why == errc::closed) co_await sleep_until(r.loop(), mono_time::max());
    co_await r.session_changed().newer_than(edition, r.loop().now() + pause_after(why));
}

} // namespace detail

/// Called for each change of a mirrored value, before the news of it. Must not destroy the mirrored value.
struct value_listener {
    void (*on_change)(value_listener&);
};

/// What is known of a mirrored value beforehand, and a listener.
template <class Value>
struct mirrored_options {
    node_presence presence = node_presence::common; ///< does not matter to a stat, which takes one request in any case
    value_listener* listener = nullptr;             ///< must outlive the mirrored value
    std::optional<Value> known{};                   ///< the value, if it need not be read until `follow`
};

/// Shows one value as `mirror` shows a tree: a state that was true at some moment, and finally the final state, unless the
/// value was known and is not followed yet. After a failed read the last known state stays. `Value`: node, node_stat, or node_names. It has a coroutine only while it
/// reads, because a process holds eleven such values for each of its jobs. For the same reason, `Path` may be a smaller
/// type that makes the path when it is needed: `node_path{path}`. Costs: one watch. Threads: the loop's.
template <registry Registry, class Value, class Path = node_path>
class mirrored : work, node_watch<typename Registry::loop_type> {
    using Loop = typename Registry::loop_type;
    using watch = node_watch<Loop>;

public:
    /// Starts to read, unless the value is known. `news` is notified after each change, after each failure and the end
    /// of one, and when the node has been created or has been read for the first time. It must outlive the object.
    mirrored(Registry& r, Path path, event_count<Loop>& news, mirrored_options<Value> options = {});

    /// Starts to read, if it has not.
    void follow();

    /// Whether the value has come from the registry, unlike one that was known.
    bool is_read() const noexcept { return is_read_; }

    /// Whether the node has been read once, or was known.
    bool is_loaded() const noexcept { return is_loaded_; }

    /// Whether the node may exist although it is unknown: it has never been read, or it was absent and has been created
    /// since. Then `get` returns null.
    bool is_unread() const noexcept { return is_unread_; }

    /// The reason why the node cannot be read, if it is not the connection; or null.
    error const* failure() const noexcept { return failure_.get(); }

    /// The value, or null if the node is absent.
    Value const* get() const noexcept { return value_ ? &*value_ : nullptr; }

    /// Frees the memory of the node's data, which is empty from now on, until it changes. The stat stays.
    void forget_data() noexcept requires std::is_same_v<Value, node> {
        if (value_) std::string{}.swap(value_->data);
    }

private:
    static void on_fired(watch& w);
    static void begin_to_read(work& w, work_action action);

    /// Reads until a watch covers the last reading.
    task<void> read();
    task<result<std::optional<Value>>> read_once();

    bool shows(std::optional<Value> const& fresh) const;

    void note_unread();
    void note_failure(error why);
    void put(std::optional<Value> fresh);

    Registry& registry_;
    Path path_;
    event_count<Loop>& news_;
    value_listener* listener_;
    std::optional<Value> value_;
    std::unique_ptr<error> failure_; ///< rare, so allocated separately
    node_presence presence_;
    bool is_loaded_;
    bool is_unread_;
    bool is_read_ = false;
    task_scope reading_; ///< last: its task uses all of the above
};

template <registry Registry>
using mirrored_node = mirrored<Registry, node>;
template <registry Registry>
using mirrored_stat = mirrored<Registry, node_stat>;
template <registry Registry>
using mirrored_names = mirrored<Registry, node_names>;

template <registry Registry, class Value, class Path>
mirrored<Registry, Value, Path>::mirrored(Registry& r, Path path, event_count<Loop>& news,
                                          mirrored_options<Value> options)
    : work{&begin_to_read},
      watch{&on_fired},
      registry_{r},
      path_{std::move(path)},
      news_{news},
      listener_{options.listener},
      value_{std::move(options.known)},
      presence_{options.presence},
      is_loaded_{value_.has_value()},
      is_unread_{!is_loaded_} {
    if (!is_loaded_) follow();
}

template <registry Registry, class Value, class Path>
void mirrored<Registry, Value, Path>::follow() {
    if (!watch::is_linked() && reading_.empty()) reading_.spawn(read());
}

template <registry Registry, class Value, class Path>
void mirrored<Registry, Value, Path>::on_fired(watch& w) {
    auto& self = static_cast<mirrored&>(w);
    bool const is_reading = !self.reading_.empty(); // then it will see that the watch is not armed any more
    if (!is_reading) self.registry_.loop().post(static_cast<work&>(self));
}

template <registry Registry, class Value, class Path>
void mirrored<Registry, Value, Path>::begin_to_read(work& w, work_action action) {
    if (action == work_action::run) static_cast<mirrored&>(w).follow();
}

template <registry Registry, class Value, class Path>
task<void> mirrored<Registry, Value, Path>::read() {
    while (!watch::is_linked()) {
        auto const edition = registry_.session_changed().edition();
        note_unread();
        auto found = co_await read_once();
        if (found) {
            put(std::move(*found));
            continue;
        }
        watch::unlink(); // it may be armed although its reply never came; then it covers nothing
        if (detail::is_read_trouble(found.error())) note_failure(found.error());
        co_await detail::before_next_read(registry_, found.error(), edition);
    }
}

template <registry Registry, class Value, class Path>
task<result<std::optional<Value>>> mirrored<Registry, Value, Path>::read_once() {
    if constexpr (std::is_same_v<Value, node_stat>)
        return registry_.exists(node_path{path_}, this);
    else
        return detail::read_watched<Value>(registry_, node_path{path_}, static_cast<watch&>(*this),
                                           get() ? node_presence::common : presence_);
}

template <registry Registry, class Value, class Path>
bool mirrored<Registry, Value, Path>::shows(std::optional<Value> const& fresh) const {
    if constexpr (std::is_same_v<Value, node>) { // the data, which may have been forgotten, changes with the stat
        return value_ && fresh ? value_->stat == fresh->stat : !value_ && !fresh;
    } else {
        return value_ == fresh;
    }
}

template <registry Registry, class Value, class Path>
void mirrored<Registry, Value, Path>::note_unread() {
    if (!get() && !std::exchange(is_unread_, true)) news_.notify();
}

template <registry Registry, class Value, class Path>
void mirrored<Registry, Value, Path>::note_failure(error why) {
    failure_ = std::make_unique<error>(std::move(why));
    news_.notify();
}

template <registry Registry, class Value, class Path>
void mirrored<Registry, Value, Path>::put(std::optional<Value> fresh) {
    bool const had_failed = std::exchange(failure_, nullptr) != nullptr;
    if constexpr (std::is_same_v<Value, node_names>) {
        if (fresh) std::sort(fresh->begin(), fresh->end());
    }
    bool const is_first = !std::exchange(is_read_, true);
    is_loaded_ = true;
    bool const was_unread = std::exchange(is_unread_, false);
    bool const is_same = shows(fresh);
    if (!is_same) value_ = std::move(fresh);
    if (!is_same && listener_) listener_->on_change(*listener_);
    if (is_first || was_unread || had_failed || !is_same) news_.notify();
}

} // namespace elasticjob
#endif // ELASTICJOB_REGISTRY_MIRRORED_HPP
