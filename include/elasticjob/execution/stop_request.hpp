// SPDX-License-Identifier: Apache-2.0
/// \file \brief What an operator writes who wants a run to stop: the node `ext/orders/stop-{item}`.
#ifndef ELASTICJOB_EXECUTION_STOP_REQUEST_HPP
#define ELASTICJOB_EXECUTION_STOP_REQUEST_HPP

#include <elasticjob/config/text.hpp>
#include <elasticjob/core/chrono.hpp>
#include <elasticjob/core/clock.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace elasticjob {

/// It names the run by its due instant, so that it never stops another one that has begun meanwhile. Who runs the item,
/// or owns it when nobody runs it, takes the node away: so the operator sees that it has been dealt with.
inline std::string stop_request_text(wall_time due) {
    using std::chrono::milliseconds;
    return std::to_string(std::chrono::floor<milliseconds>(due.time_since_epoch()).count());
}

/// Nothing if it is not one.
inline std::optional<wall_time> parse_stop_request(std::string_view text) {
    std::int64_t ms = 0;
    if (!detail::read_number(text, ms)) return std::nullopt;
    return wall_time{std::chrono::milliseconds{ms}};
}

} // namespace elasticjob
#endif // ELASTICJOB_EXECUTION_STOP_REQUEST_HPP
