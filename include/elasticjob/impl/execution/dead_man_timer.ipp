// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_EXECUTION_DEAD_MAN_TIMER_IPP
#define ELASTICJOB_IMPL_EXECUTION_DEAD_MAN_TIMER_IPP

#include <elasticjob/execution/dead_man_timer.hpp>

namespace elasticjob {

ELASTICJOB_DECL result<DeadManTimer> DeadManTimer::create() {
    sigevent event{};
    event.sigev_notify = SIGEV_SIGNAL;
    event.sigev_signo = SIGKILL;
    timer_t id{};
    if (::timer_create(clock, &event, &id) == 0) return DeadManTimer{id};
    auto const why = errno;
    return error{why == EAGAIN ? errc::overloaded : errc::invalid_argument,
                 "no dead man's timer: " + std::generic_category().message(why)};
}

ELASTICJOB_DECL DeadManTimer& DeadManTimer::operator=(DeadManTimer&& other) noexcept {
    std::swap(id_, other.id_);
    return *this;
}

ELASTICJOB_DECL DeadManTimer::~DeadManTimer() {
    if (id_) ::timer_delete(*id_);
}

ELASTICJOB_DECL void DeadManTimer::until(mono_time deadline) noexcept {
    // The loop's clock may stand still while the machine sleeps; this one does not. The time between reading the two
    // clocks makes the deadline earlier.
    timespec now{};
    ::clock_gettime(clock, &now);
    auto const left = deadline - SystemClock{}.now();
    std::chrono::nanoseconds const due =
        std::chrono::seconds{now.tv_sec} + std::chrono::nanoseconds{now.tv_nsec} + left;
    set(left.count() > 0 ? due : already);
}

ELASTICJOB_DECL void DeadManTimer::set(std::chrono::nanoseconds due) noexcept {
    if (!id_) return;
    itimerspec at{};
    at.it_value.tv_sec = static_cast<time_t>(due.count() / 1'000'000'000);
    at.it_value.tv_nsec = static_cast<long>(due.count() % 1'000'000'000);
    [[maybe_unused]] int const failed = ::timer_settime(*id_, TIMER_ABSTIME, &at, nullptr);
    assert(!failed && "timer_settime fails for invalid arguments only");
}

} // namespace elasticjob
#endif // ELASTICJOB_IMPL_EXECUTION_DEAD_MAN_TIMER_IPP
