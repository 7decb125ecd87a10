// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_CONSOLE_CONNECTION_IPP
#define ELASTICJOB_IMPL_CONSOLE_CONNECTION_IPP

#include <elasticjob/console/asio_step.hpp>
#include <elasticjob/console/browser_rules.hpp>
#include <elasticjob/console/connection.hpp>
#include <elasticjob/console/console_stream.hpp>
#include <elasticjob/console/http_reading.hpp>

#include <boost/asio/buffer.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>

#include <array>
#include <cstddef>
#include <utility>

// g++ takes this file for a header that others could include, so it warns of the lambdas in the frames of coroutines.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsubobject-linkage"
#endif

namespace elasticjob::detail {

/// The client's end of a stream of text; a pending read may outlive the connection.
struct console_connection::stream_end {
    std::shared_ptr<console_stream> stream;
    boost::asio::steady_timer* timer; ///< null when the connection is over
    bool is_gone = false;
    std::array<char, 64> ignored{};
};

struct console_connection::state {
    boost::asio::io_context& context;
    console_options const& options;
    std::string client;
    std::shared_ptr<console_stream> stream;
    boost::beast::flat_buffer buffer;
    boost::asio::steady_timer timer;
    bool is_first = true; ///< no request has been read
    std::shared_ptr<stream_end> end{};
};

ELASTICJOB_DECL console_connection::console_connection(boost::asio::io_context& context,
                                                       boost::asio::ip::tcp::socket socket, std::string client,
                                                       console_certificate* certificate, console_options const& options)
    : state_{new state{context, options, std::move(client),
                       std::make_shared<console_stream>(std::move(socket), certificate),
                       boost::beast::flat_buffer{options.head_max + 8'192}, boost::asio::steady_timer{context}}} {}

ELASTICJOB_DECL console_connection::~console_connection() {
    if (!state_->end) return;
    state_->end->timer = nullptr;
    state_->stream->transport().close(); // this ends the read
}

ELASTICJOB_DECL task<bool> console_connection::begin() {
    auto& stream = *state_->stream;
    if (!stream.is_secured()) co_return true;
    stream.transport().expires_after(state_->options.read_timeout);
    auto const failed = co_await asio_step([&](auto done) { stream.async_handshake(std::move(done)); });
    co_return !failed;
}

ELASTICJOB_DECL task<std::optional<console_connection::incoming>> console_connection::read() {
    using error_code = boost::system::error_code;
    auto& [context, options, client, stream, buffer, timer, is_first, end] = *state_;
    auto& deadline = stream->transport();
    if (buffer.size() == 0) {
        deadline.expires_after(is_first ? options.read_timeout : options.idle_timeout);
        std::size_t count = 0;
        auto const failed = co_await asio_step([&](auto done) {
            stream->async_read_some(buffer.prepare(4'096),
                                    [&count, done = std::move(done)](error_code e, std::size_t n) mutable {
                                        count = n;
                                        done(e);
                                    });
        });
        if (failed) co_return std::nullopt;
        buffer.commit(count);
    }
    is_first = false;
    http_parser parser;
    limit(parser, options);
    deadline.expires_after(options.read_timeout);
    auto const failed = co_await asio_step(
        [&](auto done) { boost::beast::http::async_read(*stream, buffer, parser, std::move(done)); });
    incoming next;
    if (failed) {
        next.refused = fault_of(failed);
        if (!next.refused) co_return std::nullopt;
        co_return next;
    }
    next.keeps_alive = parser.keep_alive();
    next.has_body = parser.get().method() != boost::beast::http::verb::head;
    auto read = read_request(parser, client);
    if (read) next.request = *std::move(read);
    next.refused = read ? find_intrusion(next.request, options) : problem(read.error());
    next.keeps_alive &= read.has_value(); // the next request may begin elsewhere
    co_return next;
}

ELASTICJOB_DECL task<bool> console_connection::write(console_reply reply, bool has_body, bool keeps_alive) {
    namespace http = boost::beast::http;
    auto& stream = *state_->stream;
    add_browser_headers(reply, state_->options.is_secured());
    http::response<http::string_body> response;
    response.version(11);
    response.result(static_cast<unsigned>(reply.status));
    for (auto const& [name, value] : reply.headers) response.insert(name, value);
    response.keep_alive(keeps_alive);
    if (reply.status != 304) {
        response.set(http::field::content_type, reply.content_type);
        response.content_length(reply.body.size());
        if (has_body) response.body() = std::move(reply.body);
    }
    stream.transport().expires_after(state_->options.write_timeout);
    http::response_serializer<http::string_body> serializer{response};
    boost::system::error_code failed;
    if (has_body) {
        failed = co_await asio_step([&](auto done) { http::async_write(stream, serializer, std::move(done)); });
    } else {
        serializer.split(true);
        failed = co_await asio_step([&](auto done) { http::async_write_header(stream, serializer, std::move(done)); });
    }
    co_return !failed;
}

ELASTICJOB_DECL task<void> console_connection::end() {
    auto& stream = *state_->stream;
    auto& transport = stream.transport();
    transport.expires_after(std::chrono::seconds{1});
    if (stream.is_secured()) {
        auto const failed = co_await asio_step([&](auto done) { stream.async_shutdown(std::move(done)); });
        if (failed == boost::beast::error::timeout) co_return;
    }
    boost::system::error_code unnamed;
    transport.socket().shutdown(boost::asio::ip::tcp::socket::shutdown_send, unnamed);
    for (std::size_t drained = 0; drained < 65'536;) {
        std::size_t count = 0;
        std::array<char, 1'024> part;
        auto const failed = co_await asio_step([&](auto done) {
            transport.async_read_some(
                boost::asio::buffer(part),
                [&count, done = std::move(done)](boost::system::error_code e, std::size_t n) mutable {
                    count = n;
                    done(e);
                });
        });
        if (failed) break;
        drained += count;
    }
}

ELASTICJOB_DECL void console_connection::begin_stream() {
    auto const end = std::make_shared<stream_end>(stream_end{state_->stream, &state_->timer});
    state_->end = end;
    state_->stream->transport().expires_never();
    state_->stream->async_read_some(boost::asio::buffer(end->ignored), [end](boost::system::error_code, std::size_t) {
        end->is_gone = true; // a client sends nothing on a stream, so it has closed the connection
        if (end->timer) end->timer->cancel();
    });
}

ELASTICJOB_DECL bool console_connection::is_gone() const noexcept { return state_->end->is_gone; }

ELASTICJOB_DECL task<bool> console_connection::send(std::string_view text) {
    auto& stream = *state_->stream;
    boost::asio::steady_timer limit{state_->context};
    limit.expires_after(state_->options.write_timeout);
    limit.async_wait([end = state_->end](boost::system::error_code cancelled) {
        if (!cancelled && end->timer) end->stream->transport().cancel();
    });
    auto const failed = co_await asio_step([&](auto done) {
        boost::asio::async_write(stream, boost::asio::buffer(text.data(), text.size()), std::move(done));
    });
    co_return !failed;
}

ELASTICJOB_DECL task<void> console_connection::wait(std::chrono::seconds span) {
    if (is_gone()) co_return;
    auto& timer = state_->timer;
    timer.expires_after(span);
    (void)co_await asio_step([&](auto done) { timer.async_wait(std::move(done)); });
}

ELASTICJOB_DECL void console_connection::wake() { state_->timer.cancel(); }

} // namespace elasticjob::detail

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
#endif // ELASTICJOB_IMPL_CONSOLE_CONNECTION_IPP
