// SPDX-License-Identifier: Apache-2.0
/// \file \brief Two kinds of time: monotonic time for waiting, and the wall clock for evaluating schedules.
#ifndef ELASTICJOB_CORE_CLOCK_HPP
#define ELASTICJOB_CORE_CLOCK_HPP

#include <elasticjob/core/chrono.hpp>
#include <elasticjob/core/decl.hpp>

#include <concepts>

namespace elasticjob {

/// A point in monotonic time. Every wait ends at such a point.
using mono_time = std::chrono::steady_clock::time_point;

/// A point in civil time, in UTC. It may jump forwards and backwards; no wait depends on it.
using wall_time = std::chrono::system_clock::time_point;

/// The longest span that a configuration or an option may have. A longer one has no purpose or is a mistake, and sums
/// with points in time must not overflow.
inline constexpr std::chrono::hours span_max{24 * 365};

/// Whether a configuration or an option may have this span: 0 to 365 days.
template <class Rep, class Period>
constexpr bool is_span(std::chrono::duration<Rep, Period> t) noexcept {
    return t.count() >= 0 && t <= span_max;
}

/// The end of a wait that begins now. A time-out above `span_max` counts as that, and a negative one as none.
constexpr mono_time end_of_wait(mono_time now, std::chrono::milliseconds timeout) noexcept {
    if (timeout.count() < 0) return now;
    return timeout < span_max ? now + timeout : now + span_max;
}

/// | expression     | returns     | must hold                                                      |
/// |----------------|-------------|----------------------------------------------------------------|
/// | `c.now()`      | `mono_time` | never goes back                                                |
/// | `c.wall_now()` | `wall_time` | the current civil time; may jump forwards and backwards        |
/// A clock may also have `c.boot_now()`, a `mono_time` on a scale of its own. It never goes back, and unlike `now` it
/// always counts the time in which the machine is suspended.
/// Models: SystemClock, ManualClock. Threads: const calls from any thread.
template <class C>
concept job_clock = requires(C const& c) {
    { c.now() } -> std::same_as<mono_time>;
    { c.wall_now() } -> std::same_as<wall_time>;
};

/// Monotonic time that also counts while the machine is suspended, on a scale of its own. Use it for durations that
/// other machines measure too, such as the time-out of a session. If the clock has no `boot_now`, this is `now`.
template <job_clock Clock>
mono_time boot_now(Clock const& c) {
    if constexpr (requires {
                      { c.boot_now() } -> std::same_as<mono_time>;
                  })
        return c.boot_now();
    else
        return c.now();
}

/// The machine's clocks.
struct SystemClock {
    mono_time now() const noexcept { return std::chrono::steady_clock::now(); }
    /// CLOCK_BOOTTIME where the platform has it; elsewhere the same as `now`.
    mono_time boot_now() const noexcept;
    wall_time wall_now() const noexcept { return std::chrono::system_clock::now(); }
};

/// A clock that stands still until the program moves it. Threads: one.
class ManualClock {
public:
    /// Starts at monotonic zero and at the given wall time.
    explicit ManualClock(wall_time wall = wall_time{}) : wall_{wall} {}

    mono_time now() const noexcept { return now_; }
    mono_time boot_now() const noexcept { return now_ + suspended_; }
    wall_time wall_now() const noexcept { return wall_; }

    /// Moves both times. Precondition: not negative.
    void advance(std::chrono::nanoseconds by) noexcept;

    /// Simulates a suspended machine: only `boot_now` advances. Precondition: not negative.
    void suspend(std::chrono::nanoseconds span) noexcept;

    /// Simulates a change of the machine's wall clock. Monotonic time does not change.
    void set_wall(wall_time wall) noexcept { wall_ = wall; }

private:
    mono_time now_{};
    mono_time::duration suspended_{};
    wall_time wall_;
};

static_assert(job_clock<SystemClock> && job_clock<ManualClock>);

} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/core/clock.ipp>
#endif
#endif // ELASTICJOB_CORE_CLOCK_HPP
