// SPDX-License-Identifier: Apache-2.0
/// \file \brief The reasons for stopping a run, and the request to stop.
#ifndef ELASTICJOB_EXECUTION_STOP_REASON_HPP
#define ELASTICJOB_EXECUTION_STOP_REASON_HPP

#include <elasticjob/core/decl.hpp>

#include <atomic>
#include <cstdint>
#include <stop_token>
#include <string_view>

namespace elasticjob {

enum class stop_reason : std::uint8_t {
    none,         ///< the run is not asked to stop
    session_lost, ///< the session is over; another instance may already run the item
    lease_over,   ///< there is no proof that the session is still alive
    taken_over,   ///< another instance runs the item; this run no longer counts
    reassigned,   ///< the item belongs to another instance, which waits for the end of this run
    ordered,      ///< an operator has ordered it
    draining,     ///< the job is being shut down here, and the drain time-out has passed
    time_limit,   ///< the run takes longer than the job allows
};

constexpr std::string_view name_of(stop_reason r) noexcept {
    switch (r) {
    case stop_reason::none:
        return "none";
    case stop_reason::session_lost:
        return "session_lost";
    case stop_reason::lease_over:
        return "lease_over";
    case stop_reason::taken_over:
        return "taken_over";
    case stop_reason::reassigned:
        return "reassigned";
    case stop_reason::ordered:
        return "ordered";
    case stop_reason::draining:
        return "draining";
    case stop_reason::time_limit:
        return "time_limit";
    }
    return "unknown";
}

namespace detail {

/// The first reason counts, and an operator's order even after another reason. Threads: any.
class stop_order {
public:
    void give(stop_reason why);

    /// The first reason.
    stop_reason why() const noexcept { return why_.load(); }

    /// The reason that decides what comes after the run: an operator's order, or the first one.
    stop_reason why_it_ends() const noexcept { return is_ordered_.load() ? stop_reason::ordered : why(); }

    std::stop_token token() const noexcept { return source_.get_token(); }

private:
    std::atomic<stop_reason> why_ = stop_reason::none;
    std::atomic<bool> is_ordered_ = false;
    std::stop_source source_;
};

} // namespace detail
} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/execution/stop_reason.ipp>
#endif
#endif // ELASTICJOB_EXECUTION_STOP_REASON_HPP
