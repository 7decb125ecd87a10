// SPDX-License-Identifier: Apache-2.0
/// \file \brief Waits until somebody asks the process to end, so that jobs can be left in order.
#ifndef ELASTICJOB_CORE_STOP_SIGNALS_HPP
#define ELASTICJOB_CORE_STOP_SIGNALS_HPP

#include <elasticjob/core/chrono.hpp>
#include <elasticjob/core/decl.hpp>

#include <initializer_list>
#include <optional>

#include <signal.h>

namespace elasticjob {

/// Blocks SIGINT and SIGTERM, or the signals given, and takes them when it is asked to. No code runs in a signal
/// handler, so what follows a signal may do everything:
///
///     int main() {
///         stop_signals signals;  // first: threads that are started later must not take the signals either
///         ZkRegistry registry = …;
///         auto job = scheduler.schedule(…);
///         signals.wait();
///     }                          // the destructors leave the jobs in order
///
/// Its end unblocks what it has blocked. Programs that a ScriptExecutor starts have no signals blocked.
/// Threads: construction and destruction in one thread, before others are started and after they have ended; the rest
/// in any.
class stop_signals {
public:
    stop_signals() : stop_signals({SIGINT, SIGTERM}) {}
    explicit stop_signals(std::initializer_list<int> numbers);
    ~stop_signals();
    stop_signals(stop_signals const&) = delete;
    stop_signals& operator=(stop_signals const&) = delete;

    /// Returns the number of the signal that has come, now or before.
    int wait() const;

    /// The same, but nothing if none comes within that time.
    std::optional<int> wait_for(std::chrono::milliseconds span) const;

private:
    ::sigset_t awaited_;
    ::sigset_t before_;
};

} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/core/stop_signals.ipp>
#endif
#endif // ELASTICJOB_CORE_STOP_SIGNALS_HPP
