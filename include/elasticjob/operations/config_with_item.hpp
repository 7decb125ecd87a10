// SPDX-License-Identifier: Apache-2.0
/// \file \brief The configuration of a job, for a query or a command about one of its items.
#ifndef ELASTICJOB_OPERATIONS_CONFIG_WITH_ITEM_HPP
#define ELASTICJOB_OPERATIONS_CONFIG_WITH_ITEM_HPP

#include <elasticjob/config/job_config.hpp>
#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/result.hpp>
#include <elasticjob/registry/job_layout.hpp>
#include <elasticjob/registry/registry.hpp>

namespace elasticjob::detail {

/// Checks that a job has an item. Errors: no_node.
result<void> check_item(job_layout const& at, job_config const& config, item_index item);

/// The configuration in a node, which must have that item. Errors: no_node if it does not, or if the job has been
/// removed; malformed_data.
result<job_config> config_with_item(job_layout const& at, node const& config, item_index item);

} // namespace elasticjob::detail

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/operations/config_with_item.ipp>
#endif
#endif // ELASTICJOB_OPERATIONS_CONFIG_WITH_ITEM_HPP
