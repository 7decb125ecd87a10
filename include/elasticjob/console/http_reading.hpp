// SPDX-License-Identifier: Apache-2.0
/// \file \brief Converts a request of HTTP, as Boost.Beast parses it, to a request of the console. Needs the headers of
/// Boost.Beast.
#ifndef ELASTICJOB_CONSOLE_HTTP_READING_HPP
#define ELASTICJOB_CONSOLE_HTTP_READING_HPP

#include <elasticjob/console/message.hpp>
#include <elasticjob/console/options.hpp>
#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/result.hpp>

#include <boost/beast/core/error.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include <optional>
#include <string>

namespace elasticjob::detail {

using http_parser = boost::beast::http::request_parser<boost::beast::http::string_body>;

/// Sets the limits of the head and the body.
void limit(http_parser& parser, console_options const& o);

/// The answer to a request that cannot be parsed; nothing if no client waits for an answer.
std::optional<console_reply> fault_of(boost::system::error_code failed);

/// Errors: those of `read_target`.
result<console_request> read_request(http_parser const& parser, std::string client);

} // namespace elasticjob::detail

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/console/http_reading.ipp>
#endif
#endif // ELASTICJOB_CONSOLE_HTTP_READING_HPP
