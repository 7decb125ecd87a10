// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_OPERATIONS_CLOCK_IPP
#define ELASTICJOB_IMPL_OPERATIONS_CLOCK_IPP

#include <elasticjob/core/identity.hpp>
#include <elasticjob/core/random.hpp>
#include <elasticjob/operations/clock.hpp>

namespace elasticjob {

ELASTICJOB_DECL void clock_samples::add(wall_time begun, std::int64_t registry_ms, wall_time ended) {
    std::chrono::milliseconds const there{registry_ms};
    auto const low = there - ended.time_since_epoch();
    auto const high = there + std::chrono::milliseconds{1} - begun.time_since_epoch();
    bool const agrees = count_ > 0 && low <= high_ && high >= low_;
    low_ = agrees ? std::max<std::chrono::nanoseconds>(low_, low) : low;
    high_ = agrees ? std::min<std::chrono::nanoseconds>(high_, high) : high;
    count_ = agrees ? count_ + 1 : 1;
}

ELASTICJOB_DECL clock_reading clock_samples::result(wall_time now) const {
    using std::chrono::microseconds;
    auto const half = (high_ - low_) / 2;
    return {now, std::chrono::floor<microseconds>(low_ + half), std::chrono::ceil<microseconds>(half) + microseconds{1},
            count_};
}

namespace detail {

ELASTICJOB_DECL node_path new_clock_path() {
    auto const name = "clock" + std::string{identity_delimiter} + random_source{random_source::machine_seed()}.uuid();
    return node_path{} / name;
}

} // namespace detail
} // namespace elasticjob
#endif // ELASTICJOB_IMPL_OPERATIONS_CLOCK_IPP
