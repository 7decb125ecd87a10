// SPDX-License-Identifier: Apache-2.0
/// \file \brief What an operator writes who wants a run to stop: the node `ext/orders/stop-{item}`.
#ifndef ELASTICJOB_EXECUTION_STOP_REQUEST_HPP
#define ELASTICJOB_EXECUTION_STOP_REQUEST_HPP

#include <elasticjob/core/chrono.hpp>
#include <elasticjob/core/clock.hpp>
#include <elasticjob/core/decl.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace elasticjob {

/// It names the run by its due instant, so that it never stops another one that has begun meanwhile. Who runs the item,
/// or owns it when nobody runs it, takes the node away: so the operator sees that it has been dealt with.
std::string stop_request_text(wall_time due);

/// Nothing if it is not one.
std::optional<wall_time> parse_stop_request(std::string_view text);

} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/execution/stop_request.ipp>
#endif
#endif // ELASTICJOB_EXECUTION_STOP_REQUEST_HPP
