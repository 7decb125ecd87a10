// SPDX-License-Identifier: Apache-2.0
/// \file \brief Answers HTTP requests for one page, for a limited number of clients. Needs the headers of Boost.Beast.
#ifndef ELASTICJOB_EVENTS_METRICS_SERVER_HPP
#define ELASTICJOB_EVENTS_METRICS_SERVER_HPP

#include <elasticjob/core/guarded_call.hpp>
#include <elasticjob/events/metrics_source.hpp>

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace elasticjob::detail {

struct metrics_server_limits {
    std::chrono::milliseconds read;
    std::chrono::milliseconds write;
    std::size_t connections;
    std::size_t head;
};

/// Serves one client after the other: reads the head of a request, writes the page, and closes the connection. It needs
/// a buffer of `head` bytes and one page for any client. It reads no body and ignores all headers, including `Range`.
template <metrics_source Metrics>
class metrics_connection {
public:
    metrics_connection(boost::asio::ip::tcp::acceptor& from, Metrics const& metrics,
                       metrics_server_limits const& limits)
        : from_{from},
          metrics_{metrics},
          limits_{limits},
          rest_{from.get_executor()},
          buffer_{limits.head} {}
    metrics_connection(metrics_connection const&) = delete;
    metrics_connection& operator=(metrics_connection const&) = delete;

    void accept();

private:
    using error_code = boost::system::error_code;
    /// The bytes that a client may send after the head of its request. A client that sends more may lose its answer.
    static constexpr std::size_t ignored_max = 65'536;

    void read();
    void answer(error_code failed);
    void write(boost::beast::http::status status, std::string page, bool has_body);
    void drain(std::size_t ignored);

    boost::asio::ip::tcp::acceptor& from_;
    Metrics const& metrics_;
    metrics_server_limits const& limits_;
    boost::asio::steady_timer rest_;
    boost::beast::flat_buffer buffer_;
    std::optional<boost::beast::tcp_stream> stream_;
    std::optional<boost::beast::http::request_parser<boost::beast::http::empty_body>> request_;
    boost::beast::http::response<boost::beast::http::string_body> response_;
    std::array<char, 1'024> part_;
};

template <metrics_source Metrics>
void metrics_connection<Metrics>::accept() {
    stream_.reset();
    response_ = {};
    from_.async_accept([this](error_code failed, boost::asio::ip::tcp::socket client) {
        if (!failed) {
            stream_.emplace(std::move(client));
            return read();
        }
        // For example, the process has no descriptor left. The client is still waiting, so pause before the next
        // attempt.
        rest_.expires_after(std::chrono::milliseconds{100});
        rest_.async_wait([this](error_code) { accept(); });
    });
}

template <metrics_source Metrics>
void metrics_connection<Metrics>::read() {
    buffer_.clear();
    request_.emplace();
    request_->header_limit(static_cast<std::uint32_t>(limits_.head));
    request_->body_limit(std::numeric_limits<std::uint64_t>::max()); // the body is not read
    stream_->expires_after(limits_.read);
    boost::beast::http::async_read_header(*stream_, buffer_, *request_,
                                          [this](error_code failed, std::size_t) { answer(failed); });
}

template <metrics_source Metrics>
void metrics_connection<Metrics>::answer(error_code failed) {
    namespace http = boost::beast::http;
    if (failed == http::error::header_limit || failed == http::error::buffer_overflow)
        return write(http::status::request_header_fields_too_large, {}, true);
    bool const is_http_error = failed.category() == make_error_code(http::error::bad_version).category();
    if (failed && is_http_error && failed != http::error::end_of_stream && failed != http::error::partial_message)
        return write(http::status::bad_request, {}, true);
    if (failed) return accept();

    auto const method = request_->get().method();
    auto const target = request_->get().target();
    std::string_view const path{target.data(), target.size()};
    bool const has_body = method != http::verb::head;
    if ((method != http::verb::get && has_body) || path.substr(0, path.find('?')) != "/metrics")
        return write(http::status::not_found, {}, has_body);
    std::string page;
    if (!guarded_call([&] { page = expose(metrics_); }))
        return write(http::status::internal_server_error, {}, has_body);
    write(http::status::ok, std::move(page), has_body);
}

template <metrics_source Metrics>
void metrics_connection<Metrics>::write(boost::beast::http::status status, std::string page, bool has_body) {
    namespace http = boost::beast::http;
    response_ = {};
    response_.version(11);
    response_.result(status);
    response_.set(http::field::connection, "close");
    if (status == http::status::ok) response_.set(http::field::content_type, openmetrics_writer::content_type);
    response_.content_length(page.size());
    if (has_body) response_.body() = std::move(page);
    stream_->expires_after(limits_.write);
    http::async_write(*stream_, response_, [this](error_code failed, std::size_t) {
        if (failed) return accept();
        error_code ignored;
        stream_->socket().shutdown(boost::asio::ip::tcp::socket::shutdown_send, ignored);
        stream_->expires_after(limits_.read);
        drain(0);
    });
}

/// Reads the rest of the input: closing a connection with unread input would discard the answer.
template <metrics_source Metrics>
void metrics_connection<Metrics>::drain(std::size_t ignored) {
    stream_->async_read_some(boost::asio::buffer(part_), [this, ignored](error_code failed, std::size_t count) {
        if (failed || ignored + count > ignored_max) return accept();
        drain(ignored + count);
    });
}

/// Serves until its context is stopped. Threads: the one that calls `run`.
template <metrics_source Metrics>
class metrics_server {
public:
    metrics_server(boost::asio::ip::tcp::acceptor acceptor, Metrics metrics, metrics_server_limits limits)
        : acceptor_{std::move(acceptor)},
          metrics_{std::move(metrics)},
          limits_{limits} {
        for (std::size_t n = 0; n != limits_.connections; ++n) connections_.emplace_back(acceptor_, metrics_, limits_);
    }

    void run(boost::asio::io_context& context) {
        for (auto& one : connections_) one.accept();
        context.run();
    }

private:
    boost::asio::ip::tcp::acceptor acceptor_;
    Metrics metrics_;
    metrics_server_limits limits_;
    std::deque<metrics_connection<Metrics>> connections_;
};

} // namespace elasticjob::detail
#endif // ELASTICJOB_EVENTS_METRICS_SERVER_HPP
