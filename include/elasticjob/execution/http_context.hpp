// SPDX-License-Identifier: Apache-2.0
/// \file \brief The headers that describe a run to a service.
#ifndef ELASTICJOB_EXECUTION_HTTP_CONTEXT_HPP
#define ELASTICJOB_EXECUTION_HTTP_CONTEXT_HPP

#include <elasticjob/core/decl.hpp>
#include <elasticjob/events/text_forms.hpp>
#include <elasticjob/execution/http_request.hpp>
#include <elasticjob/execution/script_context.hpp> // script_argument

#include <cstddef>
#include <string>
#include <string_view>

namespace elasticjob {

namespace detail {

/// The same JSON in printable ASCII, for headers: all other characters as `\uXXXX`.
std::string ascii_json(std::string_view json);

} // namespace detail

/// | header                | holds                                                                                        |
/// |-----------------------|----------------------------------------------------------------------------------------------|
/// | `Elasticjob-Context`  | the JSON that a script is given, see `script_argument`; beyond ASCII escaped                 |
/// | `Elasticjob-Due`      | the instant that the run is for, in ms since 1970                                            |
/// | `Elasticjob-Source`   | why it is run: `schedule`, `misfire`, `trigger`, `failover`                                  |
/// | `Elasticjob-Attempt`  | greater than 1 when an instance has died running it                                          |
/// | `Elasticjob-Token`    | the fencing token: see `sharding_context`                                                    |
///
/// Errors: too_large if the context takes more than 6000 bytes, because many servers refuse headers of more than 8 KiB.
result<http_headers> http_run_headers(sharding_context const& ctx);

} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/execution/http_context.ipp>
#endif
#endif // ELASTICJOB_EXECUTION_HTTP_CONTEXT_HPP
