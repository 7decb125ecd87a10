// SPDX-License-Identifier: Apache-2.0
/// \file \brief Checks that no foreign page has sent a request, and adds headers for browsers to every answer.
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

/// Whether `Host` names this server: one of the names, or if `is_local`, an address or name of loopback. A page whose
/// name resolves to this server (DNS rebinding) sends its own name.
bool is_own_host(std::string_view host, std::vector<std::string> const& names, bool is_local);

/// The refusal of a request, before the operator is identified; nothing if the request is allowed. A request that may
/// change something must have JSON as its content, which a page of another origin cannot send without permission. It
/// must also not come from another origin by its `Sec-Fetch-Site` or `Origin`. This server never gives that permission.
std::optional<console_reply> find_intrusion(console_request const& r, console_options const& o);

/// Adds headers to an answer. They tell browsers to run only this server's scripts, to store nothing, and to show the
/// answer in no frame. If the server speaks TLS, they also tell browsers to use only TLS for this host.
void add_browser_headers(console_reply& reply, bool is_secured);

} // namespace elasticjob::detail

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/console/browser_rules.ipp>
#endif
#endif // ELASTICJOB_CONSOLE_BROWSER_RULES_HPP
