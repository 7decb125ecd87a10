// SPDX-License-Identifier: Apache-2.0
/// \file \brief The terms on which the items of a job run on one instance.
#ifndef ELASTICJOB_EXECUTION_RUN_TERMS_HPP
#define ELASTICJOB_EXECUTION_RUN_TERMS_HPP

#include <elasticjob/config/clock_rule.hpp>
#include <elasticjob/config/dataflow_options.hpp>
#include <elasticjob/config/due_times.hpp>
#include <elasticjob/config/misfire_policy.hpp>
#include <elasticjob/config/retry_policy.hpp>
#include <elasticjob/config/validation.hpp>
#include <elasticjob/core/chrono.hpp>
#include <elasticjob/core/clock.hpp>
#include <elasticjob/core/identity.hpp>
#include <elasticjob/core/memory.hpp>
#include <elasticjob/registry/node.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>

namespace elasticjob::detail {

/// An instant further in the future than this was written down by a clock that was wrong.
inline constexpr std::chrono::hours clock_slack{1};

/// What the job lets its items know. The job writes it, and then wakes its items.
struct run_terms {
    std::shared_ptr<valid_config const> config{};
    std::shared_ptr<due_times const> due{};
    misfire_policy on_misfire{};
    std::chrono::milliseconds time_limit{0};
    std::chrono::milliseconds give_up_after{0};
    retry_policy retry{};
    std::size_t dead_letters_max = 0;
    clock_rule on_wrong_clock{};
    dataflow_options dataflow{};
    std::uint64_t schedule = 0; ///< a fingerprint: a change of it makes due instants of the past nobody's business
    /// When the schedule was written; nothing if that is not known, or the configuration was written since. What has become
    /// due since then is for somebody to run, even if nobody has taken the item up yet.
    std::optional<wall_time> schedule_written{};
    session_generation generation{};
    revision run_order = 0;     ///< the last order to run all items
    wall_time ordered_at{};     ///< by the registry's clock
    revision obeyed_before = 0; ///< what was ordered before this instance came is not for items without a record, if
                                ///< somebody has had them before
    bool is_open = false;       ///< registered, enabled and not leaving: runs may begin
    bool may_stream = false;    ///< what streams may go on with another round
    std::optional<wall_time> held_from{}; ///< what becomes due later, or is ordered, waits; see firing_hold.hpp
    wall_time enabled_since{};  ///< what was due before is not made up for: an operator did not want it run

    bool is_monitored() const { return config->config().monitor_execution; }

    /// Forgets what a clock that was wrong has noted.
    void mend(wall_time wall) {
        if (enabled_since > wall + clock_slack) enabled_since = wall;
    }
};

} // namespace elasticjob::detail
#endif // ELASTICJOB_EXECUTION_RUN_TERMS_HPP
