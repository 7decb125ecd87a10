// SPDX-License-Identifier: Apache-2.0
/// \file \brief `session_end`: how to end the session of a process that is dead, in ZooKeeper's wire format.
#ifndef ELASTICJOB_REGISTRY_ZK_SESSION_END_HPP
#define ELASTICJOB_REGISTRY_ZK_SESSION_END_HPP

#include <elasticjob/core/decl.hpp>
#include <elasticjob/registry/zk/guarded_sessions.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace elasticjob::zk {

/// One conversation with one server. It takes over the session and closes it in a single message, so that no session is
/// taken over, and thereby kept alive, without being closed. Nothing here waits, and there is no connection yet: the
/// owner sends `request()` and passes on what comes back. A client of libzookeeper would do much more, in two threads,
/// and would keep the session alive by pings while it cannot close it.
class session_end {
public:
    explicit session_end(session_key const& key) noexcept : id_{key.id} {}

    /// `user:password` of the digest may be empty. A server that insists on authentication refuses to close otherwise.
    static std::string request(session_key const& key, std::string_view digest);

    enum class outcome : std::uint8_t {
        pending, ///< more must come
        over,    ///< the session has ended, now or before
        again,   ///< the server cannot help now
    };

    /// The server has sent this.
    outcome receive(std::string_view bytes);

private:
    outcome take(std::string_view packet);

    static constexpr std::size_t packet_bytes_max = 4096; ///< replies to these requests have less than 50

    std::int64_t id_;
    bool is_joined_ = false;
    std::string rest_;
};

} // namespace elasticjob::zk

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/registry/zk/session_end.ipp>
#endif
#endif // ELASTICJOB_REGISTRY_ZK_SESSION_END_HPP
