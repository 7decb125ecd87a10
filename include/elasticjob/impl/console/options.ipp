// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_CONSOLE_OPTIONS_IPP
#define ELASTICJOB_IMPL_CONSOLE_OPTIONS_IPP

#include <elasticjob/console/loopback.hpp>
#include <elasticjob/console/options.hpp>
#include <elasticjob/core/algorithm.hpp>

#include <array>

namespace elasticjob {

ELASTICJOB_DECL std::string_view name_of(console_authentication a) noexcept {
    constexpr std::array<std::string_view, 4> names{"none", "password", "proxy", "oidc"};
    return names[static_cast<std::size_t>(a)];
}

} // namespace elasticjob

namespace elasticjob::detail {

ELASTICJOB_DECL result<void> check(console_options const& o) {
    auto const wrong = [](std::string what, char const* where) {
        return error{errc::invalid_argument, std::move(what), where};
    };
    auto const fits = [](auto span) { return span.count() > 0 && span <= std::chrono::hours{24 * 366}; };
    bool const is_local = is_loopback(o.address);
    if (o.port < 0 || o.port > 65'535) return wrong("a port is 0 to 65535", "port");
    if (!is_local && o.authentication == console_authentication::none)
        return wrong("without authentication the console listens on an address of loopback only", "address");
    if (!is_operator_name(o.local_operator)) return wrong("is no name that a list can show", "local_operator");
    if (o.certificate_file.empty() != o.key_file.empty())
        return wrong("a certificate needs its key, and the other way round", "key_file");
    bool const has_sessions =
        o.authentication == console_authentication::password || o.authentication == console_authentication::oidc;
    if (!is_local && has_sessions && !o.is_secured())
        return wrong(
            "passwords and sessions would be sent in clear: give a certificate, or listen on loopback, behind a "
            "proxy that speaks TLS",
            "address");
    if (o.authentication == console_authentication::password && o.password_file.empty())
        return wrong("name the file with the operators' passwords", "password_file");
    if (o.authentication == console_authentication::proxy && (o.proxies.empty() || o.identity_header.empty()))
        return wrong("name the proxies' addresses and their header", "proxies");
    auto const is_upper = [](char c) { return 'A' <= c && c <= 'Z'; };
    if (std::any_of(o.identity_header.begin(), o.identity_header.end(), is_upper))
        return wrong("must be in lower case", "identity_header");
    if (o.authentication != console_authentication::none && o.grants.empty())
        return wrong("nobody could do anything: grant a role", "grants");
    if (o.connections_max < 1 || o.connections_max > 10'000) return wrong("must be from 1 to 10000", "connections_max");
    if (o.streams_max >= o.connections_max) return wrong("must be less than connections_max", "streams_max");
    if (o.requests_max < 1 || o.requests_max > 10'000) return wrong("must be from 1 to 10000", "requests_max");
    if (o.threads < 1 || o.threads > 64) return wrong("must be from 1 to 64", "threads");
    if (o.head_max < 1'024 || o.head_max > 65'536) return wrong("must be from 1024 to 65536 bytes", "head_max");
    if (!fits(o.read_timeout)) return wrong("must be more than 0, and at most a year", "read_timeout");
    if (!fits(o.idle_timeout)) return wrong("must be more than 0, and at most a year", "idle_timeout");
    if (!fits(o.write_timeout)) return wrong("must be more than 0, and at most a year", "write_timeout");
    if (!fits(o.session_length)) return wrong("must be more than 0, and at most a year", "session_length");
    return success();
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_IMPL_CONSOLE_OPTIONS_IPP
