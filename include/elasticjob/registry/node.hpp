// SPDX-License-Identifier: Apache-2.0
/// \file \brief The basic types of a registry: nodes, versions, sessions.
#ifndef ELASTICJOB_REGISTRY_NODE_HPP
#define ELASTICJOB_REGISTRY_NODE_HPP

#include <elasticjob/core/chrono.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace elasticjob {

/// Numbers all writes of a registry in order: ZooKeeper's zxid, etcd's revision. Strictly increasing.
using revision = std::int64_t;

/// Counts the writes of one node's data, from 0 at its creation. If a node is deleted and created again, its version
/// starts at 0 again, so use `node_stat::created` to tell the two nodes apart.
using node_version = std::int32_t;

/// Accepts any version; in a check it means that the node exists.
inline constexpr node_version any_version = -1;

struct node_stat {
    revision created = 0;
    revision modified = 0;
    node_version version = 0;
    std::int32_t children = 0;       ///< the number of children
    std::int64_t owner = 0;          ///< the session of an ephemeral node; 0 for a persistent one
    std::int64_t modified_at_ms = 0; ///< by the server's clock, since 1970
    revision children_changed = 0;   ///< of the last creation or removal of a child, or else of the node's own creation

    friend bool operator==(node_stat const&, node_stat const&) = default;
};

struct node {
    std::string data;
    node_stat stat;

    friend bool operator==(node const&, node const&) = default;
};

enum class create_mode : std::uint8_t { persistent, ephemeral, persistent_sequential, ephemeral_sequential };

constexpr bool is_ephemeral(create_mode m) noexcept {
    return m == create_mode::ephemeral || m == create_mode::ephemeral_sequential;
}
constexpr bool is_sequential(create_mode m) noexcept {
    return m == create_mode::persistent_sequential || m == create_mode::ephemeral_sequential;
}

/// Numbers the sessions of one registry object, from 1. A write names the generation for which it was prepared, and
/// fails under any other. So a decision made in one session never takes effect in the next one.
struct session_generation {
    std::uint64_t value = 0;

    /// The generation that is current when the operation starts.
    static constexpr session_generation current() noexcept { return {0}; }
    friend bool operator==(session_generation, session_generation) = default;
};

enum class session_state : std::uint8_t {
    connecting, ///< no session yet, or the next one is being opened
    connected,
    suspended, ///< the connection is down; the session may still be alive, its ephemeral nodes too
    closed,    ///< permanently
};

constexpr std::string_view name_of(session_state s) noexcept {
    switch (s) {
    case session_state::connecting:
        return "connecting";
    case session_state::connected:
        return "connected";
    case session_state::suspended:
        return "suspended";
    case session_state::closed:
        return "closed";
    }
    return "unknown";
}

/// A registry's session at one moment. The generation changes as soon as the registry knows or assumes that the session
/// is lost.
struct session_view {
    session_generation generation;
    std::int64_t id = 0; ///< as in `node_stat::owner`; 0 while there is none
    session_state state = session_state::connecting;
    std::chrono::milliseconds timeout{}; ///< as negotiated with the server

    /// Whether that session is alive and connected.
    bool is_connected(session_generation g) const noexcept {
        return generation == g && state == session_state::connected;
    }
};

/// The limits of one request. The registry checks them before sending, because a server closes the connection when a
/// request is too large.
struct registry_limits {
    std::size_t request_bytes_max;
    std::size_t operations_max; ///< of one transaction
    /// What each operation counts beyond `operation::bytes`, because the registry makes it longer.
    std::size_t more_bytes_each = 0;

    /// The bytes of operations that have so many together: what counts for `request_bytes_max`.
    constexpr std::size_t counted(std::size_t operations, std::size_t bytes) const noexcept {
        return bytes + operations * more_bytes_each;
    }
};

} // namespace elasticjob
#endif // ELASTICJOB_REGISTRY_NODE_HPP
