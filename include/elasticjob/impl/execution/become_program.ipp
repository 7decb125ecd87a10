// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_EXECUTION_BECOME_PROGRAM_IPP
#define ELASTICJOB_IMPL_EXECUTION_BECOME_PROGRAM_IPP

#include <elasticjob/execution/become_program.hpp>

namespace elasticjob::detail {

ELASTICJOB_DECL bool tie_to_parent(int tie) noexcept {
    if (::fcntl(tie, F_SETOWN, -::getpid()) != 0 || ::fcntl(tie, F_SETSIG, SIGKILL) != 0 ||
        ::fcntl(tie, F_SETFL, O_ASYNC) != 0)
        return false;
    pollfd parent{.fd = tie, .events = 0, .revents = 0}; // the parent may have gone before we requested the signal
    return ::poll(&parent, 1, 0) == 0;
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_IMPL_EXECUTION_BECOME_PROGRAM_IPP
