// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_EVENTS_METRICS_ENDPOINT_IPP
#define ELASTICJOB_IMPL_EVENTS_METRICS_ENDPOINT_IPP

#include <elasticjob/core/start_thread.hpp>
#include <elasticjob/events/metrics_endpoint.hpp>
#include <elasticjob/events/metrics_server.hpp>

#include <exception>

namespace elasticjob {

namespace detail {

ELASTICJOB_DECL error unreachable_endpoint(std::string what, std::string const& why,
                                           metrics_endpoint_options const& o) {
    return {errc::unreachable, std::move(what) + ": " + why, o.address + ":" + std::to_string(o.port)};
}

ELASTICJOB_DECL result<void> check_options(metrics_endpoint_options const& o) {
    auto const wrong = [](std::string what, std::string where) {
        return error{errc::invalid_argument, std::move(what), std::move(where)};
    };
    using std::chrono::milliseconds;
    auto const fits = [](milliseconds span) { return milliseconds{0} < span && span <= std::chrono::hours{1}; };
    if (o.port < 0 || o.port > 65'535)
        return unreachable_endpoint("the endpoint cannot listen on the address", "a port is 0 to 65535", o);
    if (!fits(o.read_timeout)) return wrong("must be more than 0, and at most an hour", "read_timeout");
    if (!fits(o.write_timeout)) return wrong("must be more than 0, and at most an hour", "write_timeout");
    if (o.connections_max < 1 || o.connections_max > 1'000) return wrong("must be from 1 to 1000", "connections_max");
    if (o.head_max < 256 || o.head_max > 65'536) return wrong("must be from 256 to 65536 bytes", "head_max");
    return success();
}

/// Opens the acceptor.
ELASTICJOB_DECL result<void> listen(boost::asio::ip::tcp::acceptor& acceptor, metrics_endpoint_options const& o) {
    using boost::asio::ip::tcp;
    boost::system::error_code failed;
    auto const refused = [&] {
        return unreachable_endpoint("the endpoint cannot listen on the address", failed.message(), o);
    };
    tcp::resolver resolver{acceptor.get_executor()};
    auto const found = resolver.resolve(o.address, std::to_string(o.port),
                                        tcp::resolver::passive | tcp::resolver::numeric_service, failed);
    if (failed) return refused();
    auto const at = found.begin()->endpoint();
    acceptor.open(at.protocol(), failed);
    if (failed) return refused();
    acceptor.set_option(tcp::acceptor::reuse_address{true}, failed); // in case an earlier process used the port
    if (!failed) acceptor.bind(at, failed);
    if (!failed) acceptor.listen(16, failed);
    if (failed) return refused();
    return success();
}

} // namespace detail

ELASTICJOB_DECL MetricsEndpoint::MetricsEndpoint(std::unique_ptr<detail::metrics_server> server, int port,
                                                 std::thread thread)
    : server_{std::move(server)},
      port_{port},
      thread_{std::move(thread)} {}

ELASTICJOB_DECL MetricsEndpoint::MetricsEndpoint(MetricsEndpoint&&) noexcept = default;

ELASTICJOB_DECL MetricsEndpoint::~MetricsEndpoint() {
    if (!server_) return;
    server_->stop();
    thread_.join();
}

ELASTICJOB_DECL result<MetricsEndpoint> MetricsEndpoint::start_with(std::shared_ptr<detail::metrics_page const> page,
                                                                    metrics_endpoint_options const& o) {
    ELASTICJOB_CHECK(detail::check_options(o));
    auto const start = [&]() -> result<MetricsEndpoint> {
        auto server = std::make_unique<detail::metrics_server>(
            std::move(page),
            detail::metrics_server_limits{o.read_timeout, o.write_timeout, o.connections_max, o.head_max});
        ELASTICJOB_CHECK(detail::listen(server->acceptor(), o));
        int const port = server->acceptor().local_endpoint().port();
        auto thread = detail::start_thread([on = server.get()] { on->run(); });
        if (!thread) return detail::unreachable_endpoint("the endpoint cannot start a thread", thread.error().what, o);
        return MetricsEndpoint{std::move(server), port, *std::move(thread)};
    };
#if defined(__cpp_exceptions)
    try {
        return start();
    } catch (std::exception const& e) { // from Asio, if the process is out of descriptors
        return detail::unreachable_endpoint("the endpoint cannot be started", e.what(), o);
    }
#else
    return start();
#endif
}

} // namespace elasticjob
#endif // ELASTICJOB_IMPL_EVENTS_METRICS_ENDPOINT_IPP
