// SPDX-License-Identifier: Apache-2.0
/// \file \brief A request to the console and its answer, as plain values: what is known of HTTP here.
#ifndef ELASTICJOB_CONSOLE_MESSAGE_HPP
#define ELASTICJOB_CONSOLE_MESSAGE_HPP

#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/error.hpp>
#include <elasticjob/core/result.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace elasticjob::detail {

using text_pairs = std::vector<std::pair<std::string, std::string>>;

/// The value of the first pair of that name; empty if there is none.
std::string_view find_text(text_pairs const& all, std::string_view name);

/// A request that has been read as a whole.
struct console_request {
    std::string method{};            ///< `GET`
    std::vector<std::string> path{}; ///< its segments, decoded: `/api/v1/me` is `api`, `v1`, `me`; `/` has none
    text_pairs query{};              ///< decoded, in its order
    text_pairs headers{};            ///< names in lower case
    std::string body{};
    std::string client{}; ///< the address of the peer

    std::string_view header(std::string_view name) const { return find_text(headers, name); }
    std::string_view parameter(std::string_view name) const { return find_text(query, name); }

    /// Whether it may change something.
    bool is_safe() const noexcept { return method == "GET" || method == "HEAD"; }

    /// A number in the query. Nothing if the parameter is absent. Errors: invalid_argument for what is no number from `min` to
    /// `max`.
    result<std::optional<std::uint32_t>> number(std::string_view name, std::uint32_t min, std::uint32_t max) const;
};

/// Reads the path and the query of a request line. Errors: invalid_argument for a target that is no path, for escapes
/// that are none or that make a segment with a `/` or a control character of it, and for segments `.` and `..`.
result<void> read_target(std::string_view target, console_request& into);

struct console_reply {
    int status = 200;
    std::string content_type = "application/json";
    std::string body{};
    text_pairs headers{};
};

/// The status of HTTP for an error.
int status_of(errc code) noexcept;

/// `application/problem+json` (RFC 9457). A status of 0: that of the error.
console_reply problem(error const& e, int status = 0);

} // namespace elasticjob::detail

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/console/message.ipp>
#endif
#endif // ELASTICJOB_CONSOLE_MESSAGE_HPP
