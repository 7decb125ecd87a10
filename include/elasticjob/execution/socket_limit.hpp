// SPDX-License-Identifier: Apache-2.0
/// \file \brief `socket_limit`: breaks off what somebody does with a socket when it takes too long, or is asked to stop.
#ifndef ELASTICJOB_EXECUTION_SOCKET_LIMIT_HPP
#define ELASTICJOB_EXECUTION_SOCKET_LIMIT_HPP

#include <elasticjob/core/chrono.hpp>
#include <elasticjob/core/clock.hpp>
#include <elasticjob/core/decl.hpp>
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
    socket_limit(mono_time deadline, std::stop_token stop);
    socket_limit(socket_limit const&) = delete;
    socket_limit& operator=(socket_limit const&) = delete;
    ~socket_limit() { (void)end(); }

    /// From now on it is about this socket.
    void take(int socket);

    /// It is over. Whether it was broken off before, and why.
    reason end();

private:
    struct asker {
        socket_limit& limit;
        void operator()() const { limit.tell(limit.is_asked_); }
    };

    void tell(bool& what);

    void watch(mono_time deadline);

    std::mutex mutex_;
    std::condition_variable news_;
    descriptor socket_;
    bool is_over_ = false, is_asked_ = false;
    reason why_ = reason::none;
    std::thread thread_;
    std::stop_callback<asker> on_stop_; ///< last: it uses all of the above
};

} // namespace elasticjob::detail

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/execution/socket_limit.ipp>
#endif
#endif // ELASTICJOB_EXECUTION_SOCKET_LIMIT_HPP
