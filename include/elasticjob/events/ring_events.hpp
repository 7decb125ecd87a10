// SPDX-License-Identifier: Apache-2.0
/// \file \brief A sink that keeps the last events in memory.
#ifndef ELASTICJOB_EVENTS_RING_EVENTS_HPP
#define ELASTICJOB_EVENTS_RING_EVENTS_HPP

#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/memory.hpp>
#include <elasticjob/events/event_ring.hpp>
#include <elasticjob/events/event_sink.hpp>

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

namespace elasticjob {

/// Keeps the last `size` events. A copy shares the ring: give one copy to the scheduler and read another. Threads:
/// events on the loop, reading on any thread.
class RingEvents {
public:
    explicit RingEvents(std::size_t size = 256) : state_{std::make_shared<state>(size)} {}

    template <class E>
    void operator()(E const& e) const {
        std::lock_guard const lock{state_->mutex};
        state_->ring.push(e);
        ++state_->told;
    }

    /// Oldest first.
    std::vector<events::kept_event> read() const;

    /// The number of all events so far, including those that have been dropped.
    std::uint64_t told() const;

private:
    struct state {
        explicit state(std::size_t size) : ring{size} {}
        std::mutex mutex;
        events::event_ring ring;
        std::uint64_t told = 0;
    };
    std::shared_ptr<state> state_;
};

static_assert(event_sink<RingEvents>);

} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/events/ring_events.ipp>
#endif
#endif // ELASTICJOB_EVENTS_RING_EVENTS_HPP
