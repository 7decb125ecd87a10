// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_EXECUTION_CHILD_PROCESS_IPP
#define ELASTICJOB_IMPL_EXECUTION_CHILD_PROCESS_IPP

#include <elasticjob/core/line_text.hpp>
#include <elasticjob/execution/child_process.hpp>

namespace elasticjob::detail {

ELASTICJOB_DECL result<child_process> child_process::start(child_options const& options) {
    ELASTICJOB_TRY(auto in, open_nothing());
    ELASTICJOB_TRY(auto out, make_pipe());
    ELASTICJOB_TRY(auto err, make_pipe());
    ELASTICJOB_TRY(auto tie, make_pipe());
    ELASTICJOB_TRY(auto report, make_pipe());
    for (auto const* read : {&out.read, &err.read, &report.read}) ::fcntl(read->get(), F_SETFL, O_NONBLOCK);
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
                      .line = life_line,
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

    // From here on, on every path, the process ends with this object.
    child_process child{id, std::move(out.read), std::move(err.read), std::move(tie.write)};
    report.write.close();
    tie.read.close();
    launch_failure failed{};
    // With vfork, nothing is left to wait for; the thread sanitizer forks instead. A process that another thread forks
    // meanwhile may keep the other end open, so the wait has a limit.
    pollfd reported{report.read.get(), POLLIN, 0};
    ::poll(&reported, 1, report_timeout_ms);
    if (::read(report.read.get(), &failed, sizeof failed) == sizeof failed) return explained(options, failed);
    child.exited_ = descriptor{static_cast<int>(::syscall(SYS_pidfd_open, id, 0))}; // glibc 2.36 has it for C only
    if (!child.exited_ && errno == ESRCH) return error{errc::job_failed, in_quotes(options.name) + exit_code_taken};
    if (!child.exited_) return refused("no descriptor of the process", errno);
    return child;
}

ELASTICJOB_DECL child_process::child_process(child_process&& other) noexcept
    : id_{std::exchange(other.id_, 0)},
      out_{std::move(other.out_)},
      err_{std::move(other.err_)},
      tie_{std::move(other.tie_)},
      exited_{std::move(other.exited_)} {}

ELASTICJOB_DECL child_process::~child_process() {
    if (id_) (void)end();
}

ELASTICJOB_DECL void child_process::signal(int number) const noexcept {
    if (is_ours()) ::kill(-id_, number);
}

ELASTICJOB_DECL child_exit child_process::end() noexcept {
    if (is_ours())
        ::kill(-id_, SIGKILL);
    else
        tie_.close(); // the kernel identifies them by more than the number
    siginfo_t info{};
    int failed = 0;
    do failed = ::waitid(P_PID, static_cast<id_t>(id_), &info, WEXITED);
    while (failed != 0 && errno == EINTR);
    id_ = 0;
    // Once no process holds the other end, all of them are gone, except those that have closed it before.
    pollfd others{.fd = tie_.get(), .events = 0, .revents = 0};
    if (tie_) (void)::poll(&others, 1, death_takes_ms);
    tie_.close();
    if (failed != 0) return {};
    return {info.si_code == CLD_EXITED ? child_exit::kind::code : child_exit::kind::signal, info.si_status};
}

ELASTICJOB_DECL child_process::child_process(pid_t id, descriptor out, descriptor err, descriptor tie) noexcept
    : id_{id},
      out_{std::move(out)},
      err_{std::move(err)},
      tie_{std::move(tie)} {}

ELASTICJOB_DECL result<descriptor> child_process::open_nothing() {
    descriptor nothing{::open("/dev/null", O_RDONLY | O_CLOEXEC)};
    if (!nothing) return refused("no /dev/null", errno);
    return nothing;
}

ELASTICJOB_DECL std::vector<char*> child_process::pointers(std::string const* first,
                                                           std::vector<std::string> const& rest) {
    std::vector<char*> all;
    all.reserve(rest.size() + 2);
    if (first) all.push_back(const_cast<char*>(first->c_str())); // execve requires this type, but does not write to it
    for (auto const& one : rest) all.push_back(const_cast<char*>(one.c_str()));
    all.push_back(nullptr);
    return all;
}

/// The kernel limits the size of each text, and their total size.
ELASTICJOB_DECL error child_process::too_large(std::string const& what, child_options const& options) {
    std::size_t all = 0, longest = 0;
    for (auto const* const some : {&options.arguments, &options.environment})
        for (auto const& one : *some) {
            all += one.size() + 1;
            longest = std::max(longest, one.size() + 1);
        }
    return error{errc::too_large,
                 what + ": its arguments and environment have " + std::to_string(all) + " bytes, the longest of them " +
                     std::to_string(longest) +
                     "; Linux takes at most 131072 bytes for one, and a quarter of the stack's limit for "
                     "all: the parameters of job and item must be shorter"};
}

ELASTICJOB_DECL error child_process::explained(child_options const& options, launch_failure failed) {
    switch (failed.step) {
    case launch_step::descriptors:
        break;
    case launch_step::directory:
        return refused("cannot change to the working directory " + in_quotes(options.working_directory), failed.why);
    case launch_step::program:
        // A relative path starts at the working directory of the new process.
        auto const path = std::filesystem::path{options.working_directory} / options.program;
        auto const what = "cannot run " + in_quotes(path.native());
        if (failed.why == ENOEXEC)
            return error{errc::job_failed, what + ": it is no program of this machine, and does not begin with #!"};
        if (failed.why == ENOENT && ::access(path.c_str(), F_OK) == 0)
            return error{errc::job_failed, what + ": the interpreter that its first line names is missing"};
        if (failed.why == E2BIG) return too_large(what, options);
        return refused(what, failed.why);
    }
    return refused("cannot prepare the process", failed.why);
}

ELASTICJOB_DECL bool child_process::is_ours() const noexcept {
    siginfo_t info{};
    return ::waitid(P_PID, static_cast<id_t>(id_), &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_IMPL_EXECUTION_CHILD_PROCESS_IPP
