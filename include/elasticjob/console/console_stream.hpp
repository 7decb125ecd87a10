// SPDX-License-Identifier: Apache-2.0
/// \file \brief A connection of the console, with TLS or without. Needs the headers of Boost.Beast; for TLS OpenSSL,
/// and `ELASTICJOB_HTTPS` defined.
#ifndef ELASTICJOB_CONSOLE_CONSOLE_STREAM_HPP
#define ELASTICJOB_CONSOLE_CONSOLE_STREAM_HPP

#include <elasticjob/console/certificate.hpp>

#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#if defined(ELASTICJOB_HTTPS)
#include <boost/asio/ssl/stream.hpp>
#endif

#include <optional>
#include <utility>

namespace elasticjob::detail {

/// A model of Asio's asynchronous stream: reads and writes end at the transport's deadline. It must outlive the
/// operations on it. Threads: one.
class console_stream {
public:
    using executor_type = boost::beast::tcp_stream::executor_type;

    /// `certificate`: null for a connection without TLS.
    console_stream(boost::asio::ip::tcp::socket socket, [[maybe_unused]] console_certificate* certificate)
        : transport_{std::move(socket)} {
#if defined(ELASTICJOB_HTTPS)
        if (certificate) secured_.emplace(transport_, certificate->for_next());
#endif
    }
    console_stream(console_stream const&) = delete;
    console_stream& operator=(console_stream const&) = delete;

    executor_type get_executor() noexcept { return transport_.get_executor(); }

    /// For setting deadlines, and for breaking off operations.
    boost::beast::tcp_stream& transport() noexcept { return transport_; }

    bool is_secured() const noexcept {
#if defined(ELASTICJOB_HTTPS)
        return secured_.has_value();
#else
        return false;
#endif
    }

    /// Begin TLS, and end it. Precondition: `is_secured`.
    template <class Done>
    void async_handshake([[maybe_unused]] Done&& done) {
#if defined(ELASTICJOB_HTTPS)
        secured_->async_handshake(boost::asio::ssl::stream_base::server, std::forward<Done>(done));
#endif
    }
    template <class Done>
    void async_shutdown([[maybe_unused]] Done&& done) {
#if defined(ELASTICJOB_HTTPS)
        secured_->async_shutdown(std::forward<Done>(done));
#endif
    }

    template <class Buffers, class Done>
    void async_read_some(Buffers const& buffers, Done&& done) {
#if defined(ELASTICJOB_HTTPS)
        if (secured_) return void(secured_->async_read_some(buffers, std::forward<Done>(done)));
#endif
        transport_.async_read_some(buffers, std::forward<Done>(done));
    }
    template <class Buffers, class Done>
    void async_write_some(Buffers const& buffers, Done&& done) {
#if defined(ELASTICJOB_HTTPS)
        if (secured_) return void(secured_->async_write_some(buffers, std::forward<Done>(done)));
#endif
        transport_.async_write_some(buffers, std::forward<Done>(done));
    }

private:
    boost::beast::tcp_stream transport_;
#if defined(ELASTICJOB_HTTPS)
    std::optional<boost::asio::ssl::stream<boost::beast::tcp_stream&>> secured_{};
#endif
};

} // namespace elasticjob::detail
#endif // ELASTICJOB_CONSOLE_CONSOLE_STREAM_HPP
