// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_EXECUTION_STOP_REQUEST_IPP
#define ELASTICJOB_IMPL_EXECUTION_STOP_REQUEST_IPP

#include <elasticjob/execution/stop_request.hpp>

namespace elasticjob {

ELASTICJOB_DECL std::string stop_request_text(wall_time due) {
    using std::chrono::milliseconds;
    return std::to_string(std::chrono::floor<milliseconds>(due.time_since_epoch()).count());
}

ELASTICJOB_DECL std::optional<wall_time> parse_stop_request(std::string_view text) {
    std::int64_t ms = 0;
    if (!detail::read_number(text, ms)) return std::nullopt;
    return wall_time{std::chrono::milliseconds{ms}};
}

} // namespace elasticjob
#endif // ELASTICJOB_IMPL_EXECUTION_STOP_REQUEST_IPP
