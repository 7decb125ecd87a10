// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_EXECUTION_HTTP_URL_IPP
#define ELASTICJOB_IMPL_EXECUTION_HTTP_URL_IPP

#include <elasticjob/core/line_text.hpp>
#include <elasticjob/execution/http_url.hpp>

namespace elasticjob {

ELASTICJOB_DECL result<http_url> http_url::parse(std::string_view text) {
    auto const wrong = [text](std::string what) {
        return error{errc::invalid_argument, "the URL " + std::move(what), without_secrets(text)};
    };
    if (text.size() > length_max) return wrong("must be at most " + std::to_string(length_max) + " bytes long");
    auto rest = text;
    http_url url;
    if (rest.starts_with("https://"))
        url.is_https_ = true;
    else if (!rest.starts_with("http://"))
        return wrong("must begin with http:// or https://");
    rest.remove_prefix(url.is_https_ ? 8 : 7);

    auto const authority = rest.substr(0, rest.find_first_of("/?#"));
    rest.remove_prefix(authority.size());
    if (authority.find('@') != authority.npos)
        return wrong("must not hold a user or a password: send them in a header");
    auto const is_bracketed = authority.starts_with('[');
    auto const host_end = is_bracketed ? authority.find(']') : authority.find(':');
    if (is_bracketed && host_end == authority.npos) return wrong("has no ] behind the address");
    url.host_ = is_bracketed ? authority.substr(1, host_end - 1) : authority.substr(0, host_end);
    auto const fits = [&](char c) {
        return is_bracketed ? detail::is_hex_digit(c) || c == ':' || c == '.'
                            : detail::is_letter(c) || detail::is_digit(c) || c == '.' || c == '-' || c == '_';
    };
    if (url.host_.empty() || !std::all_of(url.host_.begin(), url.host_.end(), fits))
        return wrong("has no host that could be one");
    url.port_ = url.is_https_ ? 443 : 80;
    auto port = host_end == authority.npos ? "" : authority.substr(host_end + (is_bracketed ? 1 : 0));
    if (!port.empty()) {
        bool const is_number = port.starts_with(':') && port.size() > 1 && detail::is_digit(port[1]) &&
                               detail::read_number(port.substr(1), url.port_);
        if (!is_number || url.port_ < 1 || url.port_ > 65'535) return wrong("has no port from 1 to 65535");
    }
    if (auto const bad = first_unfit(rest); bad != rest.npos)
        return wrong(rest[bad] == '#' ? "must not have a fragment (#), which is never sent"
                                      : "must have " + detail::in_quotes(rest.substr(bad, 1)) + " written as %xx");
    url.target_ = rest.starts_with('/') ? std::string{rest} : "/" + std::string{rest};
    return url;
}

namespace detail {

/// Lower case up to `end`, because scheme and host do not depend on the case.
ELASTICJOB_DECL std::string lowered(std::string_view text, std::size_t end) {
    end = std::min(end, text.size());
    return in_lower_case(text.substr(0, end)).append(text.substr(end));
}

/// RFC 3986, section 5.2.4, for a path that begins with a slash. A query may follow it.
ELASTICJOB_DECL std::string without_dots(std::string_view target) {
    auto const path_end = std::min(target.find('?'), target.size());
    std::string kept;
    for (std::size_t begin = 0; begin < path_end;) {
        auto const end = std::min(target.find('/', begin + 1), path_end);
        auto const segment = target.substr(begin, end - begin); // such as /a
        bool const is_up = segment == "/..", is_here = segment == "/.";
        if (is_up) kept.erase(std::min(kept.rfind('/'), kept.size()));
        if (!is_up && !is_here)
            kept += segment;
        else if (end == path_end)
            kept += '/';
        begin = end;
    }
    return kept.append(target.substr(path_end));
}

} // namespace detail

ELASTICJOB_DECL std::string http_url::resolved(std::string_view reference) const {
    auto const scheme_end = reference.find_first_of(":/?");
    if (scheme_end != reference.npos && reference[scheme_end] == ':') {
        auto const after_slashes = std::min(scheme_end + 3, reference.size());
        return detail::lowered(reference, reference.find_first_of("/?", after_slashes));
    }
    if (reference.starts_with("//"))
        return (is_https_ ? "https:" : "http:") + detail::lowered(reference, reference.find_first_of("/?", 2));
    std::string_view const path = std::string_view{target_}.substr(0, target_.find('?'));
    if (reference.empty()) return origin() + target_;
    if (reference.starts_with('?')) return origin() + std::string{path} + std::string{reference};
    if (reference.starts_with('/')) return origin() + detail::without_dots(reference);
    auto const directory = path.substr(0, path.rfind('/') + 1);
    return origin() + detail::without_dots(std::string{directory} + std::string{reference});
}

ELASTICJOB_DECL result<http_url> http_url::redirected(std::string_view location) const {
    ELASTICJOB_TRY(auto next, parse(resolved(location.substr(0, location.find('#')))));
    if (next.origin() != origin())
        return error{errc::invalid_argument, "a redirect to another server is not followed", without_secrets(location)};
    return next;
}

ELASTICJOB_DECL std::string http_url::bracketed_host() const {
    return host_.find(':') == host_.npos ? host_ : "[" + host_ + "]";
}

ELASTICJOB_DECL std::string http_url::origin() const {
    return detail::in_lower_case((is_https_ ? "https://" : "http://") + bracketed_host() + ":" + std::to_string(port_));
}

ELASTICJOB_DECL std::string http_url::authority() const {
    return port_ == (is_https_ ? 443 : 80) ? bracketed_host() : bracketed_host() + ":" + std::to_string(port_);
}

ELASTICJOB_DECL std::string http_url::without_secrets(std::string_view text) {
    // A password may contain any character, even one that ends the authority: the last @ counts.
    std::string shown;
    if (auto const at = text.rfind('@'); at != text.npos) {
        for (std::string_view const scheme : {"http://", "https://"})
            if (text.starts_with(scheme)) shown = scheme;
        shown += "...";
        text.remove_prefix(at);
    }
    auto const end = text.find_first_of("?#");
    shown += text.substr(0, end);
    if (end != text.npos) shown.append(text.substr(end, 1)).append("...");
    return detail::in_quotes(shown);
}

ELASTICJOB_DECL std::size_t http_url::first_unfit(std::string_view text) {
    constexpr std::string_view marks = "-._~!$&'()*+,;=:@/?";
    for (std::size_t i = 0; i < text.size(); ++i) {
        bool const is_escape = text[i] == '%' && i + 2 < text.size() && detail::is_hex_digit(text[i + 1]) &&
                               detail::is_hex_digit(text[i + 2]);
        if (!is_escape && !detail::is_letter(text[i]) && !detail::is_digit(text[i]) &&
            marks.find(text[i]) == marks.npos)
            return i;
    }
    return text.npos;
}

} // namespace elasticjob
#endif // ELASTICJOB_IMPL_EXECUTION_HTTP_URL_IPP
