// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_CORE_LINE_STREAM_IPP
#define ELASTICJOB_IMPL_CORE_LINE_STREAM_IPP

#include <elasticjob/core/clock.hpp>
#include <elasticjob/core/line_stream.hpp>

#include <cerrno>
#include <climits> // PIPE_BUF
#include <cstddef>
#include <ctime>
#include <string>

#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

namespace elasticjob::detail {

/// While it lives, writes of this thread to a pipe that nobody reads any more fail with EPIPE. Otherwise SIGPIPE would
/// end the process.
class without_sigpipe {
public:
    without_sigpipe() noexcept {
        sigset_t pending;
        ::sigemptyset(&pending);
        ::sigpending(&pending);
        was_pending_ = ::sigismember(&pending, SIGPIPE) == 1;
        ::sigemptyset(&sigpipe_);
        ::sigaddset(&sigpipe_, SIGPIPE);
        ::pthread_sigmask(SIG_BLOCK, &sigpipe_, &before_);
    }
    ~without_sigpipe() {
        timespec const at_once{};
        while (!was_pending_ && ::sigtimedwait(&sigpipe_, nullptr, &at_once) < 0 && errno == EINTR) {
        }
        ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    }
    without_sigpipe(without_sigpipe const&) = delete;
    without_sigpipe& operator=(without_sigpipe const&) = delete;

private:
    sigset_t sigpipe_, before_;
    bool was_pending_;
};

/// Writes without waiting. Fails with EAGAIN if there is no room, and with EOPNOTSUPP if the system cannot do that for
/// this descriptor.
ELASTICJOB_DECL ssize_t write_now(int descriptor, std::string_view text) {
    struct stat file {};
    auto const kind = ::fstat(descriptor, &file) == 0 ? file.st_mode & S_IFMT : 0U;
    if (kind == S_IFSOCK) return ::send(descriptor, text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
#ifdef RWF_NOWAIT
    iovec const all{const_cast<char*>(text.data()), text.size()};
    if (kind == S_IFIFO) return ::pwritev2(descriptor, &all, 1, -1, RWF_NOWAIT); // needs a recent kernel
#endif
    errno = EOPNOTSUPP;
    return -1;
}

/// Waits until the descriptor accepts text or has failed; a ready pipe has room for at least PIPE_BUF bytes.
ELASTICJOB_DECL bool wait_for_room(int descriptor, mono_time until) {
    for (;;) {
        auto const left = std::chrono::ceil<std::chrono::milliseconds>(until - SystemClock{}.now());
        pollfd ready{descriptor, POLLOUT, 0};
        auto const count = ::poll(&ready, 1, left.count() > 0 ? static_cast<int>(left.count()) : 0);
        if (count < 0 && errno == EINTR) continue;
        return count == 1 && (ready.revents & POLLOUT) != 0;
    }
}

/// Returns the number of bytes that the descriptor accepted in time: fewer than all, for example, if a pipe is full,
/// has no reader any more, or a terminal is stopped.
ELASTICJOB_DECL std::size_t write_until(int descriptor, std::string_view text, mono_time until) {
    auto const size = text.size();
    while (!text.empty()) {
        auto const part = text.substr(0, PIPE_BUF);
        auto written = write_now(descriptor, part);
        if (written < 0 && (errno == EOPNOTSUPP || errno == ENOSYS)) {
            if (!wait_for_room(descriptor, until)) break;
            written = ::write(descriptor, part.data(), part.size());
        } else if (written < 0 && errno == EAGAIN && SystemClock{}.now() < until) {
            if (!wait_for_room(descriptor, until)) break;
            continue;
        }
        if (written < 0 && errno != EINTR) break;
        if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
    }
    return size - text.size();
}

ELASTICJOB_DECL void line_stream::tell(std::string_view line, std::chrono::milliseconds timeout) {
    std::string text;
    bool const was_within_line = is_within_line_.exchange(false, std::memory_order_relaxed);
    if (was_within_line) text += '\n';
    auto const untold = untold_.exchange(0, std::memory_order_relaxed);
    if (untold > 0)
        text += "elasticjob: lines missing here, because nobody read in time: " + std::to_string(untold) + "\n";
    auto const begin = text.size();
    text.append(line) += '\n';
    without_sigpipe const until_written;
    auto const written =
        write_until(descriptor_, text, SystemClock{}.now() + (untold > 0 ? timeout.zero() : timeout));
    if (written == text.size()) return;
    untold_.fetch_add(written < begin ? untold + 1 : 1, std::memory_order_relaxed);
    bool const ends_within_line = written == 0 ? was_within_line : text[written - 1] != '\n';
    is_within_line_.store(ends_within_line, std::memory_order_relaxed);
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_IMPL_CORE_LINE_STREAM_IPP
