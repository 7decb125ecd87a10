// SPDX-License-Identifier: Apache-2.0
/// \file \brief What the console demands of requests so that no foreign page can send them, and the headers of every
/// answer.
#ifndef ELASTICJOB_CONSOLE_BROWSER_RULES_HPP
#define ELASTICJOB_CONSOLE_BROWSER_RULES_HPP

#include <elasticjob/console/message.hpp>
#include <elasticjob/console/options.hpp>
#include <elasticjob/core/decl.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace elasticjob::detail {

/// Whether `Host` names this server: by one of the names, or by an address or name of loopback if `is_local`. A page
/// whose name resolves to this server (DNS rebinding) sends its own name.
bool is_own_host(std::string_view host, std::vector<std::string> const& names, bool is_local);

/// Why a request is refused before anybody asks who sent it; nothing if it is not. A request that may change something
/// must have JSON as its content, which a page of another origin cannot send without permission, and must not come from
/// another origin as `Sec-Fetch-Site` or `Origin` tell. An answer of this server never permits one.
std::optional<console_reply> find_intrusion(console_request const& r, console_options const& o);

/// Adds to an answer what tells browsers to run only this server's scripts, to keep nothing, to show it in no frame,
/// and, if the server speaks TLS, never to ask this host without it.
void add_browser_headers(console_reply& reply, bool is_secured);

} // namespace elasticjob::detail

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/console/browser_rules.ipp>
#endif
#endif // ELASTICJOB_CONSOLE_BROWSER_RULES_HPP
