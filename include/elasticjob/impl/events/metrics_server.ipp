// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_EVENTS_METRICS_SERVER_IPP
#define ELASTICJOB_IMPL_EVENTS_METRICS_SERVER_IPP

#include <elasticjob/core/guarded_call.hpp>
#include <elasticjob/events/metrics_server.hpp>
#include <elasticjob/events/openmetrics.hpp>

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/write.hpp>

#include <cstdint>
#include <limits>
#include <string_view>
#include <utility>

namespace elasticjob::detail {

ELASTICJOB_DECL void metrics_connection::accept() {
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

ELASTICJOB_DECL void metrics_connection::read() {
    buffer_.clear();
    request_.emplace();
    request_->header_limit(static_cast<std::uint32_t>(limits_.head));
    request_->body_limit(std::numeric_limits<std::uint64_t>::max()); // the body is not read
    stream_->expires_after(limits_.read);
    boost::beast::http::async_read_header(*stream_, buffer_, *request_,
                                          [this](error_code failed, std::size_t) { answer(failed); });
}

ELASTICJOB_DECL void metrics_connection::answer(error_code failed) {
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
    if (!guarded_call([&] { page = page_.text(); })) return write(http::status::internal_server_error, {}, has_body);
    write(http::status::ok, std::move(page), has_body);
}

ELASTICJOB_DECL void metrics_connection::write(boost::beast::http::status status, std::string page, bool has_body) {
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
ELASTICJOB_DECL void metrics_connection::drain(std::size_t ignored) {
    stream_->async_read_some(boost::asio::buffer(part_), [this, ignored](error_code failed, std::size_t count) {
        if (failed || ignored + count > ignored_max) return accept();
        drain(ignored + count);
    });
}

ELASTICJOB_DECL void metrics_server::run() {
    for (auto& one : connections_) one.accept();
    context_.run();
}

} // namespace elasticjob::detail
#endif // ELASTICJOB_IMPL_EVENTS_METRICS_SERVER_IPP
