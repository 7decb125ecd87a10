// SPDX-License-Identifier: Apache-2.0
/// \file \brief The default strategy: equal shares in the order of the instances.
#ifndef ELASTICJOB_ALLOCATION_AVERAGE_HPP
#define ELASTICJOB_ALLOCATION_AVERAGE_HPP

#include <elasticjob/allocation/closed_form.hpp>
#include <elasticjob/allocation/strategy.hpp>

#include <string_view>

namespace elasticjob {

/// Equal shares of consecutive items; the remaining items go to the first instances, one each. 8 items over 3 instances
/// are [0,1,6] [2,3,7] [4,5]. Shares differ by one at most. All jobs give their remaining items to the same first
/// instances; OdevitySortByName and RotateServerByName avoid that. Source: ElasticJob-Lite 2.1.5, rule SG-3.
struct AverageAllocation {
    static constexpr std::string_view name =
        "com.dangdang.ddframe.job.lite.api.strategy.impl.AverageAllocationJobShardingStrategy";

    constexpr closed_form operator()(sharding_request const& request) const noexcept {
        return {request.instance_count(), request.item_count};
    }
};

} // namespace elasticjob
#endif // ELASTICJOB_ALLOCATION_AVERAGE_HPP
