// SPDX-License-Identifier: Apache-2.0
/// \file \brief Decides whether a scheduler can run a job with a configuration, and computes its due times.
#ifndef ELASTICJOB_SCHEDULER_ACCEPTANCE_HPP
#define ELASTICJOB_SCHEDULER_ACCEPTANCE_HPP

#include <elasticjob/config/due_times.hpp>
#include <elasticjob/config/validation.hpp>
#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/result.hpp>
#include <elasticjob/cron/zone_ref.hpp>
#include <elasticjob/sharding/strategy_ref.hpp>

#include <cstdint>

namespace elasticjob::detail {

/// The facts about a scheduler that decide which configurations it can run.
struct acceptance {
    zone_ref zone;
    strategy_ref strategy;
    std::uint32_t items_max;
    bool hears_rounds; ///< a listener has hooks around rounds

    /// The due times of a job with this configuration. Errors: invalid_config; unknown_strategy; those of `due_times`.
    result<due_times> times_of(valid_config const& c) const;

    /// Whether this scheduler can run it. Errors: as `times_of`.
    result<void> operator()(valid_config const& c) const;
};

} // namespace elasticjob::detail

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/scheduler/acceptance.ipp>
#endif
#endif // ELASTICJOB_SCHEDULER_ACCEPTANCE_HPP
