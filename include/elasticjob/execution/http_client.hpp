// SPDX-License-Identifier: Apache-2.0
/// \file \brief Sends a request over HTTP. Needs cpp-httplib: `pkg-config --cflags --libs cpp-httplib`.
#ifndef ELASTICJOB_EXECUTION_HTTP_CLIENT_HPP
#define ELASTICJOB_EXECUTION_HTTP_CLIENT_HPP

#include <elasticjob/core/algorithm.hpp>
#include <elasticjob/core/chrono.hpp>
#include <elasticjob/core/clock.hpp>
#include <elasticjob/execution/http_request.hpp>
#include <elasticjob/execution/no_sigpipe.hpp>
#include <elasticjob/execution/socket_limit.hpp>

#include <cstddef>
#include <httplib.h>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

namespace elasticjob {

struct http_answer {
    int status = 0;
    std::string body;    ///< up to `http_options::answer_max`
    bool is_cut = false; ///< there was more
};

namespace detail {

/// One request, and all its redirects. Used once.
class http_exchange {
public:
    http_exchange(http_request const& what, std::stop_token stop)
        : what_{what},
          options_{what.options()},
          limit_{std::chrono::steady_clock::now() + options_.timeout, std::move(stop)} {}

    result<http_answer> send(httplib::Request request) {
        no_sigpipe const silence;
        auto to = what_.url();
        for (int left = options_.redirects_max;; --left) {
            request.path = to.target();
            auto const failed = send_to(to, request);
            if (failed != httplib::Error::Success && !answer_.is_cut) {
                auto const why = limit_.end();
                return why == reason::none ? unanswered(failed, to) : broken_off(why, to);
            }
            if (left == 0 || location_.empty()) break;
            ELASTICJOB_TRY(to, to.redirected(location_));
            bool const is_new = answer_.status == 303 || (answer_.status < 303 && request.method == "POST");
            if (is_new && request.method != "HEAD") {
                request.method = "GET";
                request.body.clear();
                request.headers.erase("Content-Type");
            }
        }
        if (auto const why = limit_.end(); why != reason::none) return broken_off(why, to);
        if (what_.is_success(answer_.status)) return std::move(answer_);
        auto said = answer_.body.empty() ? std::string{} : ": " + in_quotes(answer_.body);
        return error{errc::job_failed, "the server answered with status " + std::to_string(answer_.status) + said,
                     text(to)};
    }

private:
    using reason = socket_limit::reason;

    httplib::Error send_to(http_url const& to, httplib::Request& request) {
        if (!to.is_https()) {
            httplib::ClientImpl client{to.host(), to.port()};
            return send_with(client, request);
        }
#if defined(CPPHTTPLIB_OPENSSL_SUPPORT)
        httplib::SSLClient client{to.host(), to.port()};
        if (!options_.ca_file.empty()) client.set_ca_cert_path(options_.ca_file);
        return send_with(client, request);
#else
        return httplib::Error::SSLConnection; // `http_request` has none
#endif
    }

    httplib::Error send_with(httplib::ClientImpl& client, httplib::Request& request) {
        using namespace std::chrono;
        client.set_socket_options([this](int socket) { limit_.take(socket); });
        client.set_url_encode(false);
        client.set_connection_timeout(std::min(options_.connect_timeout, options_.timeout));
        // The limit is earlier.
        client.set_read_timeout(options_.timeout + seconds{1});
        client.set_write_timeout(options_.timeout + seconds{1});
        answer_ = {};
        location_.clear();
        request.response_handler = [this](httplib::Response const& head) {
            hear(head);
            return true;
        };
        request.content_receiver = [this](char const* data, std::size_t size, auto&&...) {
            auto const wanted = std::min(size, options_.answer_max - answer_.body.size());
            answer_.body.append(data, wanted);
            answer_.is_cut = wanted < size;
            return !answer_.is_cut;
        };
        httplib::Response response;
        auto failed = httplib::Error::Success;
        if (client.send(request, response, failed))
            hear(response); // which the handler is not told if there is no body
        else if (failed == httplib::Error::Success)
            failed = httplib::Error::Unknown;
        return failed;
    }

    void hear(httplib::Response const& head) {
        answer_.status = head.status;
        bool const leads_on =
            head.status == 301 || head.status == 302 || head.status == 303 || head.status == 307 || head.status == 308;
        if (leads_on) location_ = head.get_header_value("Location");
    }

    error broken_off(reason why, http_url const& to) const {
        if (why == reason::asked) return error{errc::closed, "the request was broken off", text(to)};
        return error{errc::timed_out, "no complete answer within " + in_ms(options_.timeout), text(to)};
    }

    error unanswered(httplib::Error failed, http_url const& to) const {
        auto const why = " (" + httplib::to_string(failed) + ")";
        switch (failed) {
        case httplib::Error::Read:
        case httplib::Error::Write:
        case httplib::Error::Canceled:
        case httplib::Error::Unknown:
            return error{errc::job_failed, "the connection was lost before the answer was complete" + why, text(to)};
        default:
            return error{errc::unreachable,
                         "no connection; each address was tried for at most " + in_ms(options_.connect_timeout) + why,
                         text(to)};
        }
    }

    static std::string in_ms(std::chrono::milliseconds span) { return std::to_string(span.count()) + " ms"; }
    /// Without the query, in which there may be a secret.
    static std::string text(http_url const& to) {
        return to.host() + ":" + std::to_string(to.port()) + to.target().substr(0, to.target().find('?'));
    }

    http_request const& what_;
    http_options const& options_;
    http_answer answer_;
    std::string location_; ///< where a redirect leads
    socket_limit limit_;
};

/// Sends the request with these headers besides its own, and with this body if it has none. Waits for the answer, at most for
/// `http_options::timeout`; on top of that for the name of the host, which the C library looks up within limits of its own.
/// Nothing is sent twice, but to follow a redirect. Errors: unreachable (no connection); timed_out; closed (`stop` asked);
/// job_failed (the connection was lost, or the status is no success; with the beginning of the answer); invalid_argument (a
/// redirect that is not followed).
inline result<http_answer> send_http(http_request const& what, http_headers const& more, std::string const& body,
                                     std::stop_token stop) {
    httplib::Request request;
    request.method = what.options().method;
    for (auto const* const some : {&what.options().headers, &more})
        for (auto const& [name, value] : *some) request.headers.emplace(name, value);
    request.body = what.options().body.value_or(body);
    http_exchange one{what, std::move(stop)};
    return one.send(std::move(request));
}

} // namespace detail
} // namespace elasticjob
#endif // ELASTICJOB_EXECUTION_HTTP_CLIENT_HPP
