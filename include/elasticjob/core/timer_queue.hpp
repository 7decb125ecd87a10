// SPDX-License-Identifier: Apache-2.0
/// \file \brief Timers that live in their owners, ordered by when they are due.
#ifndef ELASTICJOB_CORE_TIMER_QUEUE_HPP
#define ELASTICJOB_CORE_TIMER_QUEUE_HPP

#include <elasticjob/core/clock.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace elasticjob {

/// Called by the loop once `due` has come. The trampoline knows its owner's type; the queue does not.
struct timer {
    explicit timer(void (*on_due)(timer&)) noexcept : fire{on_due} {}
    timer(timer const&) = delete;
    timer& operator=(timer const&) = delete;

    bool is_armed() const noexcept { return place != unarmed; }

    static constexpr std::size_t unarmed = static_cast<std::size_t>(-1);
    void (*fire)(timer&);
    mono_time due{};
    std::uint64_t order = 0; ///< ties go to the one that was armed first, so that a run can be repeated exactly
    std::size_t place = unarmed;
};

/// A binary heap of timers. Arming and disarming are O(log n). Threads: one.
template <class Timer = timer>
class basic_timer_queue {
public:
    bool empty() const noexcept { return heap_.empty(); }

    /// Precondition: not empty.
    timer& earliest() const noexcept { return *heap_.front(); }

    /// Precondition: not armed.
    void arm(timer& t, mono_time due) {
        t.due = due;
        t.order = next_order_++;
        t.place = heap_.size();
        heap_.push_back(&t);
        rise(t.place);
    }

    /// No effect when not armed.
    void disarm(timer& t) noexcept {
        if (!t.is_armed()) return;
        auto const hole = t.place;
        t.place = timer::unarmed;
        timer* const last = heap_.back();
        heap_.pop_back();
        if (last == &t) return;
        put(*last, hole);
        rise(hole);
        sink(last->place);
    }

private:
    static bool before(timer const& a, timer const& b) noexcept {
        return a.due != b.due ? a.due < b.due : a.order < b.order;
    }
    void put(timer& t, std::size_t place) noexcept {
        heap_[place] = &t;
        t.place = place;
    }
    void rise(std::size_t at) noexcept {
        for (timer& t = *heap_[at]; at > 0; put(t, at)) {
            auto const parent = (at - 1) / 2;
            if (!before(t, *heap_[parent])) return;
            put(*heap_[parent], at);
            at = parent;
        }
    }
    void sink(std::size_t at) noexcept {
        timer& t = *heap_[at];
        for (;;) {
            auto child = 2 * at + 1;
            if (child >= heap_.size()) return;
            if (child + 1 < heap_.size() && before(*heap_[child + 1], *heap_[child])) ++child;
            if (!before(*heap_[child], t)) return;
            put(*heap_[child], at);
            put(t, child);
            at = child;
        }
    }

    std::vector<Timer*> heap_;
    std::uint64_t next_order_ = 0;
};

/// A template only so that including it costs nothing: see docs/decisions/0006.
using timer_queue = basic_timer_queue<>;

} // namespace elasticjob
#endif // ELASTICJOB_CORE_TIMER_QUEUE_HPP
