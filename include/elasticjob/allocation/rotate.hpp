// SPDX-License-Identifier: Apache-2.0
/// \file \brief Equal shares, beginning at an instance that depends on the job's name.
#ifndef ELASTICJOB_ALLOCATION_ROTATE_HPP
#define ELASTICJOB_ALLOCATION_ROTATE_HPP

#include <elasticjob/allocation/closed_form.hpp>
#include <elasticjob/allocation/java_hash.hpp>
#include <elasticjob/allocation/strategy.hpp>

#include <cstdint>
#include <limits>
#include <string_view>

namespace elasticjob {

/// Average over the list rotated to the left by |hash of the job name| places, so that different jobs give their
/// remaining items to different instances. Source: ElasticJob-Lite 2.1.5, rule SG-5.
///
/// Java's `Math.abs` leaves the smallest integer negative, and 2.1.5 fails for a job with such a hash unless the number
/// of instances divides it. Here the negative rotation is taken modulo the instances, which agrees with Java in all
/// cases in which Java does not fail.
struct RotateServerByName {
    static constexpr std::string_view name =
        "com.dangdang.ddframe.job.lite.api.strategy.impl.RotateServerByNameJobShardingStrategy";

    constexpr closed_form operator()(sharding_request const& request) const noexcept {
        std::int64_t const hash = java_string_hash(request.job_name);
        bool const java_negates = hash < 0 && hash != std::numeric_limits<std::int32_t>::min();
        return {request.instance_count(), request.item_count, {.rotated_left = java_negates ? -hash : hash}};
    }
};

} // namespace elasticjob
#endif // ELASTICJOB_ALLOCATION_ROTATE_HPP
