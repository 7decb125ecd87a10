// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_CORE_STANDARD_STREAMS_IPP
#define ELASTICJOB_IMPL_CORE_STANDARD_STREAMS_IPP

#include <elasticjob/core/standard_streams.hpp>

#include <cerrno>

#include <fcntl.h>
#include <unistd.h>

namespace elasticjob::detail {

ELASTICJOB_DECL void occupy_standard_streams() noexcept {
    for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; ++stream) {
        if (::fcntl(stream, F_GETFD) != -1 || errno != EBADF) continue;
        int const opened = ::open("/dev/null", O_RDWR); // the lowest free number
        if (opened >= 0 && opened != stream) ::close(opened);
    }
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_IMPL_CORE_STANDARD_STREAMS_IPP
