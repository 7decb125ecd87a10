// SPDX-License-Identifier: Apache-2.0
/// \file \brief Waits for a signal that asks the process to end, so that the process can leave its jobs in order.
#ifndef ELASTICJOB_CORE_STOP_SIGNALS_HPP
#define ELASTICJOB_CORE_STOP_SIGNALS_HPP

#include <elasticjob/core/chrono.hpp>
#include <elasticjob/core/decl.hpp>

#include <initializer_list>
#include <optional>

#include <signal.h>

namespace elasticjob {

/// Blocks SIGINT and SIGTERM, or the given signals, and receives them in `wait`. There is no signal handler, so the
/// code after `wait` may call any function:
///
///     int main() {
///         stop_signals signals;  // first: threads that are started later must not take the signals either
///         ZkRegistry registry = …;
///         auto job = scheduler.schedule(…);
///         signals.wait();
///     }                          // the destructors leave the jobs in order
///
/// The destructor unblocks the signals that the constructor blocked. Programs that a ScriptExecutor starts have no
/// signals blocked. Threads: construct and destroy it in the same thread, before other threads start and after they
/// have ended. Call the other functions in any thread.
class stop_signals {
public:
    stop_signals() : stop_signals({SIGINT, SIGTERM}) {}
    explicit stop_signals(std::initializer_list<int> numbers);
    ~stop_signals();
    stop_signals(stop_signals const&) = delete;
    stop_signals& operator=(stop_signals const&) = delete;

    /// Waits for a signal and returns its number; at once if a signal has already arrived.
    int wait() const;

    /// The same, but returns nothing if no signal arrives within that time, or within `span_max` if that is shorter.
    std::optional<int> wait_for(std::chrono::milliseconds span) const;

private:
    ::sigset_t awaited_;
    ::sigset_t blocked_; ///< those that were not blocked before
};

} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/core/stop_signals.ipp>
#endif
#endif // ELASTICJOB_CORE_STOP_SIGNALS_HPP
