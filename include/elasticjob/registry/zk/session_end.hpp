// SPDX-License-Identifier: Apache-2.0
/// \file \brief `session_end`: ends the session of a dead process, in ZooKeeper's wire format.
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

/// One exchange with one server. It takes over the session and closes it in a single message, so it can never take over
/// a session, and thereby keep it alive, without closing it. It neither waits nor holds a connection: its owner sends
/// `request()` and passes on the reply. A client of libzookeeper would need two threads, and its pings would keep the
/// session alive while it could not close it.
class session_end {
public:
    explicit session_end(session_key const& key) noexcept : id_{key.id} {}

    /// `digest` is `user:password`, or empty. A server that requires authentication refuses to close the session
    /// without it.
    static std::string request(session_key const& key, std::string_view digest);

    enum class outcome : std::uint8_t {
        pending, ///< more bytes must arrive
        over,    ///< the session has ended, now or earlier
        again,   ///< this server cannot end it now
    };

    /// Call it with the bytes that the server has sent.
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
