// SPDX-License-Identifier: Apache-2.0
/// \file \brief What a script is told about its run: one JSON text, and its environment.
#ifndef ELASTICJOB_EXECUTION_SCRIPT_CONTEXT_HPP
#define ELASTICJOB_EXECUTION_SCRIPT_CONTEXT_HPP

#include <elasticjob/config/json_writer.hpp>
#include <elasticjob/execution/sharding_context.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <unistd.h> // environ

namespace elasticjob {

/// JT-5: the last argument of a script, byte for byte as 2.1.5 writes it. An item without a parameter has no such member.
inline std::string script_argument(sharding_context const& ctx) {
    json_writer json;
    json.member("jobName", ctx.job_name)
        .member("taskId", ctx.task_id)
        .member("shardingTotalCount", ctx.sharding_total_count)
        .member("jobParameter", ctx.job_parameter)
        .member("shardingItem", ctx.item);
    if (!ctx.parameter.empty()) json.member("shardingParameter", ctx.parameter);
    return json.finish();
}

using environment_variables = std::vector<std::pair<std::string, std::string>>;

/// | variable                            | holds                                                             |
/// |-------------------------------------|-------------------------------------------------------------------|
/// | `ELASTICJOB_SHARDING_CONTEXT`       | what the last argument holds                                      |
/// | `ELASTICJOB_JOB_NAME`, `…_TASK_ID`, `…_SHARDING_TOTAL_COUNT`, `…_JOB_PARAMETER`, `…_SHARDING_ITEM`,     |
/// | `…_SHARDING_PARAMETER`              | its members, one by one; always there, perhaps empty              |
/// | `ELASTICJOB_DUE`                    | the instant that the run is for, in ms since 1970                 |
/// | `ELASTICJOB_SOURCE`, `…_ATTEMPT`    | why it is run; greater than 1 when an instance has died running it |
/// | `ELASTICJOB_TOKEN`                  | the fencing token: see `sharding_context`                         |
/// | `ELASTICJOB_LAST_CHECKPOINT`        | what the last run saved, up to its first NUL                      |
inline environment_variables script_variables(sharding_context const& ctx, std::string argument) {
    using std::chrono::milliseconds;
    auto const due = std::chrono::floor<milliseconds>(ctx.due.time_since_epoch()).count();
    return {{"ELASTICJOB_SHARDING_CONTEXT", std::move(argument)},
            {"ELASTICJOB_JOB_NAME", ctx.job_name},
            {"ELASTICJOB_TASK_ID", ctx.task_id},
            {"ELASTICJOB_SHARDING_TOTAL_COUNT", std::to_string(ctx.sharding_total_count)},
            {"ELASTICJOB_JOB_PARAMETER", ctx.job_parameter},
            {"ELASTICJOB_SHARDING_ITEM", std::to_string(ctx.item)},
            {"ELASTICJOB_SHARDING_PARAMETER", ctx.parameter},
            {"ELASTICJOB_DUE", std::to_string(due)},
            {"ELASTICJOB_SOURCE", std::string{name_of(ctx.source)}},
            {"ELASTICJOB_ATTEMPT", std::to_string(ctx.attempt)},
            {"ELASTICJOB_TOKEN", std::to_string(ctx.token)},
            {"ELASTICJOB_LAST_CHECKPOINT", ctx.last_checkpoint}};
}

namespace detail {

/// Of variables with the same name the first one counts: those of the run, then the others, then our own environment.
inline std::vector<std::string> merged_environment(environment_variables const& variables,
                                                   environment_variables const& others,
                                                   char const* const* own = environ) {
    std::vector<std::string> lines;
    std::vector<std::string> prefixes;
    auto const add = [&](std::string prefix, std::string_view value) {
        for (auto const& known : prefixes)
            if (known == prefix) return;
        lines.push_back(prefix + std::string{value});
        prefixes.push_back(std::move(prefix));
    };
    for (auto const& [name, value] : variables) add(name + "=", value);
    for (auto const& [name, value] : others) add(name + "=", value);
    for (; own && *own; ++own) {
        std::string_view const line{*own};
        if (auto const at = line.find('='); at != line.npos)
            add(std::string{line.substr(0, at + 1)}, line.substr(at + 1));
    }
    return lines;
}

} // namespace detail
} // namespace elasticjob
#endif // ELASTICJOB_EXECUTION_SCRIPT_CONTEXT_HPP
