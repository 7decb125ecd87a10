// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_CONSOLE_GATE_IPP
#define ELASTICJOB_IMPL_CONSOLE_GATE_IPP

#include <elasticjob/console/encodings.hpp>
#include <elasticjob/console/gate.hpp>
#include <elasticjob/console/guarded_file.hpp>
#include <elasticjob/console/secret_text.hpp>
#include <elasticjob/console/texts_codec.hpp>
#include <elasticjob/core/algorithm.hpp>

#include <chrono>
#include <cstddef>

#include <crypt.h>

namespace elasticjob::detail {

/// The value of `Set-Cookie`. A browser keeps a cookie with this prefix only if it comes over TLS, from this host
/// itself, and for all of its paths.
inline std::string cookie_to_set(console_options const& o, std::string_view name, std::string_view value,
                                 std::chrono::seconds age, std::string_view same_site = "Strict") {
    std::string text{o.is_secured() ? "__Host-" : ""};
    text.append(name).append("=").append(value).append("; Path=/; HttpOnly; SameSite=").append(same_site);
    if (o.is_secured()) text += "; Secure";
    return text + "; Max-Age=" + std::to_string(age.count());
}

inline constexpr std::string_view session_cookie = "elasticjob-session";

ELASTICJOB_DECL result<password_hashes> parse_passwords(std::string_view text) {
    password_hashes all;
    for (std::size_t number = 1; !text.empty(); ++number) {
        auto const end = text.find('\n');
        auto line = text.substr(0, end);
        text = end == text.npos ? std::string_view{} : text.substr(end + 1);
        if (line.ends_with('\r')) line.remove_suffix(1);
        if (line.empty() || line.starts_with('#')) continue;
        auto const colon = line.find(':');
        auto const hash = colon == line.npos ? std::string_view{} : line.substr(colon + 1);
        if (colon == 0 || !hash.starts_with('$') || !all.emplace(line.substr(0, colon), hash).second)
            return error{errc::malformed_data,
                         "must be an operator's name, a colon, and a hash as mkpasswd makes it; each operator once",
                         "line " + std::to_string(number)};
    }
    return all;
}

ELASTICJOB_DECL result<password_hashes> read_passwords(std::string const& file) {
    ELASTICJOB_TRY(auto const text, read_guarded_file(file, "the passwords", guarded_against::writing));
    auto parsed = parse_passwords(text);
    if (!parsed) return error{parsed.error().code, parsed.error().what, file + ", " + parsed.error().where};
    return parsed;
}

ELASTICJOB_DECL bool is_password(std::string const& password, std::string const& hash) {
    auto const data = std::make_unique<crypt_data>();
    auto const* computed = ::crypt_r(password.c_str(), hash.c_str(), data.get());
    return computed && *computed != '*' && is_same_secret(computed, hash);
}

/// The value of a cookie of this server; empty if there is none.
inline std::string_view cookie_in(console_request const& r, console_options const& o, std::string_view name) {
    std::string_view const prefix = o.is_secured() ? "__Host-" : "";
    auto cookies = r.header("cookie");
    while (!cookies.empty()) {
        auto const end = cookies.find(';');
        auto one = cookies.substr(0, end);
        cookies = end == cookies.npos ? std::string_view{} : cookies.substr(end + 1);
        while (one.starts_with(' ')) one.remove_prefix(1);
        if (!one.starts_with(prefix)) continue;
        one.remove_prefix(prefix.size());
        if (one.starts_with(name) && one.substr(name.size()).starts_with('=')) return one.substr(name.size() + 1);
    }
    return {};
}

ELASTICJOB_DECL result<console_operator> console_gate::identify(console_request const& r, mono_time now) {
    // Names the page where operators sign in, if there is one.
    auto const stranger = [&](char const* why) {
        auto const by = options_.authentication;
        return error{errc::no_auth, why,
                     by == console_authentication::password ? "session"
                     : by == console_authentication::oidc   ? "sign-in"
                                                            : ""};
    };
    switch (options_.authentication) {
    case console_authentication::none:
        return console_operator{options_.local_operator,
                                console_rights{{{"*", "*", options_.local_role}}, options_.local_operator}};
    case console_authentication::proxy: {
        auto client = std::string_view{r.client};
        if (client.starts_with("::ffff:")) client.remove_prefix(7);
        if (std::find(options_.proxies.begin(), options_.proxies.end(), client) == options_.proxies.end())
            return stranger("the request does not come from a proxy that this console knows");
        auto const is_identity = [&](auto const& header) { return header.first == options_.identity_header; };
        auto const name = r.header(options_.identity_header);
        if (!is_operator_name(name) || std::count_if(r.headers.begin(), r.headers.end(), is_identity) != 1)
            return stranger("the proxy does not name an operator");
        return operator_for({std::string{name}, {}});
    }
    case console_authentication::password:
    case console_authentication::oidc:
        break;
    }
    auto const token = cookie_in(r, options_, session_cookie);
    std::lock_guard const lock{mutex_};
    auto const there = sessions_.find(token);
    if (there == sessions_.end()) return stranger("sign in first");
    if (there->second.ends <= now) {
        sessions_.erase(there);
        return stranger("the session is over: sign in again");
    }
    return operator_for(there->second.who);
}

ELASTICJOB_DECL bool console_gate::has_failed_often(std::string const& who, mono_time now) {
    auto const there = failures_.find(who);
    return there != failures_.end() && now < there->second.since + std::chrono::minutes{1} &&
           there->second.count >= failures_max;
}

ELASTICJOB_DECL void console_gate::note_failure(std::string const& who, mono_time now) {
    std::erase_if(failures_, [&](auto const& one) { return now >= one.second.since + std::chrono::minutes{1}; });
    auto& f = failures_.try_emplace(who, failures{0, now}).first->second;
    ++f.count;
}

ELASTICJOB_DECL console_reply console_gate::sign_in(console_request const& r, mono_time now) {
    if (options_.authentication != console_authentication::password)
        return problem({errc::invalid_argument, "this console asks for no passwords", "session"}, 409);
    auto const given = read_texts(r.body, {"operator", "password"});
    if (!given) return problem(given.error());
    auto const &operator_name = (*given)[0], &password = (*given)[1];
    if (operator_name.size() > operator_name_max)
        return problem({errc::malformed_data, "an operator's name has at most 100 bytes", "operator"});
    auto const client = "client " + r.client, name = "operator " + operator_name;
    {
        std::lock_guard const lock{mutex_};
        if (has_failed_often(client, now) || has_failed_often(name, now)) {
            auto reply = problem({errc::overloaded, "too many failed attempts: wait a minute", "session"}, 429);
            reply.headers.emplace_back("Retry-After", "60");
            return reply;
        }
        note_failure(client, now); // removed below if the password is right
        note_failure(name, now);
    }
    auto const hashes = read_passwords(options_.password_file);
    if (!hashes) return problem({errc::unreachable, "nobody can sign in: ask the administrator of the console"});
    auto const known = hashes->find(operator_name);
    bool const is_known = known != hashes->end();
    // For an unknown name another operator's hash is computed, which takes the same time.
    auto const some = is_known ? known : hashes->begin();
    bool const is_right = some != hashes->end() && is_password(password, some->second) && is_known;
    if (!is_right) return problem({errc::no_auth, "the name or the password is wrong", "session"}, 401);
    std::lock_guard const lock{mutex_};
    failures_.erase(client);
    failures_.erase(name);
    auto cookie = open_session({operator_name, {}}, now);
    if (!cookie) return problem(cookie.error());
    auto reply = json_reply("{}");
    reply.headers.emplace_back("Set-Cookie", *std::move(cookie));
    return reply;
}

ELASTICJOB_DECL result<std::string> console_gate::open_session(operator_identity who, mono_time now) {
    auto token = random_token();
    if (!token) return error{errc::overloaded, "the system has no random bytes", "session"};
    std::erase_if(sessions_, [&](auto const& one) { return one.second.ends <= now; });
    std::size_t count = 0;
    auto oldest = sessions_.end();
    for (auto one = sessions_.begin(); one != sessions_.end(); ++one) {
        if (one->second.who.name != who.name) continue;
        ++count;
        if (oldest == sessions_.end() || one->second.ends < oldest->second.ends) oldest = one;
    }
    if (count >= operator_sessions_max) sessions_.erase(oldest);
    if (sessions_.size() >= sessions_max) return error{errc::overloaded, "too many operators are signed in", "session"};
    auto cookie = cookie_to_set(options_, session_cookie, *token, options_.session_length);
    sessions_.emplace(*std::move(token), session{std::move(who), now + options_.session_length});
    return cookie;
}

ELASTICJOB_DECL console_reply console_gate::sign_out(console_request const& r) {
    std::lock_guard const lock{mutex_};
    if (auto const there = sessions_.find(cookie_in(r, options_, session_cookie)); there != sessions_.end())
        sessions_.erase(there);
    auto reply = json_reply("{}");
    reply.headers.emplace_back("Set-Cookie", cookie_to_set(options_, session_cookie, "", std::chrono::seconds{0}));
    return reply;
}

/// A page that a browser shows while it signs in. `more`: HTML.
inline console_reply page_for_browser(int status, std::string const& text, std::string const& more) {
    return {status, "text/html; charset=utf-8",
            "<!DOCTYPE html><html lang=\"en\"><title>elasticjob</title><p>" + html_escaped(text) + "</p>" + more +
                "</html>\n"};
}

/// Whether the path is `sign-in` or lies below it.
inline bool is_sign_in(console_request const& r) { return !r.path.empty() && r.path.front() == "sign-in"; }

ELASTICJOB_DECL bool console_gate::takes(console_request const& r, mono_time now) {
    if (options_.authentication != console_authentication::oidc || !r.is_safe()) return false;
    return is_sign_in(r) || (r.path.empty() && !identify(r, now));
}

ELASTICJOB_DECL console_reply console_gate::answer_browser(console_request const& r, mono_time now) {
    if (r.path.empty()) { // the page, for a client that has not signed in
        console_reply reply{302, "text/plain"};
        reply.headers.emplace_back("Location", "sign-in");
        return reply;
    }
    bool const is_back = r.path.size() == 2 && r.path[1] == "return";
    if (r.method != "GET" || (r.path.size() > 1 && !is_back))
        return problem({errc::no_node, "this path does not exist", "path"});
    return is_back ? end_at_provider(r, now) : begin_at_provider(r, now);
}

inline constexpr std::string_view sign_in_cookie = "elasticjob-sign-in";

ELASTICJOB_DECL console_reply console_gate::begin_at_provider(console_request const& r, mono_time now) {
    auto const begun = pending_.begin(r.client, now);
    auto const address = begun ? provider_.address_for(*begun, now, stop_.get_token()) : begun.error();
    if (!address)
        return page_for_browser(503, "You cannot sign in now: " + address.error().what + ".",
                                "<p><a href=\"sign-in\">Try again</a></p>");
    console_reply reply{302, "text/plain"};
    reply.headers.emplace_back("Location", *address);
    // The browser returns from a page of another origin, so it would not send a cookie with Strict.
    reply.headers.emplace_back(
        "Set-Cookie", cookie_to_set(options_, sign_in_cookie, begun->cookie, pending_sign_ins::length_max, "Lax"));
    return reply;
}

ELASTICJOB_DECL console_reply console_gate::end_at_provider(console_request const& r, mono_time now) {
    auto const refuse = [](int status, std::string const& why) {
        return page_for_browser(status, "You are not signed in: " + why + ".",
                                "<p><a href=\"../sign-in\">Sign in again</a></p>");
    };
    auto const client = "client " + r.client;
    {
        std::lock_guard const lock{mutex_};
        if (has_failed_often(client, now)) return refuse(429, "too many attempts have failed: wait a minute");
    }
    auto const begun = pending_.take(cookie_in(r, options_, sign_in_cookie), r.parameter("state"), now);
    if (!begun) return refuse(400, "this browser has not begun to sign in, or more than 10 minutes ago");
    auto const code = r.parameter("code"), issuer = r.parameter("iss"), fault = r.parameter("error");
    if (!issuer.empty() && issuer != options_.oidc.issuer) return refuse(400, "the answer is of another issuer");
    if (!fault.empty())
        return refuse(403, "the identity provider refuses it" +
                               (is_error_code(fault) ? ": " + std::string{fault} : std::string{}));
    if (code.empty() || code.size() > 4'096) return refuse(400, "the identity provider has sent no code");
    auto who = provider_.redeem(code, *begun, now, stop_.get_token());
    std::lock_guard const lock{mutex_};
    if (!who) {
        bool const is_refused = who.error() == errc::no_auth;
        if (is_refused) note_failure(client, now);
        return refuse(is_refused ? 401 : 503, who.error().what);
    }
    auto cookie = open_session(*std::move(who), now);
    if (!cookie) return refuse(503, cookie.error().what);
    // Not a redirect: a browser that is still on its way from the provider would not send the new cookie.
    auto reply =
        page_for_browser(200, "You are signed in.",
                         "<meta http-equiv=\"refresh\" content=\"0; url=../\"><p><a href=\"../\">Go on</a></p>");
    reply.headers.emplace_back("Set-Cookie", *std::move(cookie));
    reply.headers.emplace_back("Set-Cookie",
                               cookie_to_set(options_, sign_in_cookie, "", std::chrono::seconds{0}, "Lax"));
    return reply;
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_IMPL_CONSOLE_GATE_IPP
