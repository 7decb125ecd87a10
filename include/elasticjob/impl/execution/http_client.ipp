// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_EXECUTION_HTTP_CLIENT_IPP
#define ELASTICJOB_IMPL_EXECUTION_HTTP_CLIENT_IPP

#include <elasticjob/core/line_text.hpp>
#include <elasticjob/execution/http_client.hpp>
#include <elasticjob/execution/timed_io.hpp>

#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/buffer_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>
#if defined(ELASTICJOB_HTTPS)
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/asio/ssl/stream.hpp>
#endif

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

namespace elasticjob::detail {

using http_message = boost::beast::http::request<boost::beast::http::string_body>;

/// One request with all its redirects. Used once. The server's data is read into one buffer of `head_max` bytes and
/// into the body of the answer, so it cannot fill any other memory.
class http_exchange {
public:
    http_exchange(http_request const& what, std::stop_token stop)
        : what_{what},
          options_{what.options()},
          io_{end_of_wait(SystemClock{}.now(), options_.timeout), std::move(stop)} {}

    result<http_answer> send(http_message message);

private:
    using error_code = boost::system::error_code;
    using parser = boost::beast::http::response_parser<boost::beast::http::buffer_body>;
    /// The maximum number of 1xx answers before the final one.
    static constexpr int interim_max = 8;

    result<void> send_to(http_url const& to, http_message& message);
    result<void> connect(http_url const& to);
    result<void> send_secured(http_url const& to, http_message& message);
    template <class Stream>
    result<void> converse(Stream& stream, http_url const& to, http_message& message);
    template <class Stream>
    result<void> read_head(Stream& stream, http_url const& to, std::optional<parser>& answer, bool has_body);
    template <class Stream>
    result<void> read_body(Stream& stream, http_url const& to, parser& answer);

    /// The reason why nothing has been sent, or nothing usable has been received.
    error unconnected(std::string what, error_code why, http_url const& to) const;
    error unread(error_code why, http_url const& to) const;
    std::optional<error> broken_off(http_url const& to) const;

    static std::string in_ms(std::chrono::milliseconds span) { return std::to_string(span.count()) + " ms"; }
    /// Without the query, which may contain a secret.
    static std::string text(http_url const& to) {
        return to.host() + ":" + std::to_string(to.port()) + to.target().substr(0, to.target().find('?'));
    }

    http_request const& what_;
    http_options const& options_;
    http_answer answer_;
    std::string location_; ///< the target of a redirect
    timed_io io_;
    boost::beast::flat_buffer buffer_{options_.head_max};
};

ELASTICJOB_DECL result<http_answer> http_exchange::send(http_message message) {
    namespace http = boost::beast::http;
    auto to = what_.url();
    for (int left = options_.redirects_max;; --left) {
        ELASTICJOB_CHECK(send_to(to, message));
        if (left == 0 || location_.empty()) break;
        ELASTICJOB_TRY(to, to.redirected(location_));
        bool const is_new = answer_.status == 303 || (answer_.status < 303 && message.method() == http::verb::post);
        if (is_new && message.method() != http::verb::head) {
            message.method(http::verb::get);
            message.body().clear();
            message.erase(http::field::content_type);
        }
    }
    if (what_.is_success(answer_.status)) return std::move(answer_);
    auto said = answer_.body.empty() ? std::string{} : ": " + in_quotes(answer_.body);
    return error{errc::job_failed, "the server answered with status " + std::to_string(answer_.status) + said,
                 text(to)};
}

ELASTICJOB_DECL result<void> http_exchange::send_to(http_url const& to, http_message& message) {
    namespace http = boost::beast::http;
    answer_ = {};
    location_.clear();
    buffer_.clear();
    message.target(to.target());
    message.set(http::field::host, to.authority());
    message.erase(http::field::content_length); // from the redirected request
    message.prepare_payload();
    ELASTICJOB_CHECK(connect(to));
    io_.expire_at(mono_time::max());
    auto outcome = to.is_https() ? send_secured(to, message) : converse(io_.stream(), to, message);
    io_.stream().close();
    return outcome;
}

ELASTICJOB_DECL result<void> http_exchange::connect(http_url const& to) {
    using boost::asio::ip::tcp;
    error_code failed;
    tcp::resolver resolver{io_.context()};
    auto const found = resolver.resolve(to.host(), std::to_string(to.port()), tcp::resolver::numeric_service, failed);
    if (failed) return unconnected("the address of the host was not found", failed, to);
    for (auto const& address : found) {
        io_.expire_at(end_of_wait(SystemClock{}.now(), options_.connect_timeout));
        failed = io_.run([&](auto done) { io_.stream().async_connect(address.endpoint(), done); });
        if (!failed || io_.is_asked()) break;
    }
    if (!failed) return success();
    return unconnected("no connection; each address was tried for at most " + in_ms(options_.connect_timeout), failed,
                       to);
}

#if defined(ELASTICJOB_HTTPS)
ELASTICJOB_DECL result<void> http_exchange::send_secured(http_url const& to, http_message& message) {
    namespace ssl = boost::asio::ssl;
    ssl::context trust{ssl::context::tls_client};
    trust.set_options(ssl::context::default_workarounds | ssl::context::no_sslv2 | ssl::context::no_sslv3 |
                      ssl::context::no_tlsv1 | ssl::context::no_tlsv1_1);
    error_code failed;
    if (options_.ca_file.empty())
        trust.set_default_verify_paths(failed);
    else
        trust.load_verify_file(options_.ca_file, failed);
    if (failed) return unconnected("the certificates of ca_file, or of the system, cannot be read", failed, to);

    ssl::stream<boost::beast::tcp_stream&> stream{io_.stream(), trust};
    error_code is_name; // an address must not be sent as the name of a server
    boost::asio::ip::make_address(to.host(), is_name);
    if (is_name) SSL_set_tlsext_host_name(stream.native_handle(), to.host().c_str());
    stream.set_verify_mode(ssl::verify_peer);
    stream.set_verify_callback(ssl::host_name_verification{to.host()});
    failed = io_.run([&](auto done) { stream.async_handshake(ssl::stream_base::client, done); });
    if (failed) return unconnected("no secure connection", failed, to);
    return converse(stream, to, message);
}
#else
ELASTICJOB_DECL result<void> http_exchange::send_secured(http_url const& to, http_message&) {
    return unconnected("no secure connection", boost::asio::error::operation_not_supported,
                       to); // `http_request` has none
}
#endif

template <class Stream>
result<void> http_exchange::converse(Stream& stream, http_url const& to, http_message& message) {
    namespace http = boost::beast::http;
    auto const unsent = io_.run([&](auto done) { http::async_write(stream, message, done); });
    if (unsent && broken_off(to)) return unread(unsent, to);
    // A server may answer, and hang up, before it has read the whole request. The answer says why, as "413 Content Too
    // Large" does. It is no success, because the server cannot have used what it has not read.
    std::optional<parser> answer;
    ELASTICJOB_CHECK(read_head(stream, to, answer, message.method() != http::verb::head));
    ELASTICJOB_CHECK(read_body(stream, to, *answer));
    if (unsent && what_.is_success(answer_.status)) return unread(unsent, to);
    return success();
}

template <class Stream>
result<void> http_exchange::read_head(Stream& stream, http_url const& to, std::optional<parser>& answer,
                                      bool has_body) {
    namespace http = boost::beast::http;
    for (int interim = 0; interim <= interim_max; ++interim) {
        answer.emplace();
        answer->header_limit(static_cast<std::uint32_t>(options_.head_max));
        answer->body_limit(std::numeric_limits<std::uint64_t>::max()); // `read_body` stops in time
        answer->skip(!has_body);
        auto const failed = io_.run([&](auto done) { http::async_read_header(stream, buffer_, *answer, done); });
        if (failed) return unread(failed, to);
        auto const& head = answer->get();
        auto const fields = static_cast<std::size_t>(std::distance(head.begin(), head.end()));
        if (fields > options_.headers_max)
            return error{errc::too_large,
                         "the answer has " + std::to_string(fields) + " headers; at most " +
                             std::to_string(options_.headers_max) + " are taken (http_options::headers_max)",
                         text(to)};
        int const status = static_cast<int>(head.result_int());
        if (status / 100 == 1) continue;
        answer_.status = status;
        auto const location = head[http::field::location];
        if (status == 301 || status == 302 || status == 303 || status == 307 || status == 308)
            location_.assign(location.data(), location.size());
        return success();
    }
    return error{errc::too_large,
                 "the server sent more than " + std::to_string(interim_max) + " answers 1xx and none that counts",
                 text(to)};
}

template <class Stream>
result<void> http_exchange::read_body(Stream& stream, http_url const& to, parser& answer) {
    namespace http = boost::beast::http;
    for (char part[8'192]; !answer.is_done();) {
        auto const left = options_.answer_max - answer_.body.size();
        auto const wanted = left < sizeof part ? left + 1 : sizeof part; // one more shows that the answer is longer
        auto& body = answer.get().body();
        body.data = part;
        body.size = wanted;
        auto const failed = io_.run([&](auto done) { http::async_read(stream, buffer_, answer, done); });
        auto const count = wanted - body.size;
        answer_.body.append(part, std::min(count, left));
        answer_.is_cut = count > left;
        if (answer_.is_cut) break;
        if (failed && failed != http::error::need_buffer) return unread(failed, to);
    }
    return success();
}

ELASTICJOB_DECL std::optional<error> http_exchange::broken_off(http_url const& to) const {
    if (io_.is_asked()) return error{errc::closed, "the request was broken off", text(to)};
    if (io_.is_too_late())
        return error{errc::timed_out, "no complete answer within " + in_ms(options_.timeout), text(to)};
    return std::nullopt;
}

ELASTICJOB_DECL error http_exchange::unconnected(std::string what, error_code why, http_url const& to) const {
    if (auto const broken = broken_off(to)) return *broken;
    return error{errc::unreachable, std::move(what) + " (" + why.message() + ")", text(to)};
}

ELASTICJOB_DECL error http_exchange::unread(error_code why, http_url const& to) const {
    namespace http = boost::beast::http;
    if (auto const broken = broken_off(to)) return *broken;
    auto const limit = " is longer than " + std::to_string(options_.head_max) + " bytes (http_options::head_max)";
    if (why == http::error::header_limit) return error{errc::too_large, "the head of the answer" + limit, text(to)};
    if (why == http::error::buffer_overflow)
        return error{errc::too_large, "a line between the chunks of the answer, or what follows the last one," + limit,
                     text(to)};
    bool const is_malformed = why.category() == make_error_code(http::error::bad_version).category() &&
                              why != http::error::end_of_stream && why != http::error::partial_message;
    return error{errc::job_failed,
                 (is_malformed ? "the answer is not as HTTP/1.1 has it ("
                               : "the connection was lost before the answer was complete (") +
                     why.message() + ")",
                 text(to)};
}

} // namespace elasticjob::detail

namespace elasticjob {

// Qualified, because its inline namespace has one of two names.
ELASTICJOB_DECL result<http_answer> detail::send_http(http_request const& what, http_headers const& more,
                                                      std::string const& body, std::stop_token stop) {
    namespace http = boost::beast::http;
    http_message message;
    message.version(11);
    message.method_string(what.options().method);
    message.set(http::field::connection, "close");
    if (!what.has_header("Accept")) message.set(http::field::accept, "*/*");
    if (!what.has_header("User-Agent")) message.set(http::field::user_agent, "elasticjob");
    for (auto const* const some : {&what.options().headers, &more})
        for (auto const& [name, value] : *some) message.insert(name, value);
    message.body() = what.options().body.value_or(body);
    http_exchange one{what, std::move(stop)};
    return one.send(std::move(message));
}

} // namespace elasticjob
#endif // ELASTICJOB_IMPL_EXECUTION_HTTP_CLIENT_IPP
