// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_CONSOLE_MESSAGE_IPP
#define ELASTICJOB_IMPL_CONSOLE_MESSAGE_IPP

#include <elasticjob/config/json_writer.hpp>
#include <elasticjob/config/text.hpp>
#include <elasticjob/console/message.hpp>
#include <elasticjob/core/algorithm.hpp> // find
#include <elasticjob/core/line_text.hpp> // utf8_length

namespace elasticjob::detail {

ELASTICJOB_DECL std::string_view find_text(text_pairs const& all, std::string_view name) {
    for (auto const& [key, value] : all)
        if (key == name) return value;
    return {};
}

ELASTICJOB_DECL result<std::optional<std::uint32_t>> console_request::number(std::string_view name, std::uint32_t min,
                                                                             std::uint32_t max) const {
    auto const text = parameter(name);
    if (text.empty()) return std::optional<std::uint32_t>{};
    std::uint32_t value = 0;
    if (!read_number(text, value) || value < min || value > max)
        return error{errc::invalid_argument,
                     "must be a number from " + std::to_string(min) + " to " + std::to_string(max), std::string{name}};
    return std::optional{value};
}

ELASTICJOB_DECL result<std::string> console_request::one_of(std::vector<std::string> const& words,
                                                            std::string_view name) const {
    std::string word{parameter(name)};
    if (word.empty() || std::find(words.begin(), words.end(), word) != words.end()) return word;
    std::string all;
    for (auto const& one : words) all.append(all.empty() ? "" : ", ").append(one);
    return error{errc::invalid_argument, "must be one of " + all, std::string{name}};
}

inline int hex_digit(char c) noexcept {
    if ('0' <= c && c <= '9') return c - '0';
    c = static_cast<char>(c | 0x20);
    return 'a' <= c && c <= 'f' ? c - 'a' + 10 : -1;
}

/// Decodes the escapes. Nothing if an escape is invalid or stands for a control character, or if the text is not UTF-8.
inline std::optional<std::string> unescape(std::string_view text, bool plus_is_blank) {
    std::string plain;
    for (std::size_t i = 0; i < text.size(); ++i) {
        char c = text[i];
        if (c == '%') {
            if (text.size() - i < 3) return std::nullopt;
            int const high = hex_digit(text[i + 1]), low = hex_digit(text[i + 2]);
            if (high < 0 || low < 0) return std::nullopt;
            c = static_cast<char>(high * 16 + low);
            i += 2;
        } else if (c == '+' && plus_is_blank) {
            c = ' ';
        }
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) return std::nullopt;
        plain += c;
    }
    for (std::string_view rest = plain; !rest.empty();) {
        auto const length = utf8_length(rest);
        if (length == 0) return std::nullopt;
        rest.remove_prefix(length);
    }
    return plain;
}

ELASTICJOB_DECL result<void> read_target(std::string_view target, console_request& into) {
    auto const refused = [](char const* why) {
        return error{errc::invalid_argument, why, "the target of the request"};
    };
    constexpr char const* bad_escape = "has an escape that is none, or a character that no path has";
    if (!target.starts_with('/')) return refused("must be a path that begins with a slash");
    auto const question = target.find('?');
    auto path = target.substr(1, question == target.npos ? target.npos : question - 1);
    while (!path.empty()) {
        auto const end = path.find('/');
        auto segment = unescape(path.substr(0, end), false);
        if (!segment) return refused(bad_escape);
        if (*segment == "." || *segment == ".." || segment->find('/') != std::string::npos)
            return refused("must have no segment that leads elsewhere");
        into.path.push_back(*std::move(segment));
        path = end == path.npos ? std::string_view{} : path.substr(end + 1);
    }
    auto query = question == target.npos ? std::string_view{} : target.substr(question + 1);
    while (!query.empty()) {
        auto const end = query.find('&');
        auto const pair = query.substr(0, end);
        query = end == query.npos ? std::string_view{} : query.substr(end + 1);
        if (pair.empty()) continue;
        auto const equals = pair.find('=');
        auto name = unescape(pair.substr(0, equals), true);
        auto value = unescape(equals == pair.npos ? std::string_view{} : pair.substr(equals + 1), true);
        if (!name || !value) return refused(bad_escape);
        into.query.emplace_back(*std::move(name), *std::move(value));
    }
    return success();
}

ELASTICJOB_DECL int status_of(errc code) noexcept {
    switch (code) {
    case errc::invalid_argument:
    case errc::invalid_path:
        return 400;
    case errc::invalid_cron:
    case errc::cron_never_fires:
    case errc::invalid_config:
    case errc::unknown_strategy:
    case errc::malformed_data:
        return 422;
    case errc::no_node:
        return 404;
    case errc::job_conflict:
    case errc::removed:
    case errc::node_exists:
    case errc::version_conflict:
    case errc::not_empty:
    case errc::not_running:
        return 409;
    case errc::too_large:
        return 413;
    case errc::no_auth: // the registry refuses this server
    case errc::wrong_thread:
    case errc::no_children_for_ephemerals:
    case errc::job_failed:
    case errc::job_threw:
        return 500;
    default:
        return 503;
    }
}

ELASTICJOB_DECL console_reply problem(error const& e, int status) {
    if (status == 0) status = status_of(e.code);
    json_writer out;
    out.member("type", "about:blank").member("title", name_of(e.code)).member("status", status);
    out.member("code", name_of(e.code)).member("detail", e.what);
    if (!e.where.empty()) out.member("where", e.where);
    return {status, "application/problem+json", out.finish(), {}, is_effect_unknown(e.code)};
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_IMPL_CONSOLE_MESSAGE_IPP
