// SPDX-License-Identifier: Apache-2.0
/// \file \brief `socket_limit`: breaks off what somebody does with a socket when it takes too long, or is asked to stop.
#ifndef ELASTICJOB_EXECUTION_SOCKET_LIMIT_HPP
#define ELASTICJOB_EXECUTION_SOCKET_LIMIT_HPP

#include <elasticjob/core/chrono.hpp>
#include <elasticjob/core/clock.hpp>
#include <elasticjob/execution/descriptor.hpp>

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <stop_token>
#include <thread>

#include <fcntl.h>
#include <sys/socket.h>

namespace elasticjob::detail {

/// Shuts the socket at the deadline, or when the token asks: who waits for it, be it for a connection, wakes up then. It has
/// a descriptor of its own for the socket, so that nobody else's can be hit by whatever the other one is closed and opened
/// as. A thread of its own waits, because whoever asks is not to wait for anything.
/// Threads: that of who uses the socket; the token's source is asked from any.
class socket_limit {
public:
    enum class reason : std::uint8_t { none, asked, too_late };

    /// Throws std::system_error if there can be no thread.
    socket_limit(mono_time deadline, std::stop_token stop)
        : thread_{[this, deadline] { watch(deadline); }},
          on_stop_{std::move(stop), asker{*this}} {}
    socket_limit(socket_limit const&) = delete;
    socket_limit& operator=(socket_limit const&) = delete;
    ~socket_limit() { (void)end(); }

    /// From now on it is about this socket.
    void take(int socket) {
        std::lock_guard const lock{mutex_};
        socket_ = descriptor{::fcntl(socket, F_DUPFD_CLOEXEC, 0)};
    }

    /// It is over. Whether it was broken off before, and why.
    reason end() {
        if (!thread_.joinable()) return why_;
        tell(is_over_);
        thread_.join();
        return why_;
    }

private:
    struct asker {
        socket_limit& limit;
        void operator()() const { limit.tell(limit.is_asked_); }
    };

    void tell(bool& what) {
        std::lock_guard const lock{mutex_};
        what = true;
        news_.notify_all();
    }

    void watch(mono_time deadline) {
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

    std::mutex mutex_;
    std::condition_variable news_;
    descriptor socket_;
    bool is_over_ = false, is_asked_ = false;
    reason why_ = reason::none;
    std::thread thread_;
    std::stop_callback<asker> on_stop_; ///< last: it uses all of the above
};

} // namespace elasticjob::detail
#endif // ELASTICJOB_EXECUTION_SOCKET_LIMIT_HPP
