// SPDX-License-Identifier: Apache-2.0
/// \file \brief Sends a request over HTTP. Needs the headers of Boost.Beast; for https OpenSSL, too, and the whole
/// program defines `ELASTICJOB_HTTPS`. In the compiled form, only the file with <elasticjob/src_http.hpp> needs the
/// two.
#ifndef ELASTICJOB_EXECUTION_HTTP_CLIENT_HPP
#define ELASTICJOB_EXECUTION_HTTP_CLIENT_HPP

#include <elasticjob/core/decl.hpp>
#include <elasticjob/execution/http_request.hpp>

#include <stop_token>
#include <string>

namespace elasticjob {

struct http_answer {
    int status = 0;
    std::string body;    ///< at most `http_options::answer_max` bytes
    bool is_cut = false; ///< the answer was longer
};

namespace detail {

// The name depends on the macro, so files with https do not link with a client that has none.
#if defined(ELASTICJOB_HTTPS)
inline namespace with_https {
#else
inline namespace without_https {
#endif

/// Sends the request with these headers in addition to its own, and with this body if it has none. Waits for the
/// answer, at most for `http_options::timeout`. Before that, the C library resolves the host's name within its own
/// limits. Nothing is sent twice, except to follow a redirect. Errors: unreachable (no connection); timed_out; closed
/// (stop was requested); job_failed (the connection was lost, the answer is not HTTP, or the status is not a success;
/// with the beginning of the answer); too_large (the head, the chunk lines or the trailer of the answer exceed a limit
/// of `http_options`); invalid_argument (a redirect that is not followed).
result<http_answer> send_http(http_request const& what, http_headers const& more, std::string const& body,
                              std::stop_token stop);

} // inline namespace
} // namespace detail
} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/execution/http_client.ipp>
#endif
#endif // ELASTICJOB_EXECUTION_HTTP_CLIENT_HPP
