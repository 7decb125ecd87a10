// SPDX-License-Identifier: Apache-2.0
/// \file \brief `SessionGuardian`: a small process that ends the sessions of this process as soon as it has died.
#ifndef ELASTICJOB_REGISTRY_SESSION_GUARDIAN_HPP
#define ELASTICJOB_REGISTRY_SESSION_GUARDIAN_HPP

#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/result.hpp>

#include <utility>

namespace elasticjob {

namespace zk {
class guarded_sessions;
} // namespace zk

/// If this process dies in any way, other instances take over its items after milliseconds instead of the session
/// time-out. Start the guardian at the beginning of `main`, and give it to the registries:
///
/// ```
/// auto guardian = SessionGuardian::start();
/// if (!guardian) return complain(guardian.error());
/// auto registry = ZkRegistry::connect({.servers = "zk1:2181,zk2:2181", .guardian = guardian->sessions()});
/// ```
///
/// The guardian is a process named `ej-guardian`. The kernel tells it that this process has died, and it then closes
/// the sessions of the registries. It closes nothing while any thread of this process exists, stopped or not, or while
/// a script job of this process is still running; docs/guarantees.md gives the reasons. If it cannot close a session,
/// the servers end the session after its time-out, as they do without a guardian.
///
/// Its memory is a copy of the pages that this process had written before the start. It uses no processor time while it
/// waits, and ignores all signals except SIGKILL. It ends with this process, or with this object. If it is killed, this
/// process continues as without a guardian, and only `is_alive` tells the difference.
///
/// A process can have one guardian at a time. A fork of this process without exec is not covered by the guardian, and
/// cannot start its own: fork before `start`. The guardian must outlive the registries. Needs Linux 5.9. Threads:
/// `start` and the destructor, one; the rest, any.
class SessionGuardian {
public:
    /// Errors: wrong_thread (the process has several threads already; a copy of it might contain a lock that another
    /// thread holds), overloaded (no process, descriptor or memory, or no `close_range`, which some containers
    /// forbid), invalid_argument (there is a guardian already, or no /proc).
    static result<SessionGuardian> start();

    SessionGuardian(SessionGuardian&& other) noexcept
        : sessions_{std::exchange(other.sessions_, nullptr)},
          line_{std::exchange(other.line_, -1)},
          alive_{std::exchange(other.alive_, -1)} {}
    SessionGuardian& operator=(SessionGuardian&& other) noexcept;
    ~SessionGuardian();

    /// For `zk_options::guardian`.
    zk::guarded_sessions* sessions() const noexcept { return sessions_; }

    /// Whether the guardian's process exists. For health checks. Takes a microsecond.
    bool is_alive() const noexcept;

    /// The life line, a descriptor that exec closes. Suppose that your body starts a program by itself, and that
    /// program must have ended before another instance repeats the run. Then let the program inherit a duplicate of the
    /// life line (`fcntl` with F_DUPFD). Script jobs do this already.
    int life_line() const noexcept { return line_; }

private:
    SessionGuardian(zk::guarded_sessions* s, int line, int alive) noexcept : sessions_{s}, line_{line}, alive_{alive} {}

    zk::guarded_sessions* sessions_; ///< shared with the guardian
    int line_;                       ///< the write end of the life line
    int alive_;                      ///< the read end of a pipe whose write end only the guardian holds
};

} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/registry/session_guardian.ipp>
#endif
#endif // ELASTICJOB_REGISTRY_SESSION_GUARDIAN_HPP
