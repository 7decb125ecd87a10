// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_EXECUTION_SOCKET_LIMIT_IPP
#define ELASTICJOB_IMPL_EXECUTION_SOCKET_LIMIT_IPP

#include <elasticjob/execution/socket_limit.hpp>

namespace elasticjob::detail {

ELASTICJOB_DECL socket_limit::socket_limit(mono_time deadline, std::stop_token stop)
    : thread_{[this, deadline] { watch(deadline); }},
      on_stop_{std::move(stop), asker{*this}} {}

ELASTICJOB_DECL void socket_limit::take(int socket) {
    std::lock_guard const lock{mutex_};
    socket_ = descriptor{::fcntl(socket, F_DUPFD_CLOEXEC, 0)};
}

ELASTICJOB_DECL auto socket_limit::end() -> reason {
    if (!thread_.joinable()) return why_;
    tell(is_over_);
    thread_.join();
    return why_;
}

ELASTICJOB_DECL void socket_limit::tell(bool& what) {
    std::lock_guard const lock{mutex_};
    what = true;
    news_.notify_all();
}

ELASTICJOB_DECL void socket_limit::watch(mono_time deadline) {
    std::unique_lock lock{mutex_};
    news_.wait_until(lock, deadline, [&] { return is_over_ || is_asked_; });
    if (is_over_) return;
    why_ = is_asked_ ? reason::asked : reason::too_late;
    // Until they have noticed: a socket that is not connected yet cannot be shut, and another address may be tried.
    while (!is_over_) {
        if (socket_) ::shutdown(socket_.get(), SHUT_RDWR);
        news_.wait_for(lock, std::chrono::milliseconds{10}, [&] { return is_over_; });
    }
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_IMPL_EXECUTION_SOCKET_LIMIT_IPP
