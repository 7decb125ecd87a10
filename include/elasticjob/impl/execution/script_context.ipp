// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_EXECUTION_SCRIPT_CONTEXT_IPP
#define ELASTICJOB_IMPL_EXECUTION_SCRIPT_CONTEXT_IPP

#include <elasticjob/execution/script_context.hpp>

namespace elasticjob {

ELASTICJOB_DECL std::string script_argument(sharding_context const& ctx) {
    json_writer json;
    json.member("jobName", ctx.job_name)
        .member("taskId", ctx.task_id)
        .member("shardingTotalCount", ctx.sharding_total_count)
        .member("jobParameter", ctx.job_parameter)
        .member("shardingItem", ctx.item);
    if (!ctx.parameter.empty()) json.member("shardingParameter", ctx.parameter);
    return json.finish();
}

ELASTICJOB_DECL environment_variables script_variables(sharding_context const& ctx, std::string argument) {
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

} // namespace elasticjob

namespace elasticjob::detail {

ELASTICJOB_DECL std::vector<std::string> merged_environment(environment_variables const& variables,
                                                            environment_variables const& others,
                                                            char const* const* own) {
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

} // namespace elasticjob::detail
#endif // ELASTICJOB_IMPL_EXECUTION_SCRIPT_CONTEXT_IPP
