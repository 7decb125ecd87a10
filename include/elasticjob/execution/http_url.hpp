// SPDX-License-Identifier: Apache-2.0
/// \file \brief `http_url`: a parsed and validated URL.
#ifndef ELASTICJOB_EXECUTION_HTTP_URL_HPP
#define ELASTICJOB_EXECUTION_HTTP_URL_HPP

#include <elasticjob/core/algorithm.hpp>
#include <elasticjob/config/text.hpp>
#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/result.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace elasticjob {

namespace detail {

constexpr bool is_letter(char c) noexcept { return ('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z'); }
constexpr bool is_hex_digit(char c) noexcept { return is_digit(c) || ('a' <= c && c <= 'f') || ('A' <= c && c <= 'F'); }

} // namespace detail

/// `http://host:port/path?query`, or `https`. The host is a name, an IPv4 address, or an IPv6 address between brackets.
/// A value.
class http_url {
public:
    static constexpr std::size_t length_max = 4096;

    /// Errors: invalid_argument, with the reason. This function escapes nothing: the text must already contain `%20`
    /// and the like.
    static result<http_url> parse(std::string_view text);

    bool is_https() const noexcept { return is_https_; }
    std::string const& host() const noexcept { return host_; } ///< without brackets
    int port() const noexcept { return port_; }
    std::string const& target() const noexcept { return target_; } ///< path and query

    /// The value of the header `Host`: with brackets around an IPv6 address, and without the default port.
    std::string authority() const;

    /// The form of an invalid URL for errors: in quotes, without user, password and query.
    static std::string without_secrets(std::string_view text);

    /// The target of a redirect to `location`, which must be on the same server: a URL, or a reference relative to this
    /// one (RFC 3986, section 5.2). Its fragment is dropped, because it is never sent. Errors: invalid_argument.
    result<http_url> redirected(std::string_view location) const;

private:
    std::string origin() const;
    std::string bracketed_host() const;

    /// The URL that the reference, which has no fragment, means from here.
    std::string resolved(std::string_view reference) const;

    /// The first byte that must be escaped in a path or query.
    static std::size_t first_unfit(std::string_view text);

    http_url() = default;

    bool is_https_ = false;
    std::string host_;
    int port_ = 0;
    std::string target_;
};

} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/execution/http_url.ipp>
#endif
#endif // ELASTICJOB_EXECUTION_HTTP_URL_HPP
