// SPDX-License-Identifier: Apache-2.0
/// \file \brief `guardian_process`: waits for the death of the worker, and ends its sessions.
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

/// What runs in the guardian. It has one thread, and was forked when the worker had no other, so it may use everything.
///
/// It waits until no instruction of the worker can be executed any more: the kernel reports the end of all of its
/// threads (by the pidfd; the end of one of them, the first one included, is not reported), and no program that the
/// worker has started holds the life line. Only then does it close the sessions of the worker, which takes one message
/// for each. It ends after that; and in any case, by a timer of the kernel, as soon as the session time-out has passed,
/// because the servers have ended the sessions by then.
class guardian_process {
public:
    /// The descriptors that the guardian keeps.
    struct ends {
        int worker;   ///< the pidfd of the worker
        int line;     ///< hung up when nobody holds the life line
        int is_alive; ///< the worker sees that this is closed; broken when the worker has closed its own end
    };

    guardian_process(guarded_sessions const& all, ends e) noexcept : all_{all}, ends_{e} {}

    /// Turns this process, a child of the worker, into the guardian: no terminal, no signals, no other descriptors.
    /// Returns the descriptors under the numbers that they have now; -1 if the system refuses.
    static ends settle(ends e) noexcept;

    /// Returns when there is nothing left to do.
    void run();

private:
    using clock_time = std::chrono::nanoseconds; ///< CLOCK_BOOTTIME: the servers' clocks go on during a suspension
    static clock_time now() noexcept;

    /// Whether all of the worker has ended in time.
    bool await_death() noexcept;

    /// The kernel ends this process at `due_`, and a little, whatever it waits for then.
    void limit_life() const noexcept;

    struct charge {
        guarded_sessions::place const* place;
        std::size_t attempts = 0;
    };
    /// Attempts to end the session through the next of its servers. Returns whether it is over.
    bool try_to_end(charge& c) const;
    bool end_at(addrinfo const& server, guarded_sessions::place const& p, clock_time limit) const;

    /// Waits for one of the events; false if that takes too long.
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
