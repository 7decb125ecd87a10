// SPDX-License-Identifier: Apache-2.0
/// \file \brief `/metrics` over HTTP. Needs the headers of Boost.Beast.
#ifndef ELASTICJOB_EVENTS_METRICS_ENDPOINT_HPP
#define ELASTICJOB_EVENTS_METRICS_ENDPOINT_HPP

#include <elasticjob/core/memory.hpp>
#include <elasticjob/core/result.hpp>
#include <elasticjob/core/start_thread.hpp>
#include <elasticjob/events/metrics_server.hpp>

#include <chrono>
#include <cstddef>
#include <exception>
#include <string>
#include <thread>
#include <utility>

namespace elasticjob {

/// The address of the endpoint, and the limits for its clients.
struct metrics_endpoint_options {
    std::string address = "127.0.0.1"; ///< every client that reaches it may read, because there is no password
    int port = 0;                      ///< 0: any free port
    std::chrono::milliseconds read_timeout{2'000};  ///< for the whole head of a request
    std::chrono::milliseconds write_timeout{5'000}; ///< for the whole answer
    std::size_t connections_max = 8;                ///< simultaneous clients; others wait until they are accepted
    std::size_t head_max = 8'192; ///< size of the request line and the headers, in bytes; 256 to 65536
};

/// Answers `GET /metrics` and `HEAD /metrics` with the text of a source of metrics, and everything else with 404. A
/// connection is for one request and has a deadline for any client. Headers are ignored, so a client cannot request a
/// part of a page (`Range`). The endpoint serves on its own thread until it is destroyed. The destructor breaks off
/// unfinished answers and waits for no client. Movable. Threads: one at a time.
class MetricsEndpoint {
public:
    /// Errors: invalid_argument for a limit out of its bounds; unreachable, with the system's reason, if it cannot
    /// listen on the address or cannot start a thread.
    template <metrics_source Metrics>
    [[nodiscard]] static result<MetricsEndpoint> start(Metrics metrics, metrics_endpoint_options options = {});

    MetricsEndpoint(MetricsEndpoint&&) noexcept = default;
    MetricsEndpoint& operator=(MetricsEndpoint&&) = delete;

    ~MetricsEndpoint() {
        if (!context_) return;
        context_->stop();
        thread_.join();
    }

    int port() const noexcept { return port_; }

private:
    MetricsEndpoint(std::unique_ptr<boost::asio::io_context> context, int port, std::thread thread)
        : context_{std::move(context)},
          port_{port},
          thread_{std::move(thread)} {}

    static result<void> check(metrics_endpoint_options const& o);
    static result<boost::asio::ip::tcp::acceptor> listen(boost::asio::io_context& context,
                                                         metrics_endpoint_options const& o);
    template <class Metrics>
    static result<MetricsEndpoint> start_server(Metrics metrics, metrics_endpoint_options const& o);
    static error unreachable(std::string what, std::string const& why, metrics_endpoint_options const& o) {
        return {errc::unreachable, std::move(what) + ": " + why, o.address + ":" + std::to_string(o.port)};
    }

    std::unique_ptr<boost::asio::io_context> context_;
    int port_;
    std::thread thread_;
};

template <metrics_source Metrics>
result<MetricsEndpoint> MetricsEndpoint::start(Metrics metrics, metrics_endpoint_options options) {
    ELASTICJOB_CHECK(check(options));
#if defined(__cpp_exceptions)
    try {
        return start_server(std::move(metrics), options);
    } catch (std::exception const& e) { // from Asio, if the process is out of descriptors
        return unreachable("the endpoint cannot be started", e.what(), options);
    }
#else
    return start_server(std::move(metrics), options);
#endif
}

template <class Metrics>
result<MetricsEndpoint> MetricsEndpoint::start_server(Metrics metrics, metrics_endpoint_options const& o) {
    auto context = std::make_unique<boost::asio::io_context>(1);
    ELASTICJOB_TRY(auto acceptor, listen(*context, o));
    int const port = acceptor.local_endpoint().port();
    auto server = std::make_unique<detail::metrics_server<Metrics>>(
        std::move(acceptor), std::move(metrics),
        detail::metrics_server_limits{o.read_timeout, o.write_timeout, o.connections_max, o.head_max});
    auto thread = detail::start_thread([server = std::move(server), on = context.get()] { server->run(*on); });
    if (!thread) return unreachable("the endpoint cannot start a thread", thread.error().what, o);
    return MetricsEndpoint{std::move(context), port, *std::move(thread)};
}

inline result<void> MetricsEndpoint::check(metrics_endpoint_options const& o) {
    auto const wrong = [](std::string what, std::string where) {
        return error{errc::invalid_argument, std::move(what), std::move(where)};
    };
    using std::chrono::milliseconds;
    auto const fits = [](milliseconds span) { return milliseconds{0} < span && span <= std::chrono::hours{1}; };
    if (o.port < 0 || o.port > 65'535)
        return unreachable("the endpoint cannot listen on the address", "a port is 0 to 65535", o);
    if (!fits(o.read_timeout)) return wrong("must be more than 0, and at most an hour", "read_timeout");
    if (!fits(o.write_timeout)) return wrong("must be more than 0, and at most an hour", "write_timeout");
    if (o.connections_max < 1 || o.connections_max > 1'000) return wrong("must be from 1 to 1000", "connections_max");
    if (o.head_max < 256 || o.head_max > 65'536) return wrong("must be from 256 to 65536 bytes", "head_max");
    return success();
}

inline result<boost::asio::ip::tcp::acceptor> MetricsEndpoint::listen(boost::asio::io_context& context,
                                                                      metrics_endpoint_options const& o) {
    using boost::asio::ip::tcp;
    boost::system::error_code failed;
    auto const refused = [&] { return unreachable("the endpoint cannot listen on the address", failed.message(), o); };
    tcp::resolver resolver{context};
    auto const found = resolver.resolve(o.address, std::to_string(o.port),
                                        tcp::resolver::passive | tcp::resolver::numeric_service, failed);
    if (failed) return refused();
    auto const at = found.begin()->endpoint();
    tcp::acceptor acceptor{context};
    acceptor.open(at.protocol(), failed);
    if (failed) return refused();
    acceptor.set_option(tcp::acceptor::reuse_address{true}, failed); // in case an earlier process used the port
    if (!failed) acceptor.bind(at, failed);
    if (!failed) acceptor.listen(16, failed);
    if (failed) return refused();
    return acceptor;
}

} // namespace elasticjob
#endif // ELASTICJOB_EVENTS_METRICS_ENDPOINT_HPP
