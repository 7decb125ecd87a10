// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_OPERATIONS_CONFIG_WITH_ITEM_IPP
#define ELASTICJOB_IMPL_OPERATIONS_CONFIG_WITH_ITEM_IPP

#include <elasticjob/config/json_codec.hpp>
#include <elasticjob/operations/config_with_item.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

namespace elasticjob::detail {

ELASTICJOB_DECL result<void> check_item(job_layout const& at, job_config const& config, item_index item) {
    if (item < static_cast<std::uint32_t>(std::max(config.sharding_total_count, 0))) return success();
    return error{errc::no_node, "the job has the items 0 to " + std::to_string(config.sharding_total_count - 1),
                 at.item(item).str()};
}

ELASTICJOB_DECL result<job_config> config_with_item(job_layout const& at, node const& config, item_index item) {
    ELASTICJOB_TRY(auto read, from_json(config.data));
    if (!read) return error{errc::no_node, "the job has been removed: its configuration is empty", at.config().str()};
    ELASTICJOB_CHECK(check_item(at, *read, item));
    return *std::move(read);
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_IMPL_OPERATIONS_CONFIG_WITH_ITEM_IPP
