// SPDX-License-Identifier: Apache-2.0
/// \file \brief Why a run is asked to stop, and how it is asked.
#ifndef ELASTICJOB_EXECUTION_STOP_REASON_HPP
#define ELASTICJOB_EXECUTION_STOP_REASON_HPP

#include <elasticjob/core/decl.hpp>

#include <atomic>
#include <cstdint>
#include <stop_token>
#include <string_view>

namespace elasticjob {

enum class stop_reason : std::uint8_t {
    none,         ///< go on
    session_lost, ///< the registry takes this instance for dead; others may run the item already
    lease_over,   ///< it cannot be shown that the session still lives
    taken_over,   ///< another instance runs the item: what this run does does not count any more
    reassigned,   ///< the item belongs to another instance, which waits for the end of this run
    ordered,      ///< an operator asks for it
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

/// The first reason counts. Threads: any.
class stop_order {
public:
    void give(stop_reason why);
    stop_reason why() const noexcept { return why_.load(); }
    std::stop_token token() const noexcept { return source_.get_token(); }

private:
    std::atomic<stop_reason> why_ = stop_reason::none;
    std::stop_source source_;
};

} // namespace detail
} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/execution/stop_reason.ipp>
#endif
#endif // ELASTICJOB_EXECUTION_STOP_REASON_HPP
