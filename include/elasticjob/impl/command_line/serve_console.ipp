// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_COMMAND_LINE_SERVE_CONSOLE_IPP
#define ELASTICJOB_IMPL_COMMAND_LINE_SERVE_CONSOLE_IPP

#include <elasticjob/command_line/serve_console.hpp>

#include <cerrno>
#include <cstring>

#include <unistd.h>

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
    o.certificate_file = given.certificate_file;
    o.key_file = given.key_file;
    o.password_file = given.password_file;
    o.proxies = given.proxies;
    o.identity_header = given.identity_header;
    o.has_java_interface = given.has_java_interface;
    o.oidc.issuer = given.issuer;
    o.oidc.client_id = given.client_id;
    o.oidc.client_secret_file = given.client_secret_file;
    o.oidc.redirect_url = given.redirect_url;
    o.oidc.scope = given.scope;
    o.oidc.name_claim = given.name_claim;
    o.oidc.groups_claim = given.groups_claim;
    o.oidc.ca_file = given.ca_file;
    bool const has_passwords = !o.password_file.empty(), has_proxy = !o.proxies.empty(),
               has_oidc = !o.oidc.issuer.empty();
    if (has_passwords + has_proxy + has_oidc > 1)
        return error{errc::invalid_argument,
                     "operators sign in in one way: at the console, at a proxy, or at an identity provider",
                     has_oidc ? "--oidc-issuer" : "--proxy"};
    if (!has_oidc && !(o.oidc.client_id + o.oidc.client_secret_file + o.oidc.redirect_url).empty())
        return error{errc::invalid_argument, "name the identity provider", "--oidc-issuer"};
    if (has_proxy) o.authentication = console_authentication::proxy;
    if (has_passwords) o.authentication = console_authentication::password;
    if (has_oidc) o.authentication = console_authentication::oidc;
    for (auto const& text : given.grants) {
        ELASTICJOB_TRY(auto grant, parse_grant(text));
        o.grants.push_back(std::move(grant));
    }
    if (o.authentication == console_authentication::none && !o.grants.empty())
        return error{errc::invalid_argument,
                     "roles are for operators who sign in: give --password-file, --oidc-issuer or --proxy", "--grant"};
    if (!a.operator_name.empty()) o.local_operator = a.operator_name;
    return o;
}

ELASTICJOB_DECL result<std::pair<std::string, std::string>> parse_named(std::string const& text,
                                                                        std::string const& option) {
    auto const equals = text.find('=');
    if (equals == text.npos || equals == 0 || equals + 1 == text.size())
        return error{errc::invalid_argument, "must be a name, = and where the database is", option + " " + text};
    return std::pair{text.substr(0, equals), text.substr(equals + 1)};
}

ELASTICJOB_DECL result<std::pair<std::string, std::string>> parse_sqlite(std::string const& text) {
    ELASTICJOB_TRY(auto named, parse_named(text, "--sqlite"));
    if (::access(named.second.c_str(), R_OK | W_OK) != 0)
        return error{errc::invalid_argument, std::string{"the database cannot be used: "} + std::strerror(errno),
                     named.second};
    return named;
}

ELASTICJOB_DECL result<std::pair<std::string, std::string>> parse_postgres(std::string const& text) {
    auto named = parse_named(text, "--postgres");
    if (!named) { // the text may contain a password
        named.error().where = "--postgres";
        return named;
    }
    auto const& at = named->second;
    auto const scheme = at.find("://");
    auto const user = scheme == at.npos ? std::string{} : at.substr(scheme + 3, at.find('@') - scheme - 3);
    bool const has_user = scheme != at.npos && at.find('@') != at.npos;
    if (at.find("password") != at.npos || (has_user && user.find(':') != user.npos))
        return error{errc::invalid_argument,
                     "every user of this machine can see an option: keep the password in ~/.pgpass",
                     "--postgres " + named->first};
    return named;
}

} // namespace elasticjob::cli::detail

namespace elasticjob::cli {

ELASTICJOB_DECL result<std::vector<console_database>> no_databases::operator()(console_arguments const& given) const {
    if (given.sqlite.empty() && given.postgres.empty()) return std::vector<console_database>{};
    return error{errc::invalid_argument, "this program was built without such databases",
                 given.sqlite.empty() ? "--postgres" : "--sqlite"};
}

} // namespace elasticjob::cli
#endif // ELASTICJOB_IMPL_COMMAND_LINE_SERVE_CONSOLE_IPP
