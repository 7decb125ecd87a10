// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_REGISTRY_ZK_GUARDIAN_PROCESS_IPP
#define ELASTICJOB_IMPL_REGISTRY_ZK_GUARDIAN_PROCESS_IPP

#include <elasticjob/registry/zk/guardian_process.hpp>

#include <elasticjob/core/algorithm.hpp> // clamp, max, min
#include <elasticjob/registry/zk/options.hpp> // endpoints
#include <elasticjob/registry/zk/session_end.hpp>

#include <cerrno>
#include <csignal>
#include <ctime>
#include <string>
#include <vector>

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

namespace elasticjob::zk {

ELASTICJOB_DECL auto guardian_process::settle(ends e) noexcept -> ends {
    constexpr int kept = 3; // after standard input, output and error
    // First move all three to high numbers, so that no `dup2` below closes a descriptor that is still needed.
    int far[kept] = {e.worker, e.line, e.is_alive};
    for (int& d : far) d = ::fcntl(d, F_DUPFD, 2 * kept);
    int const nothing = ::open("/dev/null", O_RDWR);
    for (int const d : {far[0], far[1], far[2], nothing})
        if (d < 0) return {-1, -1, -1};
    // The guardian must not hold the worker's output open: a reader of that output would not see its end when the
    // worker ends.
    for (int d = 0; d < kept; ++d) ::dup2(nothing, d);
    for (int i = 0; i < kept; ++i) ::dup2(far[i], kept + i);
    // With the worker's end of the life line among its descriptors, the guardian would never see the worker's death.
    if (::close_range(2 * kept, ~0U, 0) != 0) return {-1, -1, -1};
    ::setsid(); // no terminal, and not in a process group that somebody may kill as a whole
    (void)!::chdir("/");
    ::prctl(PR_SET_NAME, "ej-guardian");
    return {kept, kept + 1, kept + 2};
}

ELASTICJOB_DECL void guardian_process::run() {
    if (!await_death()) return;
    std::vector<charge> left;
    for (auto const& p : all_.places)
        if (p.last().id != 0) left.push_back({&p});
    constexpr int pause_ms_max = 256;
    for (int pause_ms = 4; !left.empty(); pause_ms = std::min(2 * pause_ms, pause_ms_max)) {
        std::erase_if(left, [this](charge& c) { return try_to_end(c); });
        if (now() >= due_) return;
        if (!left.empty()) ::poll(nullptr, 0, pause_ms); // a pause before the servers are asked again
    }
}

ELASTICJOB_DECL auto guardian_process::now() noexcept -> clock_time {
    timespec t{};
    ::clock_gettime(CLOCK_BOOTTIME, &t);
    return std::chrono::seconds{t.tv_sec} + std::chrono::nanoseconds{t.tv_nsec};
}

ELASTICJOB_DECL bool guardian_process::await_death() noexcept {
    pollfd first[] = {{ends_.worker, POLLIN, 0}, {ends_.is_alive, 0, 0}};
    while (::poll(first, 2, -1) < 0 && errno == EINTR) {
    }
    if (all_.is_dismissed) return false;
    std::int32_t timeout_ms = 0;
    for (auto const& p : all_.places)
        if (p.last().id != 0) timeout_ms = std::max(timeout_ms, p.last().timeout_ms);
    if (timeout_ms == 0) return false;
    due_ = now() + std::chrono::milliseconds{timeout_ms};
    limit_life();
    // The worker has ended or has closed its end of a pipe. In the second case it is about to end, or exec has replaced
    // it by a program that may run for long. A process that still holds the life line works for the worker.
    return wait(ends_.worker, POLLIN, due_) && wait(ends_.line, 0, due_);
}

ELASTICJOB_DECL void guardian_process::limit_life() const noexcept {
    sigevent event{};
    event.sigev_notify = SIGEV_SIGNAL;
    event.sigev_signo = SIGKILL;
    timer_t id{};
    if (::timer_create(CLOCK_BOOTTIME, &event, &id) != 0)
        return; // the kernel refused the timer, so `due_` is the only limit, except while names are resolved
    auto const end = due_ + std::chrono::seconds{1};
    itimerspec at{};
    at.it_value.tv_sec = static_cast<time_t>(std::chrono::floor<std::chrono::seconds>(end).count());
    at.it_value.tv_nsec = static_cast<long>((end % std::chrono::seconds{1}).count());
    ::timer_settime(id, TIMER_ABSTIME, &at, nullptr);
}

ELASTICJOB_DECL bool guardian_process::wait(int descriptor, short events, clock_time limit) noexcept {
    for (;;) {
        auto const left = std::chrono::ceil<std::chrono::milliseconds>(limit - now()).count();
        if (left <= 0) return false;
        // The kernel does not count a suspension as waiting time, so this reads the clock now and then.
        pollfd one{descriptor, events, 0};
        auto const n = ::poll(&one, 1, static_cast<int>(std::min<std::int64_t>(left, 500)));
        if (n > 0) return true;
        if (n < 0 && errno != EINTR) return false;
    }
}

ELASTICJOB_DECL bool guardian_process::try_to_end(charge& c) const {
    auto const& key = c.place->last();
    auto const servers = endpoints(c.place->servers);
    // Sessions begin at different servers.
    auto const turn = static_cast<std::size_t>(key.id & 0xffff) + c.attempts++;
    std::string const server{servers[turn % servers.size()]};
    auto const colon = server.rfind(':');
    auto const host = server.substr(0, colon);

    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    if (::getaddrinfo(host.c_str(), server.c_str() + colon + 1, &hints, &found) != 0) return false;
    bool is_over = false;
    // A silent server must not use up the time in which another server could answer.
    std::chrono::milliseconds const timeout{std::clamp(key.timeout_ms / 10, 20, 1000)};
    for (auto const* a = found; a && !is_over && now() < due_; a = a->ai_next)
        is_over = end_at(*a, *c.place, std::min(due_, now() + timeout));
    ::freeaddrinfo(found);
    return is_over;
}

ELASTICJOB_DECL bool guardian_process::end_at(addrinfo const& server, guarded_sessions::place const& p,
                                              clock_time limit) const {
    struct closing {
        int number;
        ~closing() {
            if (number >= 0) ::close(number);
        }
    } const to{::socket(server.ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
    if (to.number < 0) return false;
    int const yes = 1;
    ::setsockopt(to.number, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    if (::connect(to.number, server.ai_addr, server.ai_addrlen) != 0 &&
        (errno != EINPROGRESS || !wait(to.number, POLLOUT, limit)))
        return false;
    // The whole message fits into the empty buffer of a new connection.
    auto const request = session_end::request(p.last(), p.digest);
    if (::send(to.number, request.data(), request.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(request.size()))
        return false;
    session_end end{p.last()};
    for (char buffer[512]; wait(to.number, POLLIN, limit);) {
        auto const n = ::recv(to.number, buffer, sizeof buffer, 0);
        if (n <= 0) return false;
        auto const so_far = end.receive({buffer, static_cast<std::size_t>(n)});
        if (so_far != session_end::outcome::pending) return so_far == session_end::outcome::over;
    }
    return false;
}

} // namespace elasticjob::zk
#endif // ELASTICJOB_IMPL_REGISTRY_ZK_GUARDIAN_PROCESS_IPP
