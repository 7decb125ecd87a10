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
#include <string>
#include <string_view>

#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

namespace elasticjob::detail {

/// The number of lines lost since standard error last accepted a line. One number for the process, because the process
/// has one such stream.
inline std::atomic<std::uint64_t> untold_lines{0};

/// Writes without waiting. Fails with EOPNOTSUPP if the system cannot do that for this descriptor.
template <class Text>
ssize_t write_now(int descriptor, Text text) {
    struct stat file {};
    auto const kind = ::fstat(descriptor, &file) == 0 ? file.st_mode & S_IFMT : 0U;
    if (kind == S_IFSOCK) return ::send(descriptor, text.data(), text.size(), MSG_DONTWAIT);
#ifdef RWF_NOWAIT
    iovec const all{const_cast<char*>(text.data()), text.size()};
    if (kind == S_IFIFO) return ::pwritev2(descriptor, &all, 1, -1, RWF_NOWAIT); // needs a recent kernel
#endif
    errno = EOPNOTSUPP;
    return -1;
}

/// Returns false if the descriptor did not accept the whole text at once, for example because a pipe is full or a
/// terminal is stopped.
template <class Text>
bool write_at_once(int descriptor, Text text) {
    while (!text.empty()) {
        auto const part = text.substr(0, PIPE_BUF);
        auto written = write_now(descriptor, part);
        if (written < 0 && (errno == EOPNOTSUPP || errno == ENOSYS)) {
            pollfd ready{descriptor, POLLOUT, 0}; // a ready pipe has room for at least one part
            auto const count = ::poll(&ready, 1, 0);
            if (count < 0 && errno == EINTR) continue;
            if (count != 1 || (ready.revents & POLLOUT) == 0) return false;
            written = ::write(descriptor, part.data(), part.size());
        }
        if (written < 0 && errno != EINTR) return false;
        if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
    }
    return true;
}

/// Writes one line, which is passed without its line end. Escapes unfit characters (core/line_text.hpp). If standard
/// error does not accept the line at once, the line is lost; the next accepted line states how many were lost. Threads:
/// any.
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
