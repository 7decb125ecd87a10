// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_EXECUTION_NO_SIGPIPE_IPP
#define ELASTICJOB_IMPL_EXECUTION_NO_SIGPIPE_IPP

#include <elasticjob/execution/no_sigpipe.hpp>

namespace elasticjob::detail {

ELASTICJOB_DECL no_sigpipe::no_sigpipe() noexcept {
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGPIPE) == 1;
    sigemptyset(&only_);
    sigaddset(&only_, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &only_, &before_);
}

ELASTICJOB_DECL no_sigpipe::~no_sigpipe() {
    timespec const at_once{};
    if (!was_pending_)
        while (sigtimedwait(&only_, nullptr, &at_once) < 0 && errno == EINTR) {
        }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_IMPL_EXECUTION_NO_SIGPIPE_IPP
