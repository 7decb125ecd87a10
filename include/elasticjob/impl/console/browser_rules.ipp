// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_CONSOLE_BROWSER_RULES_IPP
#define ELASTICJOB_IMPL_CONSOLE_BROWSER_RULES_IPP

#include <elasticjob/console/browser_rules.hpp>
#include <elasticjob/console/loopback.hpp>
#include <elasticjob/config/text.hpp>
#include <elasticjob/core/algorithm.hpp>

namespace elasticjob::detail {

/// The host without its port, and without the brackets of an IPv6 address. Empty if it is none.
inline std::string_view name_in(std::string_view host) {
    if (!host.starts_with('[')) return host.substr(0, host.rfind(':'));
    auto const end = host.find(']');
    auto const port = host.substr(std::min(end, host.size() - 1) + 1);
    return end == host.npos || !(port.empty() || port.starts_with(':')) ? std::string_view{} : host.substr(1, end - 1);
}

ELASTICJOB_DECL bool is_own_host(std::string_view host, std::vector<std::string> const& names, bool is_local) {
    auto const name = in_lower_case(name_in(host));
    if (is_local && (name == "localhost" || is_loopback(name))) return true;
    return std::any_of(names.begin(), names.end(), [&](auto const& own) { return in_lower_case(own) == name; });
}

ELASTICJOB_DECL std::optional<console_reply> find_intrusion(console_request const& r, console_options const& o) {
    auto const refuse = [](int status, char const* why, char const* where) {
        return problem({errc::invalid_argument, why, where}, status);
    };
    auto const host = r.header("host");
    if (!is_own_host(host, o.host_names, is_loopback(o.address)))
        return refuse(421, "this server does not answer under that name: add it to the server's host names", "Host");
    if (r.is_safe()) return std::nullopt;
    auto const site = r.header("sec-fetch-site");
    if (!site.empty() && site != "same-origin" && site != "none")
        return refuse(403, "the request comes from a page of another origin", "Sec-Fetch-Site");
    if (auto const origin = r.header("origin"); !origin.empty()) {
        // If we do not speak TLS, a proxy in front of us may.
        auto const scheme = origin.find("://");
        if (scheme == origin.npos || in_lower_case(origin.substr(scheme + 3)) != in_lower_case(host) ||
            (o.is_secured() && origin.substr(0, scheme) != "https"))
            return refuse(403, "the request comes from a page of another origin", "Origin");
    }
    auto const type = in_lower_case(r.header("content-type"));
    // Without a body, there is no content to check. The rules above have refused the pages of other origins.
    if (r.body.empty() && type.empty()) return std::nullopt;
    if (trim(std::string_view{type}.substr(0, type.find(';'))) != "application/json")
        return refuse(415, "a request that may change something has JSON as its content", "Content-Type");
    return std::nullopt;
}

ELASTICJOB_DECL void add_browser_headers(console_reply& reply, bool is_secured) {
    auto const add = [&](char const* name, char const* value) {
        if (find_text(reply.headers, name).empty()) reply.headers.emplace_back(name, value);
    };
    add("Cache-Control", "no-store");
    add("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
                                   "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'");
    add("Cross-Origin-Opener-Policy", "same-origin");
    add("Cross-Origin-Resource-Policy", "same-origin");
    add("Permissions-Policy", "camera=(), geolocation=(), microphone=()");
    add("Referrer-Policy", "no-referrer");
    if (is_secured) add("Strict-Transport-Security", "max-age=31536000");
    add("X-Content-Type-Options", "nosniff");
    add("X-Frame-Options", "DENY");
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_IMPL_CONSOLE_BROWSER_RULES_IPP
