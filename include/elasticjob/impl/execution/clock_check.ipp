// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_EXECUTION_CLOCK_CHECK_IPP
#define ELASTICJOB_IMPL_EXECUTION_CLOCK_CHECK_IPP

#include <elasticjob/execution/clock_check.hpp>

namespace elasticjob {

ELASTICJOB_DECL error wrong_clock(std::chrono::milliseconds difference, std::chrono::seconds allowed,
                                  std::string where) {
    auto const by = std::to_string((difference.count() < 0 ? -difference : difference).count());
    return error{errc::clock_differs,
                 "this machine's clock is " + by + " ms " + (difference.count() < 0 ? "ahead of" : "behind") +
                     " the registry's, and maxTimeDiffSeconds allows " + std::to_string(allowed.count()) +
                     " s: set the clock",
                 std::move(where)};
}

} // namespace elasticjob
#endif // ELASTICJOB_IMPL_EXECUTION_CLOCK_CHECK_IPP
