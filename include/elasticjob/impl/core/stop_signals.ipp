// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_CORE_STOP_SIGNALS_IPP
#define ELASTICJOB_IMPL_CORE_STOP_SIGNALS_IPP

#include <elasticjob/core/algorithm.hpp> // max
#include <elasticjob/core/clock.hpp>     // end_of_wait
#include <elasticjob/core/stop_signals.hpp>

#include <cerrno>

namespace elasticjob {

ELASTICJOB_DECL stop_signals::stop_signals(std::initializer_list<int> numbers) {
    ::sigemptyset(&awaited_);
    for (int const number : numbers) ::sigaddset(&awaited_, number);
    ::sigset_t before;
    ::pthread_sigmask(SIG_BLOCK, &awaited_, &before);
    blocked_ = awaited_;
    for (int const number : numbers)
        if (::sigismember(&before, number) == 1) ::sigdelset(&blocked_, number);
}

ELASTICJOB_DECL stop_signals::~stop_signals() { ::pthread_sigmask(SIG_UNBLOCK, &blocked_, nullptr); }

ELASTICJOB_DECL int stop_signals::wait() const {
    for (;;)
        if (auto const number = ::sigwaitinfo(&awaited_, nullptr); number > 0)
            return number; // other signals only interrupt the wait
}

ELASTICJOB_DECL std::optional<int> stop_signals::wait_for(std::chrono::milliseconds span) const {
    using clock = std::chrono::steady_clock;
    for (auto const end = end_of_wait(clock::now(), span);;) {
        auto const left = std::max(std::chrono::nanoseconds{0}, std::chrono::nanoseconds{end - clock::now()});
        auto const seconds = std::chrono::duration_cast<std::chrono::seconds>(left);
        ::timespec const t{.tv_sec = static_cast<::time_t>(seconds.count()),
                           .tv_nsec = static_cast<long>((left - seconds).count())};
        if (auto const number = ::sigtimedwait(&awaited_, nullptr, &t); number > 0) return number;
        if (errno != EINTR) return std::nullopt;
    }
}

} // namespace elasticjob
#endif // ELASTICJOB_IMPL_CORE_STOP_SIGNALS_IPP
