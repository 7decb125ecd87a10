// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_CORE_TIMER_QUEUE_IPP
#define ELASTICJOB_IMPL_CORE_TIMER_QUEUE_IPP

#include <elasticjob/core/timer_queue.hpp>

namespace elasticjob {

ELASTICJOB_DECL void timer_queue::arm(timer& t, mono_time due) {
    heap_.push_back(&t); // before any other change: if memory is exhausted here, the timer must not count as armed
    t.due = due;
    t.order = next_order_++;
    t.place = heap_.size() - 1;
    rise(t.place);
}

ELASTICJOB_DECL void timer_queue::disarm(timer& t) noexcept {
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

ELASTICJOB_DECL bool timer_queue::before(timer const& a, timer const& b) noexcept {
    return a.due != b.due ? a.due < b.due : a.order < b.order;
}

ELASTICJOB_DECL void timer_queue::put(timer& t, std::size_t place) noexcept {
    heap_[place] = &t;
    t.place = place;
}

ELASTICJOB_DECL void timer_queue::rise(std::size_t at) noexcept {
    for (timer& t = *heap_[at]; at > 0; put(t, at)) {
        auto const parent = (at - 1) / 2;
        if (!before(t, *heap_[parent])) return;
        put(*heap_[parent], at);
        at = parent;
    }
}

ELASTICJOB_DECL void timer_queue::sink(std::size_t at) noexcept {
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

} // namespace elasticjob
#endif // ELASTICJOB_IMPL_CORE_TIMER_QUEUE_IPP
