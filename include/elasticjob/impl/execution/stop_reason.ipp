// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_EXECUTION_STOP_REASON_IPP
#define ELASTICJOB_IMPL_EXECUTION_STOP_REASON_IPP

#include <elasticjob/execution/stop_reason.hpp>

namespace elasticjob::detail {

ELASTICJOB_DECL void stop_order::give(stop_reason why) {
    if (why == stop_reason::ordered) is_ordered_ = true;
    auto none = stop_reason::none;
    if (why_.compare_exchange_strong(none, why)) source_.request_stop();
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_IMPL_EXECUTION_STOP_REASON_IPP
