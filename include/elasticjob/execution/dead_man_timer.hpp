// SPDX-License-Identifier: Apache-2.0
/// \file \brief `DeadManTimer`: the kernel ends this process together with its lease.
#ifndef ELASTICJOB_EXECUTION_DEAD_MAN_TIMER_HPP
#define ELASTICJOB_EXECUTION_DEAD_MAN_TIMER_HPP

#include <elasticjob/core/clock.hpp>
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

/// Kills this process (SIGKILL) when the lease ends while it is held. The kernel does it, also while the process is
/// stopped, frozen or busy: no instruction of a run is executed behind the deadline. What it does not reach: bytes that
/// have left the process, and a virtual machine that is paused as a whole.
///
/// `session_lease lease{registry, DeadManTimer::create().value()}`
///
/// For processes that can be spared, with a loop that keeps `SystemClock`'s time. Time in which the machine sleeps
/// counts. A child process does not inherit it. Linux. Threads: one.
class DeadManTimer {
public:
    /// Takes a timer from the kernel, and does nothing else. Errors: overloaded (the user has too many timers or
    /// pending signals), invalid_argument (the kernel has no such clock).
    static result<DeadManTimer> create() {
        sigevent event{};
        event.sigev_notify = SIGEV_SIGNAL;
        event.sigev_signo = SIGKILL;
        timer_t id{};
        if (::timer_create(clock, &event, &id) == 0) return DeadManTimer{id};
        auto const why = errno;
        return error{why == EAGAIN ? errc::overloaded : errc::invalid_argument,
                     "no dead man's timer: " + std::generic_category().message(why)};
    }

    DeadManTimer(DeadManTimer&& other) noexcept : id_{std::exchange(other.id_, std::nullopt)} {}
    DeadManTimer& operator=(DeadManTimer&& other) noexcept {
        std::swap(id_, other.id_);
        return *this;
    }
    ~DeadManTimer() {
        if (id_) ::timer_delete(*id_);
    }

    /// Replaces the former deadline. One that has passed kills at once.
    void until(mono_time deadline) noexcept {
        // The loop's clock may stand still while the machine sleeps; this one does not. What passes between reading the
        // one and the other makes the deadline earlier.
        timespec now{};
        ::clock_gettime(clock, &now);
        auto const left = deadline - SystemClock{}.now();
        std::chrono::nanoseconds const due =
            std::chrono::seconds{now.tv_sec} + std::chrono::nanoseconds{now.tv_nsec} + left;
        set(left.count() > 0 ? due : already);
    }

    void disarm() noexcept { set(never); }

private:
    static constexpr clockid_t clock = CLOCK_BOOTTIME;
    static constexpr std::chrono::nanoseconds never{0};
    static constexpr std::chrono::nanoseconds already{1};

    explicit DeadManTimer(timer_t id) noexcept : id_{id} {}

    void set(std::chrono::nanoseconds due) noexcept {
        if (!id_) return;
        itimerspec at{};
        at.it_value.tv_sec = static_cast<time_t>(due.count() / 1'000'000'000);
        at.it_value.tv_nsec = static_cast<long>(due.count() % 1'000'000'000);
        [[maybe_unused]] int const failed = ::timer_settime(*id_, TIMER_ABSTIME, &at, nullptr);
        assert(!failed && "timer_settime fails for invalid arguments only");
    }

    std::optional<timer_t> id_; ///< empty once moved from
};
static_assert(lease_guard<DeadManTimer>);

} // namespace elasticjob
#endif // ELASTICJOB_EXECUTION_DEAD_MAN_TIMER_HPP
