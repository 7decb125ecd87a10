// SPDX-License-Identifier: Apache-2.0
/// \file \brief `child_process`: a program in its own process group, which ends when its owner ends, however that ends.
#ifndef ELASTICJOB_EXECUTION_CHILD_PROCESS_HPP
#define ELASTICJOB_EXECUTION_CHILD_PROCESS_HPP

#include <elasticjob/core/algorithm.hpp>
#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/descriptor.hpp>
#include <elasticjob/core/life_line.hpp>
#include <elasticjob/execution/become_program.hpp>

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <poll.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace elasticjob::detail {

struct child_options {
    std::string program;                  ///< a path
    std::string name;                     ///< argument 0 of the program
    std::vector<std::string> arguments;   ///< the arguments after that name
    std::vector<std::string> environment; ///< `NAME=value`, the whole environment
    std::string working_directory;        ///< empty: the parent's
};

inline constexpr char const* exit_code_taken =
    " has ended, but somebody else in this process has taken its exit code (SIGCHLD must not be ignored)";

/// How a process ended.
struct child_exit {
    enum class kind { code, signal, unknown } how = kind::unknown;
    int number = 0; ///< the exit code or the signal
};

/// Three guarantees hold in all cases:
/// - The child leads a process group. The group is killed before the leader is reaped, so that no other group can have
/// its number by then.
/// - The child holds the read end of a pipe, the tie, and this process the write end. The kernel kills the group when
/// the write end is closed, also if this process has been killed: docs/decisions/0009. This is in effect before the
/// program starts.
/// - The program has the descriptors 0, 1, 2 and the tie, and no others; if this process has a session guardian, also
/// the life line (`core/life_line.hpp`), so that the guardian knows that the program has ended.
///
/// Exceptions: a process that leaves the group (setsid, setpgid); after a sudden death of this process, children that a
/// program started after it had closed the tie; and the whole group as long as a fork of this process without exec also
/// holds the tie. Linux 5.9. Threads: the one that has started it, which must live as long. Starting returns when the
/// program has begun.
class child_process {
public:
    /// Errors: job_failed, with the reason.
    static result<child_process> start(child_options const& options);

    child_process(child_process&& other) noexcept;
    child_process& operator=(child_process&&) = delete;
    ~child_process();

    /// The output pipe; reading does not block.
    int out() const noexcept { return out_.get(); }
    int err() const noexcept { return err_.get(); }

    /// Readable when the leader has ended.
    int exited() const noexcept { return exited_.get(); }

    /// Sends a signal to the whole group. Precondition: `end` has not been called.
    void signal(int number) const noexcept;

    /// Kills the rest of the group and waits for the leader; for the others it waits only a short time, in which
    /// killable processes die. Output that has been written can still be read. Precondition: `end` has not been called
    /// before.
    child_exit end() noexcept;

private:
    static constexpr int death_takes_ms = 200;
    static constexpr int report_timeout_ms = 1'000;

    child_process(pid_t id, descriptor out, descriptor err, descriptor tie) noexcept;

    static result<descriptor> open_nothing();

    static std::vector<char*> pointers(std::string const* first, std::vector<std::string> const& rest);

    static error explained(child_options const& options, launch_failure failed);
    static error too_large(std::string const& what, child_options const& options);

    /// Whether the number still belongs to this object's child. It does, unless other code reaps the children of this
    /// process; then the number may belong to any process.
    bool is_ours() const noexcept;

    pid_t id_; ///< 0: reaped
    descriptor out_, err_, tie_, exited_;
};

} // namespace elasticjob::detail

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/execution/child_process.ipp>
#endif
#endif // ELASTICJOB_EXECUTION_CHILD_PROCESS_HPP
