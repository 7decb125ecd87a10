// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_COMMAND_LINE_SERVE_CONSOLE_IPP
#define ELASTICJOB_IMPL_COMMAND_LINE_SERVE_CONSOLE_IPP

#include <elasticjob/command_line/serve_console.hpp>

namespace elasticjob::cli::detail {

ELASTICJOB_DECL result<console_grant> parse_grant(std::string const& text) {
    auto const first = text.find(':'), last = text.rfind(':');
    if (first != text.npos && first != last)
        for (auto const role : {console_role::viewer, console_role::operator_, console_role::administrator})
            if (name_of(role) == text.substr(last + 1))
                return console_grant{text.substr(0, first), text.substr(first + 1, last - first - 1), role};
    return error{errc::invalid_argument,
                 "must be OPERATORS:JOBS:ROLE, as ann:billing-*:operator; roles are viewer, operator and administrator",
                 "--grant " + text};
}

ELASTICJOB_DECL result<console_options> console_options_of(arguments const& a) {
    auto const& given = a.console;
    console_options o;
    o.address = given.address;
    o.port = given.port;
    o.host_names = given.host_names;
    o.password_file = given.password_file;
    o.proxies = given.proxies;
    o.identity_header = given.identity_header;
    if (!o.password_file.empty() && !o.proxies.empty())
        return error{errc::invalid_argument, "operators sign in at the console or at a proxy, not at both", "--proxy"};
    o.authentication = !o.proxies.empty()         ? console_authentication::proxy
                       : !o.password_file.empty() ? console_authentication::password
                                                  : console_authentication::none;
    for (auto const& text : given.grants) {
        ELASTICJOB_TRY(auto grant, parse_grant(text));
        o.grants.push_back(std::move(grant));
    }
    if (o.authentication == console_authentication::none && !o.grants.empty())
        return error{errc::invalid_argument, "a role is for somebody who signs in: give --password-file or --proxy",
                     "--grant"};
    if (!a.operator_name.empty()) o.local_operator = a.operator_name;
    return o;
}

} // namespace elasticjob::cli::detail
#endif // ELASTICJOB_IMPL_COMMAND_LINE_SERVE_CONSOLE_IPP
