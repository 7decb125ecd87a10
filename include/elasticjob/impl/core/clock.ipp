// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_CORE_CLOCK_IPP
#define ELASTICJOB_IMPL_CORE_CLOCK_IPP

#include <elasticjob/core/clock.hpp>

#include <ctime>

namespace elasticjob {

ELASTICJOB_DECL mono_time SystemClock::boot_now() const noexcept {
#if defined(CLOCK_BOOTTIME)
    timespec t{};
    if (::clock_gettime(CLOCK_BOOTTIME, &t) == 0)
        return mono_time{std::chrono::seconds{t.tv_sec} + std::chrono::nanoseconds{t.tv_nsec}};
#endif
    return now();
}

ELASTICJOB_DECL void ManualClock::suspend(std::chrono::nanoseconds span) noexcept {
    suspended_ += span;
    wall_ += std::chrono::duration_cast<wall_time::duration>(span);
}

ELASTICJOB_DECL void ManualClock::advance(std::chrono::nanoseconds by) noexcept {
    now_ += by;
    wall_ += std::chrono::duration_cast<wall_time::duration>(by);
}

} // namespace elasticjob
#endif // ELASTICJOB_IMPL_CORE_CLOCK_IPP
