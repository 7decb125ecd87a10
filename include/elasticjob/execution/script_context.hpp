// SPDX-License-Identifier: Apache-2.0
/// \file \brief The description of a run for a script: a JSON text, and environment variables.
#ifndef ELASTICJOB_EXECUTION_SCRIPT_CONTEXT_HPP
#define ELASTICJOB_EXECUTION_SCRIPT_CONTEXT_HPP

#include <elasticjob/config/json_writer.hpp>
#include <elasticjob/core/decl.hpp>
#include <elasticjob/execution/sharding_context.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <unistd.h> // environ

namespace elasticjob {

/// JT-5: the last argument of a script, byte for byte as 2.1.5 writes it. If the item has no parameter, that member is
/// missing.
std::string script_argument(sharding_context const& ctx);

using environment_variables = std::vector<std::pair<std::string, std::string>>;

/// | variable                            | holds                                                             |
/// |-------------------------------------|-------------------------------------------------------------------|
/// | `ELASTICJOB_SHARDING_CONTEXT`       | the same text as the last argument                                |
/// | `ELASTICJOB_JOB_NAME`, `…_TASK_ID`, `…_SHARDING_TOTAL_COUNT`, `…_JOB_PARAMETER`, `…_SHARDING_ITEM`,     |
/// | `…_SHARDING_PARAMETER`              | its members, one by one; always set, perhaps empty                |
/// | `ELASTICJOB_DUE`                    | the instant that the run is for, in ms since 1970                 |
/// | `ELASTICJOB_SOURCE`, `…_ATTEMPT`    | the cause of the run; more than 1 after an instance died running it |
/// | `ELASTICJOB_TOKEN`                  | the fencing token: see `sharding_context`                         |
/// | `ELASTICJOB_LAST_CHECKPOINT`        | the checkpoint of the last run, up to its first NUL               |
environment_variables script_variables(sharding_context const& ctx, std::string argument);

namespace detail {

/// If several variables have the same name, the first one counts: those of the run, then the additional ones, then the
/// scheduler's environment.
std::vector<std::string> merged_environment(environment_variables const& variables, environment_variables const& others,
                                            char const* const* own = environ);

} // namespace detail
} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/execution/script_context.ipp>
#endif
#endif // ELASTICJOB_EXECUTION_SCRIPT_CONTEXT_HPP
