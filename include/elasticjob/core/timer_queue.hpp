// SPDX-License-Identifier: Apache-2.0
/// \file \brief Timers that are part of their owners, ordered by due time.
#ifndef ELASTICJOB_CORE_TIMER_QUEUE_HPP
#define ELASTICJOB_CORE_TIMER_QUEUE_HPP

#include <elasticjob/core/clock.hpp>
#include <elasticjob/core/decl.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace elasticjob {

/// The loop calls `fire` once `due` has come. That function knows its owner's type; the queue does not.
struct timer {
    explicit timer(void (*on_due)(timer&)) noexcept : fire{on_due} {}
    timer(timer const&) = delete;
    timer& operator=(timer const&) = delete;

    bool is_armed() const noexcept { return place != unarmed; }

    static constexpr std::size_t unarmed = static_cast<std::size_t>(-1);
    void (*fire)(timer&);
    mono_time due{};
    std::uint64_t order = 0; ///< orders timers with the same `due` by arming, so that simulations repeat exactly
    std::size_t place = unarmed;
};

/// A binary heap of timers. Arming and disarming are O(log n). Threads: one.
class timer_queue {
public:
    bool empty() const noexcept { return heap_.empty(); }

    /// Precondition: not empty.
    timer& earliest() const noexcept { return *heap_.front(); }

    /// Precondition: not armed.
    void arm(timer& t, mono_time due);

    /// No effect if the timer is not armed.
    void disarm(timer& t) noexcept;

private:
    static bool before(timer const& a, timer const& b) noexcept;
    void put(timer& t, std::size_t place) noexcept;
    void rise(std::size_t at) noexcept;
    void sink(std::size_t at) noexcept;

    std::vector<timer*> heap_;
    std::uint64_t next_order_ = 0;
};

} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/core/timer_queue.ipp>
#endif
#endif // ELASTICJOB_CORE_TIMER_QUEUE_HPP
