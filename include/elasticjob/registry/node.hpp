// SPDX-License-Identifier: Apache-2.0
/// \file \brief What a registry holds and tells: nodes, their versions, sessions.
#ifndef ELASTICJOB_REGISTRY_NODE_HPP
#define ELASTICJOB_REGISTRY_NODE_HPP

#include <elasticjob/core/chrono.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace elasticjob {

/// Orders all writes of a registry: ZooKeeper's zxid, etcd's revision. Grows strictly.
using revision = std::int64_t;

/// Counts the writes of one node's data, from 0 at its creation. A node that is deleted and created again starts anew,
/// so a version alone does not tell the two apart; `node_stat::created` does.
using node_version = std::int32_t;

/// Stands for "whatever version it has", and in a check for "it exists".
inline constexpr node_version any_version = -1;

struct node_stat {
    revision created = 0;
    revision modified = 0;
    node_version version = 0;
    std::int32_t children = 0;       ///< how many it has
    std::int64_t owner = 0;          ///< the session that an ephemeral node ends with; 0 for a persistent one
    std::int64_t modified_at_ms = 0; ///< by the server's clock, since 1970
    revision children_changed = 0;   ///< when a child was last created or removed, or else the node itself created

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

/// Numbers the sessions that one registry object has had, from 1. A write carries the generation that it was prepared
/// under and cannot land under another, so that a transparent reconnect never lets an old decision slip out.
struct session_generation {
    std::uint64_t value = 0;

    /// "The one that is current when the operation starts."
    static constexpr session_generation current() noexcept { return {0}; }
    friend bool operator==(session_generation, session_generation) = default;
};

enum class session_state : std::uint8_t {
    connecting, ///< no session yet, or the next one is on its way
    connected,
    suspended, ///< the connection is down; the session may still be alive, its ephemeral nodes too
    closed,    ///< for good
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

/// A registry's session at one moment. The generation changes as soon as the former session is known or assumed lost.
struct session_view {
    session_generation generation;
    std::int64_t id = 0; ///< as in `node_stat::owner`; 0 while there is none
    session_state state = session_state::connecting;
    std::chrono::milliseconds timeout{}; ///< as negotiated with the server
};

/// What one request may hold. Checked before sending, because a server answers too large a one by cutting the line.
struct registry_limits {
    std::size_t request_bytes_max;
    std::size_t operations_max; ///< of one transaction
};

} // namespace elasticjob
#endif // ELASTICJOB_REGISTRY_NODE_HPP
