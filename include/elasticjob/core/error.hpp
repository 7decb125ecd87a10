// SPDX-License-Identifier: Apache-2.0
/// \file \brief Run-time errors as values: a code, a description, and a place.
#ifndef ELASTICJOB_CORE_ERROR_HPP
#define ELASTICJOB_CORE_ERROR_HPP

#include <elasticjob/core/decl.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace elasticjob {

/// The kind of a failure. The groups matter more than the members: see the predicates below.
enum class errc : std::uint8_t {
    // The request itself is impossible. Nothing was written.
    invalid_argument,
    invalid_path,
    invalid_cron,
    cron_never_fires,
    invalid_config,
    unknown_strategy,
    job_conflict,   ///< the stored job has another class, or this process already runs a job of that name
    malformed_data, ///< a node has a content that no member and no operator should write
    removed,        ///< the job has been removed for good; only restore_job undoes that
    wrong_thread,   ///< a blocking call on the loop's own thread; or a guardian that was started after other threads
    // The registry refused the request, which had no effect.
    no_node,
    node_exists,
    version_conflict,
    not_empty,
    no_children_for_ephemerals,
    no_auth,
    too_large, ///< not sent, because the server would close the connection; or refused by the server's quota
    // The connection.
    unreachable,     ///< no server answered within the connection time-out
    not_sent,        ///< certainly without effect: the request was never sent
    unknown_outcome, ///< the reply was lost: read the state before you decide
    session_lost,    ///< the session of this request is over; no request of that session can take effect any more
    // The state of the job, or of this process.
    not_running,   ///< there is no run to stop
    clock_differs, ///< this machine's clock differs from the registry's by more than the job allows
    round_missed,  ///< a hook of a round may not have been called
    nobody_fits,   ///< no instance has the labels that an item needs, so the item waits
    fenced,        ///< another instance has taken over the item, so this run no longer counts
    closed,        ///< the registry, loop or scheduler is shutting down
    // Limits.
    timed_out,
    overloaded, ///< a bounded queue is full, or the system has no thread or timer left
    // Job bodies.
    job_failed,
    job_threw,
};

/// The name of a code, as in the enumeration.
constexpr std::string_view name_of(errc code) noexcept {
    switch (code) {
    case errc::invalid_argument:
        return "invalid_argument";
    case errc::invalid_path:
        return "invalid_path";
    case errc::invalid_cron:
        return "invalid_cron";
    case errc::cron_never_fires:
        return "cron_never_fires";
    case errc::invalid_config:
        return "invalid_config";
    case errc::unknown_strategy:
        return "unknown_strategy";
    case errc::job_conflict:
        return "job_conflict";
    case errc::malformed_data:
        return "malformed_data";
    case errc::removed:
        return "removed";
    case errc::wrong_thread:
        return "wrong_thread";
    case errc::no_node:
        return "no_node";
    case errc::node_exists:
        return "node_exists";
    case errc::version_conflict:
        return "version_conflict";
    case errc::not_empty:
        return "not_empty";
    case errc::not_running:
        return "not_running";
    case errc::no_children_for_ephemerals:
        return "no_children_for_ephemerals";
    case errc::no_auth:
        return "no_auth";
    case errc::too_large:
        return "too_large";
    case errc::unreachable:
        return "unreachable";
    case errc::not_sent:
        return "not_sent";
    case errc::unknown_outcome:
        return "unknown_outcome";
    case errc::session_lost:
        return "session_lost";
    case errc::clock_differs:
        return "clock_differs";
    case errc::round_missed:
        return "round_missed";
    case errc::nobody_fits:
        return "nobody_fits";
    case errc::fenced:
        return "fenced";
    case errc::closed:
        return "closed";
    case errc::timed_out:
        return "timed_out";
    case errc::overloaded:
        return "overloaded";
    case errc::job_failed:
        return "job_failed";
    case errc::job_threw:
        return "job_threw";
    }
    return "unknown";
}

/// Whether the registry refused the request because of its present state. Read again, then decide again.
constexpr bool is_conflict(errc code) noexcept {
    return code == errc::no_node || code == errc::node_exists || code == errc::version_conflict ||
           code == errc::not_empty;
}

/// Whether the connection failed, not the request. Reads may be repeated. After `unknown_outcome` of a write, read the
/// state.
constexpr bool is_connection(errc code) noexcept {
    return code == errc::unreachable || code == errc::not_sent || code == errc::unknown_outcome;
}

/// Whether a request or a call that failed so may have taken effect.
constexpr bool is_effect_unknown(errc code) noexcept {
    return code == errc::unknown_outcome || code == errc::session_lost || code == errc::timed_out ||
           code == errc::closed;
}

/// A failure: a code for programs, and for people the cause, the correct input, and the place.
struct [[nodiscard]] error {
    errc code{};         ///< for programs
    std::string what{};  ///< the failure and the correct input, for people
    std::string where{}; ///< a registry path, a column or a field; empty if there is none

    friend bool operator==(error const& e, errc c) noexcept { return e.code == c; }
    friend bool operator==(error const&, error const&) = default;
};

/// Whether the connection or the session failed, not the request. The same request may succeed once a session is
/// connected.
inline bool is_transient(error const& e) noexcept { return is_connection(e.code) || e == errc::session_lost; }

/// Whether the same request would fail again, although the connection is up and nobody else has changed the nodes: an
/// access list or a quota refuses it, for example. Report it.
inline bool is_lasting(error const& e) noexcept {
    return !is_transient(e) && !is_conflict(e.code) && !(e == errc::closed);
}

/// One line for a log: `invalid_cron: minutes must be 0 to 59 (column 3)`.
std::string to_string(error const& e);

} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/core/error.ipp>
#endif
#endif // ELASTICJOB_CORE_ERROR_HPP
