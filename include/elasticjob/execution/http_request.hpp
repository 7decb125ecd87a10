// SPDX-License-Identifier: Apache-2.0
/// \file \brief `http_request`: a validated request with its time-outs, its limits, and the statuses that count as
/// success.
#ifndef ELASTICJOB_EXECUTION_HTTP_REQUEST_HPP
#define ELASTICJOB_EXECUTION_HTTP_REQUEST_HPP

#include <elasticjob/config/text.hpp>
#include <elasticjob/core/algorithm.hpp>
#include <elasticjob/core/chrono.hpp>
#include <elasticjob/core/line_text.hpp>
#include <elasticjob/execution/http_url.hpp>

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace elasticjob {

using http_headers = std::vector<std::pair<std::string, std::string>>; ///< name, value

/// A range of status codes.
struct http_status_range {
    int from = 200; ///< included
    int to = 299;   ///< included
};

/// The options of a request, and the limits of its answer.
struct http_options {
    std::string method = "POST"; ///< GET, HEAD, POST, PUT, PATCH or DELETE
    http_headers headers{};      ///< in addition to the library's; a name or a value has at most 65000 bytes

    /// The body; nothing: the sender of the request may add one.
    std::optional<std::string> body{};

    std::chrono::milliseconds connect_timeout{5'000}; ///< for each address of the host

    /// For the whole request, with all redirects: connecting, sending, waiting and reading.
    std::chrono::milliseconds timeout{30'000};

    /// The maximum number of bytes of the answer that are read. If there are more, the connection is closed, and the
    /// status counts.
    std::size_t answer_max = 65'536;

    /// The maximum size, in bytes, of the status line and the headers of an answer together. It also limits a line
    /// between two chunks, and the trailer. A larger answer is an error. At most 65536.
    std::size_t head_max = 16'384;

    std::size_t headers_max = 100; ///< the maximum number of headers of an answer

    std::vector<http_status_range> success{http_status_range{}}; ///< any other status is a failure

    /// The maximum number of redirects that are followed, all on the same server.
    int redirects_max = 0;

    /// The file with the certificate authorities, in PEM; empty for those of the system.
    std::string ca_file{};
};

/// Whether `https` is supported. A program that defines `ELASTICJOB_HTTPS` links OpenSSL.
#if defined(ELASTICJOB_HTTPS)
inline constexpr bool has_https = true;
#else
inline constexpr bool has_https = false;
#endif

/// A request that can be sent. A value.
class http_request {
public:
    /// Errors: invalid_argument, with the reason.
    static result<http_request> make(std::string_view url, http_options options = {}) {
        ELASTICJOB_TRY(auto to, http_url::parse(url));
        if (to.is_https() && !has_https)
            return error{errc::invalid_argument,
                         "https needs OpenSSL: define ELASTICJOB_HTTPS, and link libssl and libcrypto",
                         http_url::without_secrets(url)};
        ELASTICJOB_CHECK(check(options));
        return http_request{std::move(to), std::move(options)};
    }

    http_url const& url() const noexcept { return url_; }             ///< as parsed by `make`
    http_options const& options() const noexcept { return options_; } ///< as given

    /// Whether `http_options::success` contains the status.
    bool is_success(int status) const {
        auto const holds = [status](http_status_range r) { return r.from <= status && status <= r.to; };
        return std::any_of(options_.success.begin(), options_.success.end(), holds);
    }

    /// Whether the request has this header of its own; ignores case.
    bool has_header(std::string_view name) const {
        auto const is_it = [&](auto const& h) { return in_small_letters(h.first) == in_small_letters(name); };
        return std::any_of(options_.headers.begin(), options_.headers.end(), is_it);
    }

    /// Whether the method is POST, PUT or PATCH.
    bool takes_body() const { return options_.method.starts_with('P'); }

private:
    static constexpr std::size_t header_max = 65'000; // Boost.Beast can send a little more

    http_request(http_url to, http_options o) : url_{std::move(to)}, options_{std::move(o)} {}

    static result<void> check(http_options const& o) {
        using namespace std::chrono;
        auto const wrong = [](std::string what, std::string_view where) {
            return error{errc::invalid_argument, std::move(what), std::string{where}};
        };
        constexpr std::array methods{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"};
        if (std::find(methods.begin(), methods.end(), o.method) == methods.end())
            return wrong("must be GET, HEAD, POST, PUT, PATCH or DELETE, in capitals", "method");
        if (o.body && (o.method == "GET" || o.method == "HEAD")) return wrong("a " + o.method + " has no body", "body");
        for (auto const& [name, value] : o.headers) {
            if (!is_header_name(name)) return wrong("is no name of a header: " + detail::in_quotes(name), "headers");
            if (is_ours(name)) return wrong("is written by the library: " + detail::in_quotes(name), "headers");
            if (name.size() > header_max || value.size() > header_max)
                return wrong((name.size() > header_max ? "the name " : "the value of ") + detail::in_quotes(name) +
                                 " must have at most " + std::to_string(header_max) + " bytes",
                             "headers");
            if (!is_header_value(value))
                return wrong("the value of " + detail::in_quotes(name) +
                                 " must not have control characters, or blanks at its ends",
                             "headers");
        }
        auto const fits = [](milliseconds span) { return milliseconds{0} < span && span <= hours{24}; };
        if (!fits(o.connect_timeout)) return wrong("must be more than 0, and at most a day", "connect_timeout");
        if (!fits(o.timeout)) return wrong("must be more than 0, and at most a day", "timeout");
        if (o.head_max < 256 || o.head_max > 65'536) return wrong("must be from 256 to 65536 bytes", "head_max");
        if (o.headers_max < 1 || o.headers_max > 10'000) return wrong("must be from 1 to 10000", "headers_max");
        for (auto const r : o.success)
            if (r.from < 100 || r.to > 599 || r.from > r.to) return wrong("must be ranges from 100 to 599", "success");
        if (o.success.empty()) return wrong("must have a range, or no answer is a good one", "success");
        if (o.redirects_max < 0 || o.redirects_max > 20) return wrong("must be from 0 to 20", "redirects_max");
        return success();
    }
    static bool is_header_name(std::string_view name) {
        constexpr std::string_view marks = "!#$%&'*+-.^_`|~";
        auto const fits = [&](char c) {
            return detail::is_letter(c) || detail::is_digit(c) || marks.find(c) != marks.npos;
        };
        return !name.empty() && std::all_of(name.begin(), name.end(), fits);
    }
    static bool is_header_value(std::string_view value) {
        auto const fits = [](char c) { return (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f) || c == '\t'; };
        return detail::trim(value).size() == value.size() && std::all_of(value.begin(), value.end(), fits);
    }
    static bool is_ours(std::string_view name) {
        auto const low = in_small_letters(name);
        return low == "host" || low == "content-length" || low == "transfer-encoding" || low == "connection" ||
               low.starts_with("elasticjob-");
    }
    static std::string in_small_letters(std::string_view name) {
        std::string low{name};
        for (auto& c : low)
            if ('A' <= c && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
        return low;
    }

    http_url url_;
    http_options options_;
};

} // namespace elasticjob
#endif // ELASTICJOB_EXECUTION_HTTP_REQUEST_HPP
