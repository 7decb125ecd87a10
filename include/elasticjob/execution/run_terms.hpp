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
#include <elasticjob/execution/clock_slack.hpp>
#include <elasticjob/registry/node.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>

namespace elasticjob::detail {

/// A run is put on record at most this long before its due instant.
inline constexpr std::chrono::seconds start_ahead_max{1};

/// The terms of a job for its items. The job writes them and then wakes its items.
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
    std::uint64_t schedule = 0; ///< a fingerprint; after a change of it, earlier due instants no longer count
    /// When the schedule was written; nothing if unknown, or if the configuration was written later. Instants since
    /// then must be handled even if no instance has owned the item yet.
    std::optional<wall_time> schedule_written{};
    /// When the schedule was written at the latest, by the registry's clock; nothing if unknown. Instants since then
    /// must be handled if an item's record belongs to the schedule before it.
    std::optional<wall_time> schedule_changed{};
    session_generation generation{};
    revision run_order = 0; ///< the last order to run all items
    wall_time ordered_at{}; ///< by the registry's clock
    /// Orders up to this one are from before this instance joined. Items without a record ignore them if they had an
    /// owner before.
    revision obeyed_before = 0;
    bool is_open = false;                 ///< registered, enabled, not paused and not leaving: runs may begin
    bool may_stream = false;              ///< a streaming run may fetch again
    std::optional<wall_time> held_from{}; ///< later due instants and orders wait; see firing_hold.hpp
    wall_time enabled_since{}; ///< earlier instants are not made up for, because an operator had disabled the server
    wall_time resumed_at{};    ///< the same, because an operator had paused it
    std::chrono::milliseconds start_ahead{0}; ///< of scheduler_options
    /// Of the node of the pauses. Each start checks it, so no start follows the write of a pause.
    std::optional<node_version> pauses_version{};

    bool is_monitored() const { return config->config().monitor_execution; }

    /// How long before its due instant a run is requested. Only with a record can the next owner of the item know that
    /// the instant is taken.
    std::chrono::milliseconds ahead(bool has_java_members) const {
        bool const is_safe = is_monitored() && !has_java_members && !due->follows();
        return is_safe ? start_ahead : std::chrono::milliseconds{0};
    }

    /// Discards the times of a wrong clock.
    void mend(wall_time wall) {
        enabled_since = believable(enabled_since, wall);
        resumed_at = believable(resumed_at, wall);
    }
};

} // namespace elasticjob::detail
#endif // ELASTICJOB_EXECUTION_RUN_TERMS_HPP
