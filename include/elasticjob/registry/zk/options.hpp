// SPDX-License-Identifier: Apache-2.0
/// \file \brief The options of a ZooKeeper registry, and their validation.
#ifndef ELASTICJOB_REGISTRY_ZK_OPTIONS_HPP
#define ELASTICJOB_REGISTRY_ZK_OPTIONS_HPP

#include <elasticjob/core/chrono.hpp>
#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/event_loop.hpp>
#include <elasticjob/core/path.hpp>
#include <elasticjob/core/result.hpp>

#include <charconv>
#include <limits>
#include <string>
#include <string_view>
#include <system_error> // errc
#include <utility>
#include <vector>

namespace elasticjob {

namespace zk {
class guarded_sessions;
} // namespace zk

/// The options of `ZkRegistry::connect`. Every member has a default.
struct zk_options {
    /// Comma-separated `host:port`. An IPv6 address has no brackets: `::1:2181`. A path after them is an error: use
    /// `name_space`.
    std::string servers = "127.0.0.1:2181";

    /// The prefix of every path: no element, or several, as in `department/billing`. Its node is created if it is
    /// missing.
    std::string name_space{};

    /// `user:password`, at most 1,000 bytes. Nodes are created for this user only; empty: for all users.
    std::string digest{};

    /// The time after which the server ends a silent session and removes its ephemeral nodes. The server may change it
    /// to its own minimum or maximum. At least 2 ms, and less than 12 days.
    std::chrono::milliseconds session_timeout{60'000};

    /// The longest time that `connect` waits. Each server gets an equal part of it, at most a third; if that one is
    /// silent, the next one is tried.
    std::chrono::milliseconds connection_timeout{15'000};

    /// The pause between the loss of a session and the attempt to open the next one. It doubles with each failure, up
    /// to `reconnect_pause_max`.
    std::chrono::milliseconds reconnect_pause{100};
    std::chrono::milliseconds reconnect_pause_max{10'000}; ///< see `reconnect_pause`

    /// A loop that is shared with others; it must outlive the registry. Null: the registry has its own loop.
    event_loop* loop = nullptr;

    /// `sessions()` of a `SessionGuardian`, which must outlive the registry. When this process dies, the guardian ends
    /// the session at once. Null: the servers end it after `session_timeout`.
    zk::guarded_sessions* guardian = nullptr;
};

namespace zk {

/// The texts between the commas of `zk_options::servers`, empty ones too.
std::vector<std::string_view> endpoints(std::string_view servers);

/// The problem with one `host:port`, or null.
char const* endpoint_fault(std::string_view endpoint) noexcept;

/// Validated options, made by `settings::parse`.
struct settings {
    zk_options options;
    std::string prefix; ///< of every path: `/billing`, or empty

    /// The bytes that an operation has on the server beyond `operation::bytes`: the name space, and the access list
    /// that the server writes instead of "the creator", with the user and a hash.
    std::size_t more_bytes_each() const noexcept;

    /// Errors: invalid_argument, which names the field and the correct form.
    static result<settings> parse(zk_options o);

    /// The path on the server, with the name space.
    std::string on_server(node_path const& path) const;

    /// The path of a node on the server, without the name space. Precondition: the node lies in the name space.
    result<node_path> in_name_space(std::string_view path) const;

    static constexpr std::size_t prefix_bytes_max = 200;
    static constexpr std::size_t digest_bytes_max = 1'000;
};

} // namespace zk
} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/registry/zk/options.ipp>
#endif
#endif // ELASTICJOB_REGISTRY_ZK_OPTIONS_HPP
