// SPDX-License-Identifier: Apache-2.0
/// \file \brief The name of a run in events and in its context; config/task_id_parser.hpp parses it.
#ifndef ELASTICJOB_CONFIG_TASK_ID_HPP
#define ELASTICJOB_CONFIG_TASK_ID_HPP

#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/identity.hpp>

#include <cstdint>
#include <span> // items
#include <string>
#include <string_view>

namespace elasticjob {

/// A text such as `0,1,2`; empty for no items.
std::string format_item_list(std::span<item_index const> items);

/// The reason for a run, as part of a task id. Members of 2.1.5 write "ready" for every run, even for a failover.
enum class execution_type : std::uint8_t { ready, failover };

constexpr std::string_view name_of(execution_type type) noexcept {
    return type == execution_type::ready ? "READY" : "FAILOVER";
}

/// The id of a run of these items. Without items, that part is empty. An instance without an id is written as
/// `127.0.0.1@-@1`.
std::string make_task_id(job_name const& job, std::span<item_index const> items, instance_id const& instance,
                         execution_type type = execution_type::ready);

} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/config/task_id.ipp>
#endif
#endif // ELASTICJOB_CONFIG_TASK_ID_HPP
