// SPDX-License-Identifier: Apache-2.0
/// \file \brief `child_process`: a program in a process group of its own, which ends with its owner, whatever ends that.
#ifndef ELASTICJOB_EXECUTION_CHILD_PROCESS_HPP
#define ELASTICJOB_EXECUTION_CHILD_PROCESS_HPP

#include <elasticjob/config/text.hpp> // in_quotes
#include <elasticjob/execution/become_program.hpp>
#include <elasticjob/execution/descriptor.hpp>

#include <cerrno>
#include <csignal>
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
    static result<child_process> start(child_options const& options) {
        ELASTICJOB_TRY(auto in, open_nothing());
        ELASTICJOB_TRY(auto out, make_pipe());
        ELASTICJOB_TRY(auto err, make_pipe());
        ELASTICJOB_TRY(auto tie, make_pipe());
        ELASTICJOB_TRY(auto report, make_pipe());
        for (auto const* read : {&out.read, &err.read}) ::fcntl(read->get(), F_SETFL, O_NONBLOCK);
        auto const argv = pointers(&options.name, options.arguments);
        auto const envp = pointers(nullptr, options.environment);
        launch const plan{.program = options.program.c_str(),
                          .argv = argv.data(),
                          .envp = envp.data(),
                          .directory = options.working_directory.empty() ? nullptr : options.working_directory.c_str(),
                          .in = in.get(),
                          .out = out.write.get(),
                          .err = err.write.get(),
                          .tie = tie.read.get(),
                          .other_end = tie.write.get(),
                          .report = report.write.get()};

        // A handler that ran in the child would change our memory.
        sigset_t all, before;
        ::sigfillset(&all);
        ::pthread_sigmask(SIG_SETMASK, &all, &before);
        pid_t const id = ::vfork();
        if (id == 0) become_program(plan);
        int const why = errno;
        ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
        if (id < 0) return refused("cannot start a process", why);

        // From here on, whichever way we leave, the process ends with this object.
        child_process child{id, std::move(out.read), std::move(err.read), std::move(tie.write)};
        report.write.close();
        tie.read.close();
        launch_failure failed{};
        if (::read(report.read.get(), &failed, sizeof failed) == sizeof failed) return explained(options, failed);
        child.exited_ = descriptor{static_cast<int>(::syscall(SYS_pidfd_open, id, 0))}; // glibc 2.36 has it for C only
        if (!child.exited_ && errno == ESRCH) return error{errc::job_failed, in_quotes(options.name) + exit_code_taken};
        if (!child.exited_) return refused("no descriptor of the process", errno);
        return child;
    }

    child_process(child_process&& other) noexcept
        : id_{std::exchange(other.id_, 0)},
          out_{std::move(other.out_)},
          err_{std::move(other.err_)},
          tie_{std::move(other.tie_)},
          exited_{std::move(other.exited_)} {}
    child_process& operator=(child_process&&) = delete;
    ~child_process() {
        if (id_) (void)end();
    }

    /// To be read from, without blocking.
    int out() const noexcept { return out_.get(); }
    int err() const noexcept { return err_.get(); }

    /// Readable when the leader has ended.
    int exited() const noexcept { return exited_.get(); }

    /// To the whole group. Precondition: `end` has not been called.
    void signal(int number) const noexcept {
        if (is_ours()) ::kill(-id_, number);
    }

    /// Kills what is left of the group, and waits for the leader, for the others only so long that those that can die have
    /// died. What has been written can be read all the same. Precondition: it has not been called before.
    child_exit end() noexcept {
        if (is_ours())
            ::kill(-id_, SIGKILL);
        else
            tie_.close(); // the kernel knows them by more than the number
        siginfo_t info{};
        int failed = 0;
        do failed = ::waitid(P_PID, static_cast<id_t>(id_), &info, WEXITED);
        while (failed != 0 && errno == EINTR);
        id_ = 0;
        // Once nobody holds the other end, they are gone: all of them, but for those that have closed it before.
        pollfd others{.fd = tie_.get(), .events = 0, .revents = 0};
        if (tie_) (void)::poll(&others, 1, death_takes_ms);
        tie_.close();
        if (failed != 0) return {};
        return {info.si_code == CLD_EXITED ? child_exit::kind::code : child_exit::kind::signal, info.si_status};
    }

private:
    static constexpr int death_takes_ms = 200;

    child_process(pid_t id, descriptor out, descriptor err, descriptor tie) noexcept
        : id_{id},
          out_{std::move(out)},
          err_{std::move(err)},
          tie_{std::move(tie)} {}

    static result<descriptor> open_nothing() {
        descriptor nothing{::open("/dev/null", O_RDONLY | O_CLOEXEC)};
        if (!nothing) return refused("no /dev/null", errno);
        return nothing;
    }

    static std::vector<char*> pointers(std::string const* first, std::vector<std::string> const& rest) {
        std::vector<char*> all;
        all.reserve(rest.size() + 2);
        if (first) all.push_back(const_cast<char*>(first->c_str())); // execve takes them so, and writes nothing
        for (auto const& one : rest) all.push_back(const_cast<char*>(one.c_str()));
        all.push_back(nullptr);
        return all;
    }

    static error explained(child_options const& options, launch_failure failed) {
        switch (failed.step) {
        case launch_step::descriptors:
            break;
        case launch_step::directory:
            return refused("cannot change to the working directory " + in_quotes(options.working_directory),
                           failed.why);
        case launch_step::program:
            auto const what = "cannot run " + in_quotes(options.program);
            if (failed.why == ENOEXEC)
                return error{errc::job_failed, what + ": it is no program of this machine, and does not begin with #!"};
            if (failed.why == ENOENT && ::access(options.program.c_str(), F_OK) == 0)
                return error{errc::job_failed, what + ": the interpreter that its first line names is missing"};
            return refused(what, failed.why);
        }
        return refused("cannot prepare the process", failed.why);
    }

    /// Whether there is still a process of ours by this number. There is, unless somebody else takes the exit codes of our
    /// children away; the number may then mean anybody.
    bool is_ours() const noexcept {
        siginfo_t info{};
        return ::waitid(P_PID, static_cast<id_t>(id_), &info, WEXITED | WNOHANG | WNOWAIT) == 0;
    }

    pid_t id_; ///< 0: reaped
    descriptor out_, err_, tie_, exited_;
};

} // namespace elasticjob::detail
#endif // ELASTICJOB_EXECUTION_CHILD_PROCESS_HPP
