// SPDX-License-Identifier: Apache-2.0
/// \file \brief `child_process`: a program in a process group of its own, which ends with its owner, whatever ends that.
#ifndef ELASTICJOB_EXECUTION_CHILD_PROCESS_HPP
#define ELASTICJOB_EXECUTION_CHILD_PROCESS_HPP

#include <elasticjob/config/text.hpp> // in_quotes
#include <elasticjob/core/algorithm.hpp>
#include <elasticjob/core/decl.hpp>
#include <elasticjob/execution/become_program.hpp>
#include <elasticjob/execution/descriptor.hpp>

#include <cerrno>
#include <csignal>
#include <cstddef>
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
    std::string name;                     ///< what the program is told it is called
    std::vector<std::string> arguments;   ///< behind that name
    std::vector<std::string> environment; ///< `NAME=value`, all of it
    std::string working_directory;        ///< empty: ours
};

inline constexpr char const* exit_code_taken =
    " has ended, but somebody else in this process has taken its exit code (SIGCHLD must not be ignored)";

/// How a process ended.
struct child_exit {
    enum class kind { code, signal, unknown } how = kind::unknown;
    int number = 0; ///< the exit code or the signal
};

/// Three things hold whatever happens:
/// - The child leads a process group. The group is killed before the leader's number is given back to the system, so that
///   no other group can have it by then.
/// - The child holds the read end of a pipe, the tie, and we the write end. The kernel kills the group when the write end
///   is closed, also because this process has been killed: docs/decisions/0009. That begins before the program does.
/// - The program has the descriptors 0, 1, 2 and the tie, and no other.
///
/// Not reached: who leaves the group (setsid, setpgid); after our own sudden death, the children of a program that has closed
/// the tie before it started them; and nobody while a plain fork of this process, without an exec, holds the tie with us.
/// Linux 5.9. Threads: the one that has started it, which must live as long. Starting takes until the program has begun.
class child_process {
public:
    /// Errors: job_failed, which says what was refused.
    static result<child_process> start(child_options const& options);

    child_process(child_process&& other) noexcept;
    child_process& operator=(child_process&&) = delete;
    ~child_process();

    /// To be read from, without blocking.
    int out() const noexcept { return out_.get(); }
    int err() const noexcept { return err_.get(); }

    /// Readable when the leader has ended.
    int exited() const noexcept { return exited_.get(); }

    /// To the whole group. Precondition: `end` has not been called.
    void signal(int number) const noexcept;

    /// Kills what is left of the group, and waits for the leader, for the others only so long that those that can die have
    /// died. What has been written can be read all the same. Precondition: it has not been called before.
    child_exit end() noexcept;

private:
    static constexpr int death_takes_ms = 200;

    child_process(pid_t id, descriptor out, descriptor err, descriptor tie) noexcept;

    static result<descriptor> open_nothing();

    static std::vector<char*> pointers(std::string const* first, std::vector<std::string> const& rest);

    static error explained(child_options const& options, launch_failure failed);
    static error too_large(std::string const& what, child_options const& options);

    /// Whether there is still a process of ours by this number. There is, unless somebody else takes the exit codes of our
    /// children away; the number may then mean anybody.
    bool is_ours() const noexcept;

    pid_t id_; ///< 0: reaped
    descriptor out_, err_, tie_, exited_;
};

} // namespace elasticjob::detail

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/execution/child_process.ipp>
#endif
#endif // ELASTICJOB_EXECUTION_CHILD_PROCESS_HPP
