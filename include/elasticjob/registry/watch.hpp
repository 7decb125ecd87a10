// SPDX-License-Identifier: Apache-2.0
/// \file \brief A one-shot watch: armed by a read, fires once when what was read is no longer so.
#ifndef ELASTICJOB_REGISTRY_WATCH_HPP
#define ELASTICJOB_REGISTRY_WATCH_HPP

#include <elasticjob/core/intrusive_list.hpp>
#include <elasticjob/core/event_count.hpp>

#include <cstdint>

namespace elasticjob {

/// What a watch looks at.
enum class watch_kind : std::uint8_t {
    data,     ///< the node's data, and its existence
    children, ///< the names of its children
};

/// Owned by the one who waits; the registry links it while it is armed. Destroying it disarms it. It fires when the
/// node changes, and also when the session that armed it is over: either way, read again. Threads: the loop's.
template <loop Loop>
class node_watch : public list_hook {
public:
    explicit node_watch(Loop& l) noexcept : own_{l}, news_{own_} {}

    /// Tells `shared` instead, for those who wait for several watches at once.
    explicit node_watch(event_count<Loop>& shared) noexcept : own_{shared.loop()}, news_{shared} {}

    /// By the registry: once for each arming.
    void fire() {
        unlink();
        news_.notify();
    }

    /// `co_await w.fired()`: goes on once it has fired since it was armed, or at once if it is not armed.
    auto fired() noexcept { return news_.newer_than(is_linked() ? news_.edition() : news_.edition() - 1); }

private:
    event_count<Loop> own_;
    event_count<Loop>& news_;
};

} // namespace elasticjob
#endif // ELASTICJOB_REGISTRY_WATCH_HPP
