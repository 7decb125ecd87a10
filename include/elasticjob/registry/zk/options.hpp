// SPDX-License-Identifier: Apache-2.0
/// \file \brief What a ZooKeeper registry is told, and whether that makes sense.
#ifndef ELASTICJOB_REGISTRY_ZK_OPTIONS_HPP
#define ELASTICJOB_REGISTRY_ZK_OPTIONS_HPP

#include <elasticjob/core/chrono.hpp>
#include <elasticjob/core/event_loop.hpp>
#include <elasticjob/core/path.hpp>
#include <elasticjob/core/result.hpp>

#include <charconv>
#include <limits>
#include <string>
#include <string_view>
#include <system_error> // errc
#include <utility>

namespace elasticjob {

struct zk_options {
    /// Comma separated `host:port`. A path behind them is refused: that is what `name_space` is for.
    std::string servers = "127.0.0.1:2181";

    /// Stands before every path; may have several elements, `department/billing`, or none. Its node is created when it
    /// is missing.
    std::string name_space{};

    /// `user:password`. Nodes are created for this user only. Empty: for everybody.
    std::string digest{};

    /// How long the server keeps an unheard session, and its ephemeral nodes. The server may clamp it.
    std::chrono::milliseconds session_timeout{60'000};

    /// How long `connect` waits.
    std::chrono::milliseconds connection_timeout{15'000};

    /// After a session is lost, the next one is tried after this pause. It doubles with each failure, up to the
    /// maximum.
    std::chrono::milliseconds reconnect_pause{100};
    std::chrono::milliseconds reconnect_pause_max{10'000};

    /// Shared with others, and outlives the registry. Null: the registry has one of its own.
    event_loop* loop = nullptr;
};

namespace zk {

/// What is wrong with one `host:port`, or null.
inline char const* endpoint_fault(std::string_view endpoint) noexcept {
    auto const colon = endpoint.rfind(':');
    if (endpoint.find('/') != endpoint.npos) return "a server is host:port without a path: use name_space instead";
    if (colon == endpoint.npos || colon == 0) return "a server must be given as host:port";
    if (endpoint.find_first_of(" \t\r\n") != endpoint.npos) return "a server must not contain white space";
    auto const digits = endpoint.substr(colon + 1);
    auto const* const end = digits.data() + digits.size();
    unsigned port = 0;
    auto const [rest, fault] = std::from_chars(digits.data(), end, port);
    if (fault != std::errc{} || rest != end || port == 0 || port > 65'535) return "a port must be 1 to 65535";
    return nullptr;
}

/// Options that have been looked at. Made by `settings::parse`.
template <loop Loop>
struct settings {
    zk_options options;
    std::string prefix; ///< of every path: `/billing`, or empty

    /// Errors: invalid_argument, with the field and what would be right.
    static result<settings> parse(zk_options o) {
        auto refuse = [](char const* why, std::string where) {
            return error{errc::invalid_argument, why, std::move(where)};
        };
        for (std::string_view rest = o.servers;;) {
            auto const comma = rest.find(',');
            if (auto const why = endpoint_fault(rest.substr(0, comma))) return refuse(why, "servers: " + o.servers);
            if (comma == rest.npos) break;
            rest.remove_prefix(comma + 1);
        }
        std::string prefix = o.name_space.empty() ? std::string{} : "/" + o.name_space;
        if (!prefix.empty() && !node_path::parse(prefix))
            return refuse("a name space is path elements with '/' between them, as in department/billing",
                          "name_space: " + o.name_space);
        if (prefix.size() > prefix_bytes_max)
            return refuse("a name space must be shorter than 200 bytes", "name_space");
        if (auto const colon = o.digest.find(':'); !o.digest.empty() && (colon == 0 || colon == o.digest.npos))
            return refuse("a digest must look like user:password", "digest");
        if (o.session_timeout.count() <= 0 || o.session_timeout.count() > std::numeric_limits<int>::max())
            return refuse("a session time-out must be positive, and less than 24 days", "session_timeout");
        if (o.connection_timeout.count() <= 0)
            return refuse("a connection time-out must be positive", "connection_timeout");
        if (o.reconnect_pause.count() <= 0 || o.reconnect_pause_max < o.reconnect_pause)
            return refuse("the pause must be positive, and at most its maximum", "reconnect_pause");
        settings checked;
        checked.options = std::move(o);
        checked.prefix = std::move(prefix);
        return checked;
    }

    /// Where a path of ours lies on the server.
    std::string on_server(node_path const& path) const {
        if (prefix.empty()) return path.str();
        return path.is_root() ? prefix : prefix + path.str();
    }

    /// A path of the server, as we call it. Precondition: it lies in the name space.
    result<node_path> in_name_space(std::string_view path) const {
        path.remove_prefix(prefix.size());
        return path.empty() ? node_path{} : node_path::parse(path);
    }

    static constexpr std::size_t prefix_bytes_max = 200;
};

} // namespace zk
} // namespace elasticjob
#endif // ELASTICJOB_REGISTRY_ZK_OPTIONS_HPP
