// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_CONSOLE_GATE_IPP
#define ELASTICJOB_IMPL_CONSOLE_GATE_IPP

#include <elasticjob/console/credentials_codec.hpp>
#include <elasticjob/console/gate.hpp>
#include <elasticjob/core/algorithm.hpp>
#include <elasticjob/execution/descriptor.hpp>

#include <array>
#include <cerrno>
#include <cstring>

#include <crypt.h>
#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

namespace elasticjob::detail {

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
    constexpr std::size_t size_max = 1'048'576;
    auto const cannot = [&](std::string const& why) {
        return error{errc::invalid_argument, "the passwords cannot be read: " + why, file};
    };
    descriptor const f{::open(file.c_str(), O_RDONLY | O_CLOEXEC)};
    struct stat about {};
    if (!f || ::fstat(f.get(), &about) != 0) return cannot(std::strerror(errno));
    if (!S_ISREG(about.st_mode)) return cannot("it is no file");
    if ((about.st_mode & (S_IWGRP | S_IWOTH)) != 0) return cannot("others than its owner may write it: chmod go-w");
    std::string text;
    std::array<char, 4'096> block;
    for (;;) {
        auto const count = ::read(f.get(), block.data(), block.size());
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return cannot(std::strerror(errno));
        if (count == 0) break;
        text.append(block.data(), static_cast<std::size_t>(count));
        if (text.size() > size_max) return cannot("it is longer than 1 MiB");
    }
    auto parsed = parse_passwords(text);
    if (!parsed) return error{parsed.error().code, parsed.error().what, file + ", " + parsed.error().where};
    return parsed;
}

ELASTICJOB_DECL bool is_password(std::string const& password, std::string const& hash) {
    // What is compared for an operator that there is not.
    constexpr char const* nobodys = "$6$elasticjobconsole$";
    auto const data = std::make_unique<crypt_data>();
    auto const* computed = ::crypt_r(password.c_str(), hash.empty() ? nobodys : hash.c_str(), data.get());
    if (!computed || hash.empty()) return false;
    std::string_view const is{computed}, should{hash};
    if (is.size() != should.size() || is.starts_with('*')) return false;
    unsigned difference = 0; // in a time that does not depend on where they differ
    for (std::size_t i = 0; i < is.size(); ++i) difference |= static_cast<unsigned char>(is[i] ^ should[i]);
    return difference == 0;
}

/// Nothing if the system has no random bytes.
inline std::optional<std::string> random_token() {
    std::array<unsigned char, 32> bytes;
    if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) return std::nullopt;
    constexpr char hex[] = "0123456789abcdef";
    std::string token;
    for (auto const b : bytes) token.append({hex[b >> 4], hex[b & 15]});
    return token;
}

/// The value of the session's cookie; empty if there is none.
inline std::string_view token_in(std::string_view cookies) {
    while (!cookies.empty()) {
        auto const end = cookies.find(';');
        auto one = cookies.substr(0, end);
        cookies = end == cookies.npos ? std::string_view{} : cookies.substr(end + 1);
        while (one.starts_with(' ')) one.remove_prefix(1);
        if (one.starts_with(session_cookie) && one.substr(session_cookie.size()).starts_with('='))
            return one.substr(session_cookie.size() + 1);
    }
    return {};
}

ELASTICJOB_DECL result<console_operator> console_gate::identify(console_request const& r, mono_time now) {
    auto const stranger = [](char const* why) { return error{errc::no_auth, why}; };
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
        if (name.empty() || std::count_if(r.headers.begin(), r.headers.end(), is_identity) != 1)
            return stranger("the proxy does not name an operator");
        return operator_named(std::string{name});
    }
    case console_authentication::password:
        break;
    }
    auto const token = token_in(r.header("cookie"));
    std::lock_guard const lock{mutex_};
    auto const there = sessions_.find(token);
    if (there == sessions_.end()) return stranger("sign in first");
    if (there->second.ends <= now) {
        sessions_.erase(there);
        return stranger("the session is over: sign in again");
    }
    return operator_named(there->second.operator_name);
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
    auto const given = read_credentials(r.body);
    if (!given) return problem(given.error());
    auto const client = "client " + r.client, name = "operator " + given->operator_name;
    {
        std::lock_guard const lock{mutex_};
        if (has_failed_often(client, now) || has_failed_often(name, now)) {
            auto reply = problem({errc::overloaded, "too many failed attempts: wait a minute", "session"}, 429);
            reply.headers.emplace_back("Retry-After", "60");
            return reply;
        }
        note_failure(client, now); // taken back below
        note_failure(name, now);
    }
    auto const hashes = read_passwords(options_.password_file);
    if (!hashes) return problem({errc::unreachable, "nobody can sign in: ask the administrator of the console"});
    auto const known = hashes->find(given->operator_name);
    bool const is_right = is_password(given->password, known == hashes->end() ? std::string{} : known->second);
    if (!is_right) return problem({errc::no_auth, "the name or the password is wrong", "session"}, 401);
    auto token = random_token();
    if (!token) return problem({errc::overloaded, "the system has no random bytes", "session"});
    std::lock_guard const lock{mutex_};
    failures_.erase(client);
    failures_.erase(name);
    std::erase_if(sessions_, [&](auto const& one) { return one.second.ends <= now; });
    if (sessions_.size() >= sessions_max)
        return problem({errc::overloaded, "too many operators are signed in", "session"});
    auto reply = json_reply("{}");
    auto const seconds = std::chrono::duration_cast<std::chrono::seconds>(options_.session_length).count();
    reply.headers.emplace_back("Set-Cookie", std::string{session_cookie} + "=" + *token +
                                                 "; Path=/; HttpOnly; SameSite=Strict" +
                                                 "; Max-Age=" + std::to_string(seconds));
    sessions_.emplace(*std::move(token), session{given->operator_name, now + options_.session_length});
    return reply;
}

ELASTICJOB_DECL console_reply console_gate::sign_out(console_request const& r) {
    std::lock_guard const lock{mutex_};
    if (auto const there = sessions_.find(token_in(r.header("cookie"))); there != sessions_.end())
        sessions_.erase(there);
    auto reply = json_reply("{}");
    reply.headers.emplace_back("Set-Cookie",
                               std::string{session_cookie} + "=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0");
    return reply;
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_IMPL_CONSOLE_GATE_IPP
