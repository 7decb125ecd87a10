// SPDX-License-Identifier: Apache-2.0
/// \file \brief The name of the sharding strategy that a job specifies.
#ifndef ELASTICJOB_SHARDING_STRATEGY_NAME_HPP
#define ELASTICJOB_SHARDING_STRATEGY_NAME_HPP

#include <elasticjob/config/job_config.hpp>
#include <elasticjob/core/decl.hpp>

#include <string_view>

namespace elasticjob::detail {

/// An empty `jobShardingStrategyClass` means average allocation, for Java members too (SG-1). The result refers to the
/// configuration.
std::string_view strategy_name_of(job_config const& config);

} // namespace elasticjob::detail

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/sharding/strategy_name.ipp>
#endif
#endif // ELASTICJOB_SHARDING_STRATEGY_NAME_HPP
