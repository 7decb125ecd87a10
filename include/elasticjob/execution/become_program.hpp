// SPDX-License-Identifier: Apache-2.0
/// \file \brief The steps of the child between vfork and exec.
#ifndef ELASTICJOB_EXECUTION_BECOME_PROGRAM_HPP
#define ELASTICJOB_EXECUTION_BECOME_PROGRAM_HPP

#include <elasticjob/core/algorithm.hpp> // max, min
#include <elasticjob/core/decl.hpp>

#include <cerrno>
#include <csignal>
#include <type_traits>

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <unistd.h>

namespace elasticjob::detail {

/// The data that the child needs, prepared before vfork: the child shares the parent's memory and must not allocate.
struct launch {
    char const* program;
    char* const* argv;
    char* const* envp;
    char const* directory; ///< null: the parent's
    int in, out, err;
    int tie;       ///< the read end of the tie, which the child keeps
    int other_end; ///< the write end of the tie, only for the parent
    int line;      ///< `life_line`, which the child keeps; -1: there is none
    int report;    ///< receives a launch_failure; closed by exec
};

enum class launch_step : int { descriptors, directory, program };

struct launch_failure {
    launch_step step;
    int why;
};
static_assert(std::is_trivially_copyable_v<launch_failure>);

[[noreturn]] inline void give_up(int report, launch_step step) noexcept {
    launch_failure const failed{step, errno};
    (void)!::write(report, &failed, sizeof failed);
    ::_exit(127);
}

/// Makes the kernel kill this process group when the tie's write end is closed everywhere. Returns whether it is still
/// open.
bool tie_to_parent(int tie) noexcept;

/// Closes all descriptors from `first` on, except two. The second may be -1.
inline void close_others(int first, int kept, int kept_too) noexcept {
    int const low = kept_too < 0 ? kept : std::min(kept, kept_too), high = std::max(kept, kept_too);
    auto const close_between = [](int from, int to) {
        if (from <= to) ::close_range(static_cast<unsigned>(from), static_cast<unsigned>(to), 0);
    };
    close_between(first, low - 1);
    close_between(low + 1, high - 1);
    ::close_range(static_cast<unsigned>(high) + 1, ~0U, 0);
}

/// Uses only what POSIX allows after vfork. All signals are blocked when it is called.
[[noreturn]] inline void become_program(launch const& l) noexcept {
    for (int s = 1; s < NSIG; ++s) (void)std::signal(s, SIG_DFL);
    ::setpgid(0, 0);
    ::close(l.other_end);

    // Moves the descriptors out of the way of each other, and the tie to a number that scripts do not use.
    constexpr int report = 3, first_free = 4, far = 200;
    int tie = ::fcntl(l.tie, F_DUPFD, far);
    if (tie < 0) tie = ::fcntl(l.tie, F_DUPFD, first_free); // the limit of descriptors may be lower
    int const in = ::fcntl(l.in, F_DUPFD, first_free), out = ::fcntl(l.out, F_DUPFD, first_free),
              err = ::fcntl(l.err, F_DUPFD, first_free), to_parent = ::fcntl(l.report, F_DUPFD, first_free);
    if (tie < 0 || in < 0 || out < 0 || err < 0 || to_parent < 0) give_up(l.report, launch_step::descriptors);
    if (::dup3(to_parent, report, O_CLOEXEC) < 0) give_up(to_parent, launch_step::descriptors);
    if (::dup2(in, STDIN_FILENO) < 0 || ::dup2(out, STDOUT_FILENO) < 0 || ::dup2(err, STDERR_FILENO) < 0)
        give_up(report, launch_step::descriptors);
    int line = -1;
    if (l.line >= 0) { // without it, a guardian would take a running program for one that has ended
        line = ::fcntl(l.line, F_DUPFD, tie + 1);
        if (line < 0) line = ::fcntl(l.line, F_DUPFD, first_free);
        if (line < 0) give_up(report, launch_step::descriptors);
    }
    close_others(first_free, tie, line);

    // Only for this process, and not after exec of a setuid program. But the program cannot close it, as it can the
    // tie.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (!tie_to_parent(tie)) give_up(report, launch_step::descriptors);
    if (l.directory && ::chdir(l.directory) != 0) give_up(report, launch_step::directory);
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    ::execve(l.program, l.argv, l.envp);
    give_up(report, launch_step::program);
}

} // namespace elasticjob::detail

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/execution/become_program.ipp>
#endif
#endif // ELASTICJOB_EXECUTION_BECOME_PROGRAM_HPP
