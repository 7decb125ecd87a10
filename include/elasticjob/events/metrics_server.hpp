// SPDX-License-Identifier: Apache-2.0
/// \file \brief Answers HTTP requests for one page, for a limited number of clients. Needs the headers of Boost.Beast.
#ifndef ELASTICJOB_EVENTS_METRICS_SERVER_HPP
#define ELASTICJOB_EVENTS_METRICS_SERVER_HPP

#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/memory.hpp>
#include <elasticjob/events/metrics_page.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
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
class metrics_connection {
public:
    metrics_connection(boost::asio::ip::tcp::acceptor& from, metrics_page const& page,
                       metrics_server_limits const& limits)
        : from_{from},
          page_{page},
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
    metrics_page const& page_;
    metrics_server_limits const& limits_;
    boost::asio::steady_timer rest_;
    boost::beast::flat_buffer buffer_;
    std::optional<boost::beast::tcp_stream> stream_;
    std::optional<boost::beast::http::request_parser<boost::beast::http::empty_body>> request_;
    boost::beast::http::response<boost::beast::http::string_body> response_;
    std::array<char, 1'024> part_;
};

/// Serves a page until it is stopped. Threads: the one that calls `run`; `stop`:
/// any.
class metrics_server {
public:
    metrics_server(std::shared_ptr<metrics_page const> page, metrics_server_limits const& limits)
        : page_{std::move(page)},
          limits_{limits} {
        for (std::size_t n = 0; n != limits_.connections; ++n) connections_.emplace_back(acceptor_, *page_, limits_);
    }

    /// To be opened before `run`.
    boost::asio::ip::tcp::acceptor& acceptor() noexcept { return acceptor_; }

    void run();
    void stop() { context_.stop(); }

private:
    std::shared_ptr<metrics_page const> const page_;
    metrics_server_limits const limits_;
    boost::asio::io_context context_{1};
    boost::asio::ip::tcp::acceptor acceptor_{context_};
    std::deque<metrics_connection> connections_;
};

} // namespace elasticjob::detail

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/events/metrics_server.ipp>
#endif
#endif // ELASTICJOB_EVENTS_METRICS_SERVER_HPP
