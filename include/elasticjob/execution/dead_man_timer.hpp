// SPDX-License-Identifier: Apache-2.0
/// \file \brief `DeadManTimer`: the kernel ends this process together with its lease.
#ifndef ELASTICJOB_EXECUTION_DEAD_MAN_TIMER_HPP
#define ELASTICJOB_EXECUTION_DEAD_MAN_TIMER_HPP

#include <elasticjob/core/clock.hpp>
#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/result.hpp>
#include <elasticjob/execution/lease.hpp>

#include <cassert>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <optional>
#include <system_error>
#include <utility>

namespace elasticjob {

/// Kills this process (SIGKILL) if the lease ends while it is held. The kernel does so even while the process is
/// stopped, frozen or busy, so no instruction of a run is executed after the deadline. It has no effect on bytes that
/// have left the process, and on a virtual machine that is paused as a whole.
///
/// `session_lease lease{registry, DeadManTimer::create().value()}`
///
/// For processes that may be killed, with a loop that uses `SystemClock`. The time in which the machine sleeps counts.
/// A child process does not inherit the timer. Linux. Threads: one.
class DeadManTimer {
public:
    /// Creates a timer in the kernel without arming it. Errors: overloaded (the user has too many timers or pending
    /// signals), invalid_argument (the kernel has no such clock).
    static result<DeadManTimer> create();

    DeadManTimer(DeadManTimer&& other) noexcept : id_{std::exchange(other.id_, std::nullopt)} {}
    DeadManTimer& operator=(DeadManTimer&& other) noexcept;
    ~DeadManTimer();

    /// Replaces the former deadline. One that has passed kills at once.
    void until(mono_time deadline) noexcept;

    void disarm() noexcept { set(never); }

private:
    static constexpr clockid_t clock = CLOCK_BOOTTIME;
    static constexpr std::chrono::nanoseconds never{0};
    static constexpr std::chrono::nanoseconds already{1};

    explicit DeadManTimer(timer_t id) noexcept : id_{id} {}

    void set(std::chrono::nanoseconds due) noexcept;

    std::optional<timer_t> id_; ///< empty once moved from
};
static_assert(lease_guard<DeadManTimer>);

} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/execution/dead_man_timer.ipp>
#endif
#endif // ELASTICJOB_EXECUTION_DEAD_MAN_TIMER_HPP
