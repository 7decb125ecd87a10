// SPDX-License-Identifier: Apache-2.0
/// \file \brief Equal shares, beginning at either end of the instance list, depending on the parity of the job name's
/// hash.
#ifndef ELASTICJOB_ALLOCATION_ODEVITY_HPP
#define ELASTICJOB_ALLOCATION_ODEVITY_HPP

#include <elasticjob/allocation/closed_form.hpp>
#include <elasticjob/allocation/java_hash.hpp>
#include <elasticjob/allocation/strategy.hpp>

#include <string_view>

namespace elasticjob {

/// Average over the list of instances if Java's hash of the job name is odd, and over the reversed list if it is even.
/// So about half of the jobs give their remaining items to the other end. The list is in descending order, so an *even*
/// name begins at the lowest id. Source: ElasticJob-Lite 2.1.5, rule SG-4; its documentation says the opposite.
struct OdevitySortByName {
    static constexpr std::string_view name =
        "com.dangdang.ddframe.job.lite.api.strategy.impl.OdevitySortByNameJobShardingStrategy";

    constexpr closed_form operator()(sharding_request const& request) const noexcept {
        bool const even = java_string_hash(request.job_name) % 2 == 0;
        return {request.instance_count(), request.item_count, {.reversed = even}};
    }
};

} // namespace elasticjob
#endif // ELASTICJOB_ALLOCATION_ODEVITY_HPP
