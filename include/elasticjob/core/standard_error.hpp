// SPDX-License-Identifier: Apache-2.0
/// \file \brief Writes lines to standard error without waiting.
#ifndef ELASTICJOB_CORE_STANDARD_ERROR_HPP
#define ELASTICJOB_CORE_STANDARD_ERROR_HPP

#include <elasticjob/core/line_text.hpp>

#include <atomic>
#include <cerrno>
#include <climits> // PIPE_BUF
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <string>
#include <string_view>

#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

namespace elasticjob::detail {

/// The number of lines lost since standard error last accepted a line. One number for the process, because the process
/// has one such stream.
inline std::atomic<std::uint64_t> untold_lines{0};

/// Whether the last text that standard error accepted ended within a line, because there was no room for the rest.
inline std::atomic<bool> is_within_line{false};

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

/// Writes without waiting. Fails with EOPNOTSUPP if the system cannot do that for this descriptor.
template <class Text>
ssize_t write_now(int descriptor, Text text) {
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

/// Returns the number of bytes that the descriptor accepted at once: fewer than all, for example, if a pipe is full, has
/// no reader any more, or a terminal is stopped.
template <class Text>
std::size_t write_at_once(int descriptor, Text text) {
    auto const size = text.size();
    while (!text.empty()) {
        auto const part = text.substr(0, PIPE_BUF);
        auto written = write_now(descriptor, part);
        if (written < 0 && (errno == EOPNOTSUPP || errno == ENOSYS)) {
            pollfd ready{descriptor, POLLOUT, 0}; // a ready pipe has room for at least one part
            auto const count = ::poll(&ready, 1, 0);
            if (count < 0 && errno == EINTR) continue;
            if (count != 1 || (ready.revents & POLLOUT) == 0) break;
            written = ::write(descriptor, part.data(), part.size());
        }
        if (written < 0 && errno != EINTR) break;
        if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
    }
    return size - text.size();
}

/// Writes one line, which is passed without its line end. Escapes unfit characters (core/line_text.hpp). If standard
/// error does not accept the whole line at once, the line is lost; the next accepted line states how many were lost.
/// Threads: any.
template <class Line>
void tell_standard_error(Line const& text) {
    Line line;
    bool const was_within_line = is_within_line.exchange(false, std::memory_order_relaxed);
    if (was_within_line) line += '\n';
    auto const untold = untold_lines.exchange(0, std::memory_order_relaxed);
    if (untold > 0)
        line += "elasticjob: lines missing here, because nobody read in time: " + std::to_string(untold) + "\n";
    auto const begin = line.size();
    append_line_text(line, text);
    line += '\n';
    without_sigpipe const until_written;
    auto const written = write_at_once(STDERR_FILENO, std::string_view{line});
    if (written == line.size()) return;
    untold_lines.fetch_add(written < begin ? untold + 1 : 1, std::memory_order_relaxed);
    bool const ends_within_line = written == 0 ? was_within_line : line[written - 1] != '\n';
    is_within_line.store(ends_within_line, std::memory_order_relaxed);
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_CORE_STANDARD_ERROR_HPP
