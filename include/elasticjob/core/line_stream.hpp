// SPDX-License-Identifier: Apache-2.0
/// \file \brief Writes lines to standard output and standard error without waiting long for a reader.
#ifndef ELASTICJOB_CORE_LINE_STREAM_HPP
#define ELASTICJOB_CORE_LINE_STREAM_HPP

#include <elasticjob/core/chrono.hpp>
#include <elasticjob/core/decl.hpp>

#include <atomic>
#include <cstdint>
#include <string_view>

namespace elasticjob::detail {

/// A stream of the process for lines of text. A line is lost if nobody reads it in time; the next accepted line states
/// how many were lost. A reader that has gone does not end the process by SIGPIPE.
///
/// Threads: any. Lines of up to PIPE_BUF bytes stay whole in a pipe; longer ones do if one thread writes at a time.
class line_stream {
public:
    explicit constexpr line_stream(int descriptor) noexcept : descriptor_{descriptor} {}

    /// Writes one line, which is passed without its line end. Waits up to `timeout` for a reader, but not if the last
    /// line was lost: so a reader that stands still costs that time once.
    void tell(std::string_view line, std::chrono::milliseconds timeout);

private:
    int const descriptor_;
    std::atomic<std::uint64_t> untold_{0};    ///< the number of lines lost since the last accepted one
    std::atomic<bool> is_within_line_{false}; ///< the last accepted text ended within a line
};

/// One for the process, because the process has one such stream.
inline constinit line_stream standard_output{1};
inline constinit line_stream standard_error{2}; ///< as above

} // namespace elasticjob::detail

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/core/line_stream.ipp>
#endif
#endif // ELASTICJOB_CORE_LINE_STREAM_HPP
