// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_CONFIG_TASK_ID_IPP
#define ELASTICJOB_IMPL_CONFIG_TASK_ID_IPP

#include <elasticjob/config/task_id.hpp>

namespace elasticjob {

ELASTICJOB_DECL std::string format_item_list(std::span<item_index const> items) {
    std::string text;
    for (auto const item : items) text.append(text.empty() ? "" : ",").append(std::to_string(item));
    return text;
}

ELASTICJOB_DECL std::string make_task_id(job_name const& job, std::span<item_index const> items,
                                         instance_id const& instance, execution_type type) {
    std::string id = job.str();
    for (auto const& part : {format_item_list(items), std::string{name_of(type)}, instance.str()})
        id.append(identity_delimiter).append(part);
    if (instance.str().empty()) id.append("127.0.0.1@-@1");
    return id;
}

} // namespace elasticjob
#endif // ELASTICJOB_IMPL_CONFIG_TASK_ID_IPP
