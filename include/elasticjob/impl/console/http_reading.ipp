// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_CONSOLE_HTTP_READING_IPP
#define ELASTICJOB_IMPL_CONSOLE_HTTP_READING_IPP

#include <elasticjob/config/text.hpp> // in_lower_case
#include <elasticjob/console/http_reading.hpp>

#include <cstdint>
#include <utility>

namespace elasticjob::detail {

ELASTICJOB_DECL void limit(http_parser& parser, console_options const& o) {
    parser.header_limit(static_cast<std::uint32_t>(o.head_max));
    parser.body_limit(o.body_max);
}

ELASTICJOB_DECL std::optional<console_reply> fault_of(boost::system::error_code failed) {
    namespace http = boost::beast::http;
    if (failed == http::error::header_limit || failed == http::error::buffer_overflow)
        return problem({errc::too_large, "the head of the request is too long"}, 431);
    if (failed == http::error::body_limit)
        return problem({errc::too_large, "the body of the request is too long"}, 413);
    bool const is_of_http = failed.category() == make_error_code(http::error::bad_version).category();
    if (!is_of_http || failed == http::error::end_of_stream || failed == http::error::partial_message)
        return std::nullopt;
    return problem({errc::invalid_argument, "the request cannot be read: " + failed.message()});
}

/// Refuses a message whose end a proxy in front of the console may see elsewhere (RFC 9112, section 6), and one for two
/// hosts. Errors: invalid_argument.
inline result<void> check_framing(http_parser::value_type const& message) {
    namespace http = boost::beast::http;
    std::size_t codings = 0, hosts = 0;
    for (auto const& field : message) {
        codings += field.name() == http::field::transfer_encoding;
        hosts += field.name() == http::field::host;
    }
    bool const is_chunked = boost::beast::iequals(message[http::field::transfer_encoding], "chunked");
    bool const has_length = message.find(http::field::content_length) != message.end();
    if (codings > 1 || (codings == 1 && (!is_chunked || has_length)))
        return error{errc::invalid_argument, "must be chunked alone, without Content-Length", "Transfer-Encoding"};
    if (hosts > 1) return error{errc::invalid_argument, "occurs twice", "Host"};
    return success();
}

ELASTICJOB_DECL result<console_request> read_request(http_parser const& parser, std::string client) {
    auto const& message = parser.get();
    ELASTICJOB_CHECK(check_framing(message));
    auto const text = [](boost::beast::string_view s) { return std::string{s.data(), s.size()}; };
    console_request r;
    r.method = text(message.method_string());
    r.client = std::move(client);
    r.body = message.body();
    for (auto const& field : message) {
        r.headers.emplace_back(in_lower_case(text(field.name_string())), text(field.value()));
    }
    ELASTICJOB_CHECK(read_target(text(message.target()), r));
    return r;
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_IMPL_CONSOLE_HTTP_READING_IPP
