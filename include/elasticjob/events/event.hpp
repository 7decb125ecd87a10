// SPDX-License-Identifier: Apache-2.0
/// \file \brief The events of a job: one struct for each kind.
#ifndef ELASTICJOB_EVENTS_EVENT_HPP
#define ELASTICJOB_EVENTS_EVENT_HPP

#include <elasticjob/core/chrono.hpp>
#include <elasticjob/core/clock.hpp>
#include <elasticjob/core/error.hpp>
#include <elasticjob/core/identity.hpp>
#include <elasticjob/events/run_source.hpp>
#include <elasticjob/events/script_stream.hpp>
#include <elasticjob/registry/node.hpp> // session_state

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace elasticjob::events {

/// The instance that reports an event, and the time.
struct origin {
    std::string_view job;
    instance_id const& instance;
    wall_time at{}; ///< by the clock of the instance's loop
};

/// Identifies a run. The instance and `number` together are unique among the runs of all jobs.
struct run_name {
    std::uint64_t number = 0;   ///< counts the runs of the job on the instance; 0: no run
    std::string_view task_id{}; ///< shared by items that began together, as in 2.1.5
    run_source source = run_source::schedule;
    std::uint32_t attempt = 1;
    wall_time begun{}; ///< the time of `item_started`
};

/// The instance has registered under its present session.
struct joined {
    origin from;
    std::string_view note; ///< the differences between the stored and the local configuration, if any
};

/// The instance has left, in order.
struct left {
    origin from;
};

/// The state of the registry's session has changed. Each job reports this, but only to sinks that accept it.
struct session_changed {
    origin from;
    session_state state;
};

struct leadership_changed {
    origin from;
    bool leads;
};

/// The instance, as the leader, has written a new assignment.
struct resharded {
    origin from;
    std::uint64_t epoch;
    std::uint32_t items;
    std::uint32_t instances;
    std::uint32_t moved;
    std::uint32_t left = 0; ///< items that no instance can own; they wait
};

/// The set of items that the instance owns has changed.
struct share_changed {
    origin from;
    std::vector<item_index> const& items;
};

struct item_started {
    origin from;
    item_index item;
    wall_time due;
    run_source source = run_source::schedule;
    std::uint32_t attempt = 1;
    std::int64_t token = 0; ///< the fencing token; 0 if the job is not monitored
    run_name run{};
};

struct item_finished {
    origin from;
    item_index item;
    wall_time due;
    std::chrono::nanoseconds took;
    std::optional<error> const& failure; ///< nothing: the run succeeded
    std::int64_t token = 0;
    run_name run{};
    std::optional<wall_time> retry_at{}; ///< the time of the retry; nothing: a failure is final
};

/// A line that a script has written, if its body has `EventOutput`. Reported between the start and the end of the run,
/// but only to sinks that accept it.
struct script_output {
    origin from;
    item_index item;
    wall_time due;
    script_stream stream;
    std::string_view text; ///< without its line end
    std::size_t dropped;   ///< the number of bytes that are left out: see `script_line`

    /// The number of lines that were lost since the last reported line, because they came too fast. If it is not 0,
    /// `text` is empty.
    std::uint64_t lost;
    run_name run{};
};

/// How far a run has come, as its body reports it: at most once a second, and once more at the end of the run. Reported
/// between the start and the end of the run, but only to sinks that accept it.
struct item_progressed {
    origin from;
    item_index item;
    wall_time due;
    std::uint64_t done;  ///< in the body's own units
    std::uint64_t total; ///< 0: unknown
    run_name run{};
};

/// The end of a run was not recorded, because another instance had taken the item over.
struct item_fenced {
    origin from;
    item_index item;
    wall_time due;
    std::int64_t token;
    run_name run{};
};

/// The item was due while it was running. The misfire policy, `once` or `all`, runs the instant later, unless it is too
/// late by then. With the policy `skip`, `item_skipped` is reported instead.
struct item_misfired {
    origin from;
    item_index item;
    wall_time due;
};

/// The reason why a due item was not started.
enum class skip_reason : std::uint8_t {
    still_running, ///< its last run has not ended; the due instant is dropped
    disabled,      ///< by an operator
    not_ready,     ///< the registry could not be reached, or no leader has sharded in time
    overloaded,    ///< the worker pool's queue is full
    clock_differs, ///< this machine's clock is wrong
    too_late,      ///< no instance started it in time, and the misfire policy drops it
    paused,        ///< by an operator
};

constexpr std::string_view name_of(skip_reason r) noexcept {
    switch (r) {
    case skip_reason::still_running:
        return "still_running";
    case skip_reason::disabled:
        return "disabled";
    case skip_reason::not_ready:
        return "not_ready";
    case skip_reason::overloaded:
        return "overloaded";
    case skip_reason::clock_differs:
        return "clock_differs";
    case skip_reason::too_late:
        return "too_late";
    case skip_reason::paused:
        return "paused";
    }
    return "unknown";
}

struct item_skipped {
    origin from;
    item_index item;
    wall_time due; ///< if there are several instants, the last of them
    skip_reason why;
    std::uint64_t count = 1;
    run_name run{}; ///< set if its start was reported before the pool refused it
};

/// A problem that is not the failure of a run. The job continues unless the text says otherwise.
struct trouble {
    origin from;
    error const& what;
};

} // namespace elasticjob::events
#endif // ELASTICJOB_EVENTS_EVENT_HPP
