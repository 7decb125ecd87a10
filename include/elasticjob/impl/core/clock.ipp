// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_CORE_CLOCK_IPP
#define ELASTICJOB_IMPL_CORE_CLOCK_IPP

#include <elasticjob/core/clock.hpp>

namespace elasticjob {

ELASTICJOB_DECL void ManualClock::advance(std::chrono::nanoseconds by) noexcept {
    now_ += by;
    wall_ += std::chrono::duration_cast<wall_time::duration>(by);
}

} // namespace elasticjob
#endif // ELASTICJOB_IMPL_CORE_CLOCK_IPP
