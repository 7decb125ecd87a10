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
/// changes, and also when the session that armed it is over. In both cases read again. `Loop`: the registry's. Threads:
/// the loop's.
template <loop Loop>
class node_watch : public list_hook {
public:
    /// `on_fired` may only post work or notify: the registry goes through its watches.
    explicit node_watch(void (*on_fired)(node_watch&)) noexcept : on_fired_{on_fired} {}
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
        on_fired_(*this);
    }

    /// Called by the registry. The next `unlink` is reported to `holder`, unless `holder` is null. Precondition:
    /// linked.
    void hold(watch_holder* holder) noexcept { holder_ = holder; }

private:
    void (*on_fired_)(node_watch&);
    watch_holder* holder_ = nullptr;
};

/// A watch for coroutines.
template <loop Loop>
class event_watch : public node_watch<Loop> {
public:
    explicit event_watch(Loop& l) noexcept : node_watch<Loop>{&notify}, own_{l}, news_{own_} {}

    /// Notifies `shared` instead, for waiters with several watches.
    explicit event_watch(event_count<Loop>& shared) noexcept
        : node_watch<Loop>{&notify},
          own_{shared.loop()},
          news_{shared} {}

    /// Notified when it fires.
    event_count<Loop>& news() noexcept { return news_; }

    /// `co_await w.fired()`: resumes when it has fired since it was armed, or at once if it is not armed.
    auto fired() noexcept { return news_.newer_than(this->is_linked() ? news_.edition() : news_.edition() - 1); }

private:
    static void notify(node_watch<Loop>& w) { static_cast<event_watch&>(w).news_.notify(); }

    event_count<Loop> own_;
    event_count<Loop>& news_;
};

} // namespace elasticjob
#endif // ELASTICJOB_REGISTRY_WATCH_HPP
