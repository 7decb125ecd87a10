// SPDX-License-Identifier: Apache-2.0
/// \file \brief Reads a job's configuration from its nodes, and adds it to a transaction that writes them.
#ifndef ELASTICJOB_MEMBERSHIP_STORED_JOB_HPP
#define ELASTICJOB_MEMBERSHIP_STORED_JOB_HPP

#include <elasticjob/config/json_codec.hpp>
#include <elasticjob/config/schedule_text.hpp>
#include <elasticjob/config/stored_config.hpp>
#include <elasticjob/config/validation.hpp>
#include <elasticjob/core/decl.hpp>
#include <elasticjob/registry/job_layout.hpp>
#include <elasticjob/registry/transaction.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace elasticjob::detail {

/// The error of what a node of the configuration holds, with that node and the remedy.
error in_registry(error e, node_path const& path);

/// The stored configuration from its two nodes; null means that a node is absent. Checked as strictly as our own,
/// because a member must not start a configuration that it cannot run. If there are more items or item parameters than
/// `items_max`, this returns an error before any other check: another program may have written them, and other jobs
/// wait meanwhile.
result<std::optional<valid_config>> read_stored(node const* stored, node const* schedule, job_layout const& at,
                                                std::uint32_t items_max);

/// Writes the configuration and, if it has any, the schedules beside it. Null means that a node is absent. Schedules
/// with the same text are not written again, because a write would make those of `once_now` run again.
void put_config(transaction& t, job_layout const& at, job_config const& config, node const* stored,
                node const* schedule);

/// Writes the labels that items need, together with the configuration.
void put_labels(transaction& t, node_path path, node const* stored, std::string const& labels);
void note_labels(config_decision& decision, node const* stored, std::string const& labels);

/// The error for a job that has a tombstone.
error removed_error(job_layout const& at);

} // namespace elasticjob::detail

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/membership/stored_job.ipp>
#endif
#endif // ELASTICJOB_MEMBERSHIP_STORED_JOB_HPP
