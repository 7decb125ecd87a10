// SPDX-License-Identifier: Apache-2.0
/// \file \brief A job's configuration in the registry: read from its nodes, and put into a transaction that writes them.
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

/// The stored configuration, checked as strictly as our own: a member must not start what it cannot run. Both nodes of
/// it; null is one that is not there. More items or item parameters than `items_max` are refused before anything else is
/// looked at, because anybody may have written them, and other jobs wait meanwhile.
result<std::optional<valid_config>> read_stored(node const* stored, node const* schedule, job_layout const& at,
                                                std::uint32_t items_max);

/// The configuration and, where it has some, the schedules beside it. Null is a node that is not there. Schedules that
/// say the same are left as they are: what is to be run once now has been.
void put_config(transaction& t, job_layout const& at, job_config const& config, node const* stored, node const* schedule);

/// The labels that items need are not in the configuration's node, but go with it.
void put_labels(transaction& t, node_path path, std::optional<node> const& stored, std::string const& labels);
void note_labels(config_decision& decision, std::optional<node> const& stored, std::string const& labels);

/// Of a job that has a tombstone.
error removed_error(job_layout const& at);

} // namespace elasticjob::detail

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/membership/stored_job.ipp>
#endif
#endif // ELASTICJOB_MEMBERSHIP_STORED_JOB_HPP
