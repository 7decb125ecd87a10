// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_EXECUTION_STOP_REQUEST_IPP
#define ELASTICJOB_IMPL_EXECUTION_STOP_REQUEST_IPP

#include <elasticjob/config/instant_text.hpp>
#include <elasticjob/execution/stop_request.hpp>

namespace elasticjob {

ELASTICJOB_DECL std::string stop_request_text(wall_time due) {
    using std::chrono::milliseconds;
    return std::to_string(std::chrono::floor<milliseconds>(due.time_since_epoch()).count());
}

ELASTICJOB_DECL std::optional<wall_time> parse_stop_request(std::string_view text) {
    wall_time due{};
    if (!detail::read_instant(text, due)) return std::nullopt;
    return due;
}

} // namespace elasticjob
#endif // ELASTICJOB_IMPL_EXECUTION_STOP_REQUEST_IPP
