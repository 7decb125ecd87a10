// SPDX-License-Identifier: Apache-2.0
/// \file \brief A one-shot watch: a read arms it, and it fires once when the result of the read is outdated.
#ifndef ELASTICJOB_REGISTRY_WATCH_HPP
#define ELASTICJOB_REGISTRY_WATCH_HPP

#include <elasticjob/core/intrusive_list.hpp>
#include <elasticjob/core/event_count.hpp>

#include <cstdint>
#include <utility>

namespace elasticjob {

/// The subject of a watch.
enum class watch_kind : std::uint8_t {
    data,     ///< the node's data, and its existence
    children, ///< the names of its children
};

/// Called when a watch has been unlinked or destroyed without firing.
struct watch_holder {
    void (*on_gone)(watch_holder&) noexcept;
};

/// Its waiter owns it; the registry links it while it is armed. Its destructor disarms it. It fires when the node
/// changes, and also when the session that armed it is over. In both cases read again. Threads: the loop's.
template <loop Loop>
class node_watch : public list_hook {
public:
    explicit node_watch(Loop& l) noexcept : own_{l}, news_{own_} {}

    /// Notifies `shared` instead, for waiters with several watches.
    explicit node_watch(event_count<Loop>& shared) noexcept : own_{shared.loop()}, news_{shared} {}

    ~node_watch() { unlink(); }

    /// Disarms it. No effect if it is not armed.
    void unlink() noexcept {
        if (!is_linked()) return;
        list_hook::unlink();
        if (auto* const holder = std::exchange(holder_, nullptr)) holder->on_gone(*holder);
    }

    /// The registry calls this once for each arming.
    void fire() {
        hold(nullptr);
        unlink();
        news_.notify();
    }

    /// Called by the registry. The next `unlink` is reported to `holder`, unless `holder` is null. Precondition:
    /// linked.
    void hold(watch_holder* holder) noexcept { holder_ = holder; }

    /// Notified when it fires.
    event_count<Loop>& news() noexcept { return news_; }

    /// `co_await w.fired()`: resumes when it has fired since it was armed, or at once if it is not armed.
    auto fired() noexcept { return news_.newer_than(is_linked() ? news_.edition() : news_.edition() - 1); }

private:
    event_count<Loop> own_;
    event_count<Loop>& news_;
    watch_holder* holder_ = nullptr;
};

} // namespace elasticjob
#endif // ELASTICJOB_REGISTRY_WATCH_HPP
