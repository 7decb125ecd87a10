// SPDX-License-Identifier: Apache-2.0
/// \file \brief The two times: a monotonic one to wait by, and the wall clock, which only evaluates schedules.
#ifndef ELASTICJOB_CORE_CLOCK_HPP
#define ELASTICJOB_CORE_CLOCK_HPP

#include <elasticjob/core/chrono.hpp>
#include <elasticjob/core/decl.hpp>

#include <concepts>

namespace elasticjob {

/// A point in monotonic time. Every wait ends at one of these.
using mono_time = std::chrono::steady_clock::time_point;

/// A point in civil time, UTC. May jump either way; nothing waits by it.
using wall_time = std::chrono::system_clock::time_point;

/// | expression     | returns     | must hold                                                      |
/// |----------------|-------------|----------------------------------------------------------------|
/// | `c.now()`      | `mono_time` | never goes back                                                |
/// | `c.wall_now()` | `wall_time` | the instant that people would call now; may go back and forth  |
/// A clock may also have `c.boot_now()`, a `mono_time` on a scale of its own: it never goes back, and it goes on while
/// the machine is suspended, which `now` need not do.
/// Models: SystemClock, ManualClock. Threads: const calls from any thread.
template <class C>
concept job_clock = requires(C const& c) {
    { c.now() } -> std::same_as<mono_time>;
    { c.wall_now() } -> std::same_as<wall_time>;
};

/// Monotonic time that counts while the machine is suspended too, on a scale of its own: for what others measure
/// meanwhile, as the servers do with a session. Where a clock has no `boot_now`, the same as `now`.
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
    /// CLOCK_BOOTTIME, where there is one; elsewhere the same as `now`.
    mono_time boot_now() const noexcept;
    wall_time wall_now() const noexcept { return std::chrono::system_clock::now(); }
};

/// Stands still until it is told to move. Threads: one.
class ManualClock {
public:
    /// Starts at monotonic zero and the given wall time.
    explicit ManualClock(wall_time wall = wall_time{}) : wall_{wall} {}

    mono_time now() const noexcept { return now_; }
    mono_time boot_now() const noexcept { return now_ + suspended_; }
    wall_time wall_now() const noexcept { return wall_; }

    /// Moves both times. Precondition: not negative.
    void advance(std::chrono::nanoseconds by) noexcept;

    /// The machine is suspended for so long: `now` takes no notice. Precondition: not negative.
    void suspend(std::chrono::nanoseconds span) noexcept;

    /// Somebody sets the machine's clock: monotonic time takes no notice.
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
