// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_REGISTRY_SESSION_GUARDIAN_IPP
#define ELASTICJOB_IMPL_REGISTRY_SESSION_GUARDIAN_IPP

#include <elasticjob/registry/session_guardian.hpp>

#include <elasticjob/core/life_line.hpp>
#include <elasticjob/core/standard_streams.hpp>
#include <elasticjob/registry/zk/guardian_process.hpp>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <csignal>
#include <new>
#include <string>
#include <system_error>

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace elasticjob {

namespace zk {

/// The resources that must be released if the start fails.
struct guardian_parts {
    guarded_sessions* sessions = nullptr;
    int worker = -1;
    int line[2] = {-1, -1};  ///< read end, write end
    int alive[2] = {-1, -1}; ///< the same

    guardian_parts() = default;
    guardian_parts(guardian_parts const&) = delete;
    guardian_parts& operator=(guardian_parts const&) = delete;
    ~guardian_parts() {
        for (int const d : {worker, line[0], line[1], alive[0], alive[1]})
            if (d >= 0) ::close(d);
        if (sessions) ::munmap(sessions, sizeof(guarded_sessions));
    }
};

ELASTICJOB_DECL error no_guardian(std::string const& what, int why) {
    return error{errc::overloaded, "no session guardian: " + what + ": " + std::generic_category().message(why)};
}

/// Returns 0 if the number cannot be determined.
ELASTICJOB_DECL int count_threads() {
    auto* const all = ::opendir("/proc/self/task");
    if (!all) return 0;
    int count = 0;
    while (auto const* const one = ::readdir(all))
        if (one->d_name[0] != '.') ++count;
    ::closedir(all);
    return count;
}

/// The guardian is a grandchild of this process, so a program that waits for its children does not wait for it.
ELASTICJOB_DECL result<void> start_guardian(guardian_parts& parts) {
    // The guardian keeps these signals blocked, because no handler of the worker may run in it.
    sigset_t all, before;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    pid_t const between = ::fork();
    if (between == 0) {
        if (::fork() != 0) ::_exit(0); // if this fork fails, the pipe is closed without a byte
        auto const kept = guardian_process::settle({parts.worker, parts.line[0], parts.alive[1]});
        char const ready = 1;
        if (kept.is_alive >= 0 && ::write(kept.is_alive, &ready, 1) == 1) {
            guardian_process guardian{*parts.sessions, kept};
            guardian.run();
        }
        ::_exit(0);
    }
    int const why = errno;
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    if (between < 0) return no_guardian("fork", why);
    while (::waitpid(between, nullptr, 0) < 0 && errno == EINTR) {
    }
    return success();
}

} // namespace zk

ELASTICJOB_DECL result<SessionGuardian> SessionGuardian::start() {
    if (detail::life_line != -1)
        return error{errc::invalid_argument,
                     "this process, or the one that it is a fork of, has a session guardian already"};
    auto const threads = zk::count_threads();
    if (threads == 0) return error{errc::invalid_argument, "no session guardian: /proc is needed to count the threads"};
    if (threads > 1)
        return error{errc::wrong_thread, "a session guardian must be started before there are threads, at the "
                                         "beginning of main: there are " +
                                             std::to_string(threads) + " now"};
    detail::occupy_standard_streams();
    zk::guardian_parts parts;
    auto* const memory =
        ::mmap(nullptr, sizeof(zk::guarded_sessions), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return zk::no_guardian("memory", errno);
    ::madvise(memory, sizeof(zk::guarded_sessions), MADV_DONTDUMP); // it contains passwords
    parts.sessions = new (memory) zk::guarded_sessions;
    parts.sessions->worker = ::getpid();
    parts.worker = static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0));
    if (parts.worker < 0) return zk::no_guardian("pidfd", errno);
    if (::pipe2(parts.line, O_CLOEXEC) != 0 || ::pipe2(parts.alive, O_CLOEXEC) != 0)
        return zk::no_guardian("pipe", errno);
    ELASTICJOB_CHECK(zk::start_guardian(parts));

    // The guardian writes into the pipe when it is ready. If it does not exist, no process holds the other end.
    ::close(std::exchange(parts.alive[1], -1));
    constexpr int timeout_ms = 10'000;
    pollfd word{parts.alive[0], POLLIN, 0};
    char ready = 0;
    while (::poll(&word, 1, timeout_ms) < 0 && errno == EINTR) {
    }
    if (!(word.revents & POLLIN) || ::read(parts.alive[0], &ready, 1) != 1)
        return error{errc::overloaded, "no session guardian: its process ended, perhaps because it may not call "
                                       "close_range, or did not begin within 10 s"};
    SessionGuardian guardian{std::exchange(parts.sessions, nullptr), std::exchange(parts.line[1], -1),
                             std::exchange(parts.alive[0], -1)};
    detail::life_line = guardian.line_;
    return guardian;
}

ELASTICJOB_DECL SessionGuardian& SessionGuardian::operator=(SessionGuardian&& other) noexcept {
    std::swap(sessions_, other.sessions_);
    std::swap(line_, other.line_);
    std::swap(alive_, other.alive_);
    return *this;
}

ELASTICJOB_DECL SessionGuardian::~SessionGuardian() {
    if (!sessions_) return;
    if (sessions_->worker == ::getpid()) {
        assert(std::ranges::none_of(sessions_->places, [](auto const& p) { return p.is_taken.load(); }) &&
               "a guardian must outlive its registries");
        sessions_->is_dismissed = true;
    }
    detail::life_line = -1;
    ::close(line_);
    ::close(alive_);
    ::munmap(sessions_, sizeof(zk::guarded_sessions));
}

ELASTICJOB_DECL bool SessionGuardian::is_alive() const noexcept {
    pollfd end{alive_, 0, 0};
    int ended = 0;
    do ended = ::poll(&end, 1, 0);
    while (ended < 0 && errno == EINTR); // a signal may end even a wait of no time
    return ended == 0;
}

} // namespace elasticjob
#endif // ELASTICJOB_IMPL_REGISTRY_SESSION_GUARDIAN_IPP
