// SPDX-License-Identifier: Apache-2.0
/// \file \brief `guardian_process`: waits for the death of the worker, and then ends the worker's sessions.
#ifndef ELASTICJOB_REGISTRY_ZK_GUARDIAN_PROCESS_HPP
#define ELASTICJOB_REGISTRY_ZK_GUARDIAN_PROCESS_HPP

#include <elasticjob/core/chrono.hpp>
#include <elasticjob/core/decl.hpp>
#include <elasticjob/registry/zk/guarded_sessions.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

struct addrinfo;

namespace elasticjob::zk {

/// The code of the guardian's process. It has one thread, and the worker had no other thread when it forked this
/// process, so the code may use any function.
///
/// It waits until no instruction of the worker can be executed any more. The kernel reports by the pidfd that all
/// threads of the worker have ended, and not before, even if its first thread ends. By the life line it reports that no
/// program of the worker is left. Only then does the guardian close the worker's sessions, with one message for each.
/// Then it ends. In any case a timer of the kernel ends it as soon as the session time-out has passed, because the
/// servers have ended the sessions by then.
class guardian_process {
public:
    /// The descriptors that the guardian keeps.
    struct ends {
        int worker;   ///< the pidfd of the worker
        int line;     ///< hung up when no process holds the life line
        int is_alive; ///< the worker checks whether this is closed; broken when the worker has closed its own end
    };

    guardian_process(guarded_sessions const& all, ends e) noexcept : all_{all}, ends_{e} {}

    /// Turns this process, a child of the worker, into the guardian: without a terminal, signals or other descriptors.
    /// Returns the descriptors under their new numbers; -1 if the system refuses.
    static ends settle(ends e) noexcept;

    /// Returns when no session is left to end.
    void run();

private:
    using clock_time = std::chrono::nanoseconds; ///< CLOCK_BOOTTIME: the servers' clocks run during a suspension
    static clock_time now() noexcept;

    /// Returns whether all processes of the worker have ended in time.
    bool await_death() noexcept;

    /// Makes the kernel end this process shortly after `due_`, even if it is waiting then.
    void limit_life() const noexcept;

    struct charge {
        guarded_sessions::place const* place;
        std::size_t attempts = 0;
    };
    /// Tries to end the session through its next server. Returns whether the session is over.
    bool try_to_end(charge& c) const;
    bool end_at(addrinfo const& server, guarded_sessions::place const& p, clock_time limit) const;

    /// Waits for one of the events. Returns false if none occurs before `limit`.
    static bool wait(int descriptor, short events, clock_time limit) noexcept;

    guarded_sessions const& all_;
    ends ends_;
    clock_time due_{};
};

} // namespace elasticjob::zk

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/registry/zk/guardian_process.ipp>
#endif
#endif // ELASTICJOB_REGISTRY_ZK_GUARDIAN_PROCESS_HPP
