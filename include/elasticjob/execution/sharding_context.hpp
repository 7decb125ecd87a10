// SPDX-License-Identifier: Apache-2.0
/// \file \brief What the body of a job is told about the run of one item.
#ifndef ELASTICJOB_EXECUTION_SHARDING_CONTEXT_HPP
#define ELASTICJOB_EXECUTION_SHARDING_CONTEXT_HPP

#include <elasticjob/core/clock.hpp>
#include <elasticjob/core/identity.hpp>

#include <stop_token>
#include <string>

namespace elasticjob {

/// Valid while the body runs.
struct sharding_context {
    std::string job_name;
    std::string task_id; ///< of this firing on this instance: names the job, all its items, the instance
    std::uint32_t sharding_total_count = 0;
    std::string job_parameter;
    item_index item = 0;
    std::string parameter;  ///< the item's own; empty if it has none
    wall_time due{};        ///< the instant that this run is for, which may be earlier than now
    std::stop_token stop{}; ///< says when to come to an end; a body that takes long should look at it
};

/// As the original prints it: `ShardingContext(jobName=j, taskId=t, shardingTotalCount=2, …)`.
inline std::string to_string(sharding_context const& c) {
    return "ShardingContext(jobName=" + c.job_name + ", taskId=" + c.task_id +
           ", shardingTotalCount=" + std::to_string(c.sharding_total_count) + ", jobParameter=" + c.job_parameter +
           ", shardingItem=" + std::to_string(c.item) + ", shardingParameter=" + c.parameter + ")";
}

} // namespace elasticjob
#endif // ELASTICJOB_EXECUTION_SHARDING_CONTEXT_HPP
