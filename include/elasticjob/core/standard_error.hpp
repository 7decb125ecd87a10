// SPDX-License-Identifier: Apache-2.0
/// \file \brief Lines on standard error, for which nobody waits.
#ifndef ELASTICJOB_CORE_STANDARD_ERROR_HPP
#define ELASTICJOB_CORE_STANDARD_ERROR_HPP

#include <elasticjob/core/line_text.hpp>

#include <atomic>
#include <cerrno>
#include <climits> // PIPE_BUF
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

namespace elasticjob::detail {

/// Lines that standard error has not taken since the last one that it took. The stream is the process's, and so are they.
inline std::atomic<std::uint64_t> untold_lines{0};

/// A write that does not wait, or fails: with EOPNOTSUPP where there is no way to say so.
template <class Text>
ssize_t write_now(int descriptor, Text text) {
    struct stat file {};
    auto const kind = ::fstat(descriptor, &file) == 0 ? file.st_mode & S_IFMT : 0U;
    if (kind == S_IFSOCK) return ::send(descriptor, text.data(), text.size(), MSG_DONTWAIT);
#ifdef RWF_NOWAIT
    iovec const all{const_cast<char*>(text.data()), text.size()};
    if (kind == S_IFIFO) return ::pwritev2(descriptor, &all, 1, -1, RWF_NOWAIT); // newer kernels
#endif
    errno = EOPNOTSUPP;
    return -1;
}

/// False if not all of it could be written without waiting: a pipe that is full, a terminal that has been stopped.
template <class Text>
bool write_at_once(int descriptor, Text text) {
    while (!text.empty()) {
        auto const part = text.substr(0, PIPE_BUF);
        auto written = write_now(descriptor, part);
        if (written < 0 && (errno == EOPNOTSUPP || errno == ENOSYS)) {
            pollfd ready{descriptor, POLLOUT, 0}; // a pipe that is ready has room for so much
            if (::poll(&ready, 1, 0) != 1 || (ready.revents & POLLOUT) == 0) return false;
            written = ::write(descriptor, part.data(), part.size());
        }
        if (written < 0 && errno != EINTR) return false;
        if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
    }
    return true;
}

/// One line, given without its end. What it must not have in it is escaped (core/line_text.hpp). It is lost if
/// standard error does not take it at once; the next one that is taken says how many were. Threads: any.
template <class Line>
void tell_standard_error(Line const& text) {
    Line line;
    append_line_text(line, text);
    auto const untold = untold_lines.exchange(0, std::memory_order_relaxed);
    if (untold > 0)
        line = "elasticjob: lines missing here, because nobody read in time: " + std::to_string(untold) + "\n" + line;
    line += '\n';
    if (!write_at_once(STDERR_FILENO, std::string_view{line}))
        untold_lines.fetch_add(untold + 1, std::memory_order_relaxed);
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_CORE_STANDARD_ERROR_HPP
