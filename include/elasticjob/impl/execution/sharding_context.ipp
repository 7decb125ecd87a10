// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_EXECUTION_SHARDING_CONTEXT_IPP
#define ELASTICJOB_IMPL_EXECUTION_SHARDING_CONTEXT_IPP

#include <elasticjob/execution/sharding_context.hpp>

namespace elasticjob::detail {

ELASTICJOB_DECL void run_port::count(std::uint64_t well, std::uint64_t badly) noexcept {
    succeeded.fetch_add(well, std::memory_order_relaxed);
    failed.fetch_add(badly, std::memory_order_relaxed);
}

ELASTICJOB_DECL error no_checkpoints(std::string const& job) {
    return {errc::invalid_argument, "checkpoints need monitor_execution", job};
}

} // namespace elasticjob::detail

namespace elasticjob {

ELASTICJOB_DECL result<void> sharding_context::checkpoint(std::string text) const {
    if (!port || !port->save_checkpoint) return detail::no_checkpoints(job_name);
    return port->save_checkpoint(*port, std::move(text));
}

ELASTICJOB_DECL std::string to_string(sharding_context const& c) {
    return "ShardingContext(jobName=" + c.job_name + ", taskId=" + c.task_id +
           ", shardingTotalCount=" + std::to_string(c.sharding_total_count) + ", jobParameter=" + c.job_parameter +
           ", shardingItem=" + std::to_string(c.item) + ", shardingParameter=" + c.parameter + ")";
}

} // namespace elasticjob
#endif // ELASTICJOB_IMPL_EXECUTION_SHARDING_CONTEXT_IPP
