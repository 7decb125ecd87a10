// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_REGISTRY_ZK_OPTIONS_IPP
#define ELASTICJOB_IMPL_REGISTRY_ZK_OPTIONS_IPP

#include <elasticjob/registry/zk/options.hpp>

#include <elasticjob/core/clock.hpp> // is_span

namespace elasticjob::zk {

ELASTICJOB_DECL std::vector<std::string_view> endpoints(std::string_view servers) {
    std::vector<std::string_view> all;
    for (;;) {
        auto const comma = servers.find(',');
        all.push_back(servers.substr(0, comma));
        if (comma == servers.npos) return all;
        servers.remove_prefix(comma + 1);
    }
}

ELASTICJOB_DECL char const* endpoint_fault(std::string_view endpoint) noexcept {
    auto const colon = endpoint.rfind(':');
    if (endpoint.find('/') != endpoint.npos) return "a server is host:port without a path: use name_space instead";
    if (endpoint.starts_with('[')) return "an IPv6 address has no brackets here, as in ::1:2181";
    if (colon == endpoint.npos || colon == 0) return "a server must be given as host:port";
    if (endpoint.find_first_of(std::string_view{" \t\r\n\0", 5}) != endpoint.npos)
        return "a server must not contain white space or a NUL";
    auto const digits = endpoint.substr(colon + 1);
    auto const* const end = digits.data() + digits.size();
    unsigned port = 0;
    auto const [rest, fault] = std::from_chars(digits.data(), end, port);
    if (fault != std::errc{} || rest != end || port == 0 || port > 65'535) return "a port must be 1 to 65535";
    return nullptr;
}

ELASTICJOB_DECL result<settings> settings::parse(zk_options o) {
    auto refuse = [](char const* why, std::string where) {
        return error{errc::invalid_argument, why, std::move(where)};
    };
    for (auto const endpoint : endpoints(o.servers))
        if (auto const why = endpoint_fault(endpoint)) return refuse(why, "servers: " + o.servers);
    std::string prefix = o.name_space.empty() ? std::string{} : "/" + o.name_space;
    if (!prefix.empty() && !node_path::parse(prefix))
        return refuse("a name space is path elements with '/' between them, as in department/billing",
                      "name_space: " + o.name_space);
    if (prefix.size() > prefix_bytes_max) return refuse("a name space must be shorter than 200 bytes", "name_space");
    if (auto const colon = o.digest.find(':'); !o.digest.empty() && (colon == 0 || colon == o.digest.npos))
        return refuse("a digest must look like user:password", "digest");
    if (o.digest.size() > digest_bytes_max) return refuse("a digest must be at most 1000 bytes long", "digest");
    constexpr int shortest = 2, longest = std::numeric_limits<int>::max() / 2; // libzookeeper computes with twice that
    if (o.session_timeout.count() < shortest || o.session_timeout.count() > longest)
        return refuse("a session time-out must be at least 2 ms, and less than 12 days", "session_timeout");
    if (o.connection_timeout.count() == 0 || !is_span(o.connection_timeout))
        return refuse("a connection time-out must be positive, and at most 365 days", "connection_timeout");
    if (o.reconnect_pause.count() <= 0 || o.reconnect_pause_max < o.reconnect_pause || !is_span(o.reconnect_pause_max))
        return refuse("the pause must be positive, and at most its maximum, which is at most 365 days",
                      "reconnect_pause");
    settings checked;
    checked.options = std::move(o);
    checked.prefix = std::move(prefix);
    return checked;
}

ELASTICJOB_DECL std::size_t settings::more_bytes_each() const noexcept {
    auto const& digest = options.digest;
    constexpr std::size_t scheme_and_hash = 24; // more than the list that the request has
    return prefix.size() + (digest.empty() ? 0 : scheme_and_hash + digest.find(':'));
}

ELASTICJOB_DECL std::string settings::on_server(node_path const& path) const {
    if (prefix.empty()) return path.str();
    return path.is_root() ? prefix : prefix + path.str();
}

ELASTICJOB_DECL result<node_path> settings::in_name_space(std::string_view path) const {
    path.remove_prefix(prefix.size());
    return path.empty() ? node_path{} : node_path::parse(path);
}

} // namespace elasticjob::zk
#endif // ELASTICJOB_IMPL_REGISTRY_ZK_OPTIONS_IPP
