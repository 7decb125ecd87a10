// SPDX-License-Identifier: Apache-2.0
/// \file \brief Observations of a simulated cluster: events of its schedulers and bodies, and actions on the cluster.
#ifndef ELASTICJOB_TESTING_OBSERVATION_HPP
#define ELASTICJOB_TESTING_OBSERVATION_HPP

#include <elasticjob/core/chrono.hpp>
#include <elasticjob/core/clock.hpp>
#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/error.hpp>
#include <elasticjob/core/identity.hpp>
#include <elasticjob/events/event.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace elasticjob::testing {

/// One line of the transcript. The kind determines which members are used.
struct observation {
    enum class kind : std::uint8_t {
        // Reported by a scheduler.
        joined,
        left,
        leads,
        leads_no_more,
        resharded,
        share,
        started,
        finished,
        fenced,
        misfired,
        skipped,
        trouble,
        // Seen by the simulation.
        body_began,
        body_ended,
        process_began,
        process_ended,
        process_killed,
        fault,
        command,
        stage,
    };
    kind what{};
    mono_time at{};
    std::uint32_t node = 0;
    std::uint64_t process = 0; ///< the number of the process within the simulation; 0: none
    std::string job{};
    std::string instance{};
    item_index item = 0;             ///< started, finished, skipped, body_…
    wall_time due{};                 ///< likewise
    std::int64_t token = 0;          ///< likewise, where the library provides one
    std::optional<error> failure{};  ///< finished, trouble, body_ended, command
    run_source source{};             ///< started
    std::uint32_t attempt = 0;       ///< started
    events::skip_reason why{};       ///< skipped
    std::vector<item_index> items{}; ///< share
    std::string text{};              ///< joined, fault, command, stage
};

constexpr std::string_view name_of(observation::kind k) noexcept {
    constexpr std::array<std::string_view, 20> names{
        "joined",        "left",          "leads",          "leads no more", "resharded", "share",      "started",
        "finished",      "fenced",        "misfired",       "skipped",       "trouble",   "body began", "body ended",
        "process began", "process ended", "process killed", "FAULT",         "COMMAND",   "STAGE"};
    return names[static_cast<std::size_t>(k)];
}

/// A line such as `12345 ms, node 2.5, settle: started 3`. The number after the node's point is the process.
std::string to_string(observation const& o);

namespace detail {

/// The observation of an event, without the process and the time.
template <class Event>
observation observe(Event const& e) {
    using kind = observation::kind;
    observation o;
    if constexpr (requires { e.from; }) {
        o.job = e.from.job;
        o.instance = e.from.instance.str();
    }
    if constexpr (requires { e.item; }) o.item = e.item;
    if constexpr (requires { e.due; }) o.due = e.due;
    if constexpr (requires { e.token; }) o.token = static_cast<std::int64_t>(e.token);
    if constexpr (requires { e.failure; }) o.failure = e.failure;
    if constexpr (std::is_same_v<Event, events::joined>) {
        o.what = kind::joined;
        auto const& id = e.from.instance.str();
        o.text = id.substr(id.rfind('-') + 1).append(" ").append(e.note);
    } else if constexpr (std::is_same_v<Event, events::left>) {
        o.what = kind::left;
    } else if constexpr (std::is_same_v<Event, events::leadership_changed>) {
        o.what = e.leads ? kind::leads : kind::leads_no_more;
    } else if constexpr (std::is_same_v<Event, events::resharded>) {
        o.what = kind::resharded;
        o.text = "epoch " + std::to_string(e.epoch) + ", moved " + std::to_string(e.moved);
    } else if constexpr (std::is_same_v<Event, events::share_changed>) {
        o.what = kind::share;
        o.items = e.items;
    } else if constexpr (std::is_same_v<Event, events::item_started>) {
        o.what = kind::started;
        o.source = e.source;
        o.attempt = e.attempt;
        o.text = std::string{name_of(e.source)} + ", attempt " + std::to_string(e.attempt);
    } else if constexpr (std::is_same_v<Event, events::item_finished>) {
        o.what = kind::finished;
    } else if constexpr (std::is_same_v<Event, events::item_fenced>) {
        o.what = kind::fenced;
    } else if constexpr (std::is_same_v<Event, events::item_misfired>) {
        o.what = kind::misfired;
    } else if constexpr (std::is_same_v<Event, events::item_skipped>) {
        o.what = kind::skipped;
        o.why = e.why;
    } else if constexpr (std::is_same_v<Event, events::trouble>) {
        o.what = kind::trouble;
        o.failure = e.what;
    } else {
        o.what = kind::trouble;
        o.text = "an event of a kind that the simulation does not know";
    }
    return o;
}

} // namespace detail
} // namespace elasticjob::testing

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/testing/observation.ipp>
#endif
#endif // ELASTICJOB_TESTING_OBSERVATION_HPP
