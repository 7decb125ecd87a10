// SPDX-License-Identifier: Apache-2.0
/// \file \brief A request to the console and its answer, as plain values. Nothing else of the console depends on HTTP.
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

/// A request that has been read completely.
struct console_request {
    std::string method{};            ///< such as `GET`
    std::vector<std::string> path{}; ///< its segments, decoded: `/api/v1/me` is `api`, `v1`, `me`; `/` has none
    text_pairs query{};              ///< decoded, in its order
    text_pairs headers{};            ///< names in lower case
    std::string body{};
    std::string client{}; ///< the address of the peer

    std::string_view header(std::string_view name) const { return find_text(headers, name); }
    std::string_view parameter(std::string_view name) const { return find_text(query, name); }

    /// Whether its method promises not to change anything.
    bool is_safe() const noexcept { return method == "GET" || method == "HEAD"; }

    /// A number in the query. Nothing if the parameter is missing. Errors: invalid_argument if it is no number from
    /// `min` to `max`.
    result<std::optional<std::uint32_t>> number(std::string_view name, std::uint32_t min, std::uint32_t max) const;

    /// A word in the query. Empty if the parameter is missing. Errors: invalid_argument if it is none of `words`.
    result<std::string> one_of(std::vector<std::string> const& words, std::string_view name) const;
};

/// The names of an enumeration whose enumerators are the numbers from 0 to `last`.
template <class Enum>
std::vector<std::string> names_up_to(Enum last) {
    std::vector<std::string> names;
    for (int i = 0; i <= static_cast<int>(last); ++i) names.emplace_back(name_of(static_cast<Enum>(i)));
    return names;
}

/// Reads the path and the query of a request line. Errors: invalid_argument for a target that is no path, for invalid
/// escapes, for escapes of a `/` or a control character in a segment, and for segments `.` and `..`.
result<void> read_target(std::string_view target, console_request& into);

struct console_reply {
    int status = 200;
    std::string content_type = "application/json";
    std::string body{};
    text_pairs headers{};
    bool is_effect_unknown = false; ///< the request may have taken effect, as a whole or in part
};

/// The status code of HTTP for an error.
int status_of(errc code) noexcept;

/// The body `application/problem+json` (RFC 9457). If `status` is 0, the status is that of the error.
console_reply problem(error const& e, int status = 0);

} // namespace elasticjob::detail

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/console/message.ipp>
#endif
#endif // ELASTICJOB_CONSOLE_MESSAGE_HPP
