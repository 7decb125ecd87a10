// SPDX-License-Identifier: Apache-2.0
/// \file \brief Keeps SIGPIPE from a thread for a while.
#ifndef ELASTICJOB_EXECUTION_NO_SIGPIPE_HPP
#define ELASTICJOB_EXECUTION_NO_SIGPIPE_HPP

#include <elasticjob/core/decl.hpp>

#include <cerrno>
#include <csignal>
#include <ctime>

namespace elasticjob::detail {

/// While it lives, writing to what nobody reads any more is an error in this thread, and no signal, whose default is the end
/// of the process. What others have the signal do is left as it is.
class no_sigpipe {
public:
    no_sigpipe() noexcept;
    no_sigpipe(no_sigpipe const&) = delete;
    no_sigpipe& operator=(no_sigpipe const&) = delete;
    ~no_sigpipe();

private:
    sigset_t only_, before_;
    bool was_pending_ = false;
};

} // namespace elasticjob::detail

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/execution/no_sigpipe.ipp>
#endif
#endif // ELASTICJOB_EXECUTION_NO_SIGPIPE_HPP
