// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_SHARDING_STRATEGY_REF_IPP
#define ELASTICJOB_IMPL_SHARDING_STRATEGY_REF_IPP

#include <elasticjob/sharding/strategy_name.hpp>
#include <elasticjob/sharding/strategy_ref.hpp>

namespace elasticjob::detail {

ELASTICJOB_DECL result<void> check_strategy(strategy_ref const& strategy, job_config const& config) {
    auto const named = strategy_name_of(config);
    if (strategy.has_name(named)) return success();
    std::string built_with;
    for (auto const name : strategy.names()) built_with += (built_with.empty() ? "'" : ", '") + std::string{name} + "'";
    return error{errc::unknown_strategy,
                 "the job is configured for the sharding strategy '" + std::string{named} +
                     "', but this scheduler was built with " + built_with +
                     ": build it with that strategy, or change the job's jobShardingStrategyClass",
                 config.name};
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_IMPL_SHARDING_STRATEGY_REF_IPP
