// SPDX-License-Identifier: Apache-2.0
/// \file \brief Keeps SIGPIPE from a thread for a while.
#ifndef ELASTICJOB_EXECUTION_NO_SIGPIPE_HPP
#define ELASTICJOB_EXECUTION_NO_SIGPIPE_HPP

#include <cerrno>
#include <csignal>
#include <ctime>

namespace elasticjob::detail {

/// While it lives, writing to what nobody reads any more is an error in this thread, and no signal, whose default is the end
/// of the process. What others have the signal do is left as it is.
class no_sigpipe {
public:
    no_sigpipe() noexcept {
        sigset_t pending;
        sigpending(&pending);
        was_pending_ = sigismember(&pending, SIGPIPE) == 1;
        sigemptyset(&only_);
        sigaddset(&only_, SIGPIPE);
        pthread_sigmask(SIG_BLOCK, &only_, &before_);
    }
    no_sigpipe(no_sigpipe const&) = delete;
    no_sigpipe& operator=(no_sigpipe const&) = delete;
    ~no_sigpipe() {
        timespec const at_once{};
        if (!was_pending_)
            while (sigtimedwait(&only_, nullptr, &at_once) < 0 && errno == EINTR) {
            }
        pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    }

private:
    sigset_t only_, before_;
    bool was_pending_ = false;
};

} // namespace elasticjob::detail
#endif // ELASTICJOB_EXECUTION_NO_SIGPIPE_HPP
