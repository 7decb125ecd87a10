// SPDX-License-Identifier: Apache-2.0
/// \file \brief An operator's order to stop a run: the content of the node `ext/orders/stop-{item}`.
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

/// It names the run by its due instant, so that it never stops another run that has begun meanwhile. The instance that
/// runs the item, or its owner if no instance runs it, removes the node; this tells the operator that the order has
/// been handled.
std::string stop_request_text(wall_time due);

/// Nothing if the text is not an order.
std::optional<wall_time> parse_stop_request(std::string_view text);

} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/execution/stop_request.ipp>
#endif
#endif // ELASTICJOB_EXECUTION_STOP_REQUEST_HPP
