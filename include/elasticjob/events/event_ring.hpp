// SPDX-License-Identifier: Apache-2.0
/// \file \brief Keeps the last events, up to a limit, for another thread.
#ifndef ELASTICJOB_EVENTS_EVENT_RING_HPP
#define ELASTICJOB_EVENTS_EVENT_RING_HPP

#include <elasticjob/events/kept_event.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace elasticjob::events {

/// A ring that drops its oldest event when a new one does not fit, because the latest events are the most useful. The
/// others keep their order. It grows up to its limit and reuses its memory. `Kept` has a `keep(e)`, which copies an
/// event. Threads: one at a time.
template <class Kept>
class basic_event_ring {
public:
    /// The limit is at least 1.
    explicit basic_event_ring(std::size_t size_max) : size_max_{std::max<std::size_t>(size_max, 1)} {}

    /// Adds an event. Returns false if the oldest event was dropped.
    template <class E>
    bool push(E const& e) {
        if (size_ < size_max_) {
            if (size_ == slots_.size()) grow();
            slot(size_++).keep(e);
            return true;
        }
        slot(0).keep(e);
        first_ = (first_ + 1) % slots_.size();
        return false;
    }

    /// Moves up to `count` of the oldest events to `other`, which is empty.
    void move_to(basic_event_ring& other, std::size_t count) {
        for (; count > 0 && size_ > 0 && other.size_ < other.size_max_; --count, --size_) {
            if (other.size_ == other.slots_.size()) other.grow();
            std::swap(other.slot(other.size_++), slot(0)); // both keep their memory
            first_ = (first_ + 1) % slots_.size();
        }
    }

    std::size_t size() const noexcept { return size_; }
    Kept const& operator[](std::size_t n) const { return slots_[(first_ + n) % slots_.size()]; }
    void clear() noexcept { first_ = size_ = 0; }

private:
    Kept& slot(std::size_t n) { return slots_[(first_ + n) % slots_.size()]; }
    void grow() {
        // Moves the oldest event to the front, because new ones are appended at the end.
        std::rotate(slots_.begin(), slots_.begin() + static_cast<std::ptrdiff_t>(first_), slots_.end());
        first_ = 0;
        slots_.resize(std::min(size_max_, std::max<std::size_t>(16, slots_.size() * 2)));
    }

    std::size_t size_max_;
    std::size_t first_ = 0, size_ = 0;
    std::vector<Kept> slots_;
};

using event_ring = basic_event_ring<kept_event>;

} // namespace elasticjob::events
#endif // ELASTICJOB_EVENTS_EVENT_RING_HPP
