// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_SHARDING_STRATEGY_NAME_IPP
#define ELASTICJOB_IMPL_SHARDING_STRATEGY_NAME_IPP

#include <elasticjob/allocation/average.hpp>
#include <elasticjob/sharding/strategy_name.hpp>

namespace elasticjob::detail {

ELASTICJOB_DECL std::string_view strategy_name_of(job_config const& config) {
    return config.job_sharding_strategy_class.empty() ? AverageAllocation::name
                                                      : std::string_view{config.job_sharding_strategy_class};
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_IMPL_SHARDING_STRATEGY_NAME_IPP
