// SPDX-License-Identifier: Apache-2.0
/// \file \brief What is told about a job: one record for each kind of thing that happens.
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

/// Who tells it, and when.
struct origin {
    std::string_view job;
    instance_id const& instance;
    wall_time at{}; ///< by the clock of the instance's loop
};

/// Which run it is about. The instance and `number` together name a run: no other, of whatever job, is called so.
struct run_name {
    std::uint64_t number = 0;   ///< counts the runs of the job on the instance; 0: it is about no run
    std::string_view task_id{}; ///< shared by the items that began together, as the original does
    run_source source = run_source::schedule;
    std::uint32_t attempt = 1;
    wall_time begun{}; ///< when `item_started` was told
};

/// The instance has registered, with the session that it has now.
struct joined {
    origin from;
    std::string_view note; ///< how the stored and the local configuration differ, if they do
};

/// The instance has left, in order.
struct left {
    origin from;
};

/// The registry's session is in another state than before. Told to each job, and only to sinks that can be called with it.
struct session_changed {
    origin from;
    session_state state;
};

struct leadership_changed {
    origin from;
    bool leads;
};

/// This leader has written a new assignment.
struct resharded {
    origin from;
    std::uint64_t epoch;
    std::uint32_t items;
    std::uint32_t instances;
    std::uint32_t moved;
    std::uint32_t left = 0; ///< items that nobody can own; they wait
};

/// The items that the instance owns are others than before.
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
    std::int64_t token = 0; ///< the fencing token; 0 when the job is not monitored
    run_name run{};
};

struct item_finished {
    origin from;
    item_index item;
    wall_time due;
    std::chrono::nanoseconds took;
    std::optional<error> const& failure; ///< nothing: it succeeded
    std::int64_t token = 0;
    run_name run{};
    std::optional<wall_time> retry_at{}; ///< when it is tried again; if nothing, what failed has failed for good
};

/// A line that a script has written, where its body has `EventOutput`. Told between the start and the end of its run, and
/// only to sinks that can be called with it.
struct script_output {
    origin from;
    item_index item;
    wall_time due;
    script_stream stream;
    std::string_view text; ///< without its end
    std::size_t dropped;   ///< bytes that are not told: see `script_line`

    /// Lines that came faster than they could be told, since the last one that was. Then there is no text.
    std::uint64_t lost;
    run_name run{};
};

/// The end of a run was not recorded: another instance had taken the item over, for it took this one for dead.
struct item_fenced {
    origin from;
    item_index item;
    wall_time due;
    std::int64_t token;
    run_name run{};
};

/// The item was due while it was running. It will be made up for as the job's misfire policy says.
struct item_misfired {
    origin from;
    item_index item;
    wall_time due;
};

/// Why a due item was not started.
enum class skip_reason : std::uint8_t {
    still_running, ///< its last run has not ended; the due instant is dropped
    disabled,      ///< by an operator
    not_ready,     ///< the registry could not be asked, or nobody has sharded in time
    overloaded,    ///< the worker pool's queue is full
    clock_differs, ///< this machine's clock is wrong
    too_late,      ///< nobody could start it in time, and the job's misfire policy says that it is dropped then
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
    }
    return "unknown";
}

struct item_skipped {
    origin from;
    item_index item;
    wall_time due; ///< of several instants, the last
    skip_reason why;
    std::uint64_t count = 1;
    run_name run{}; ///< when it was told to have begun: the pool would not have it
};

/// Something went wrong that is not the fault of one item. The job goes on.
struct trouble {
    origin from;
    error const& what;
};

} // namespace elasticjob::events
#endif // ELASTICJOB_EVENTS_EVENT_HPP
