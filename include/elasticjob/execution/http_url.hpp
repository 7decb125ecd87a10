// SPDX-License-Identifier: Apache-2.0
/// \file \brief `http_url`: where a request goes, taken apart and checked.
#ifndef ELASTICJOB_EXECUTION_HTTP_URL_HPP
#define ELASTICJOB_EXECUTION_HTTP_URL_HPP

#include <elasticjob/config/text.hpp>
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

/// `http://host:port/path?query`, or `https`. The host is a name, an IPv4 address, or an IPv6 address between brackets. A
/// value.
class http_url {
public:
    static constexpr std::size_t length_max = 4096;

    /// Errors: invalid_argument, which says what is wrong with it. Nothing is escaped here: what a URL must not hold as it is
    /// has to be written `%20` already.
    static result<http_url> parse(std::string_view text);

    bool is_https() const noexcept { return is_https_; }
    std::string const& host() const noexcept { return host_; } ///< without brackets
    int port() const noexcept { return port_; }
    std::string const& target() const noexcept { return target_; } ///< path and query

    /// As the header `Host` has it: with brackets around an IPv6 address, and without the usual port.
    std::string authority() const;

    /// Text that was to be a URL, as an error may show it: in quotes, without user and password and without the query.
    static std::string without_secrets(std::string_view text);

    /// Where a redirect leads that says `location`: no further than to another target of the same server. Errors:
    /// invalid_argument.
    result<http_url> redirected(std::string_view location) const;

private:
    std::string origin() const;
    std::string bracketed_host() const;

    /// The first byte that may not stand in a path or query as it is.
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
