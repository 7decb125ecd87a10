// SPDX-License-Identifier: Apache-2.0
/// \file \brief `/metrics` over HTTP. Needs cpp-httplib: `pkg-config --cflags --libs cpp-httplib`.
#ifndef ELASTICJOB_EVENTS_METRICS_ENDPOINT_HPP
#define ELASTICJOB_EVENTS_METRICS_ENDPOINT_HPP

#include <elasticjob/core/result.hpp>
#include <elasticjob/events/metrics_source.hpp>

#include <chrono>
#include <httplib.h>
#include <memory>
#include <string>
#include <thread>
#include <utility>

namespace elasticjob {

struct metrics_endpoint_options {
    std::string address = "127.0.0.1"; ///< whoever reaches it may read: there is no password
    int port = 0;                      ///< 0: one that is free
    std::chrono::milliseconds read_timeout{
        2'000}; ///< how long a client may say nothing; in full seconds before its first byte
    std::chrono::milliseconds write_timeout{5'000}; ///< how long it may take nothing
};

/// Answers `GET /metrics` with what a source of metrics gives, and everything else with 404, from its beginning to its
/// end. Three threads of its own: one accepts, two answer; a connection is for one request. Movable. Threads: one at a
/// time.
class MetricsEndpoint {
public:
    /// Errors: unreachable, if it cannot listen there.
    template <metrics_source Metrics>
    [[nodiscard]] static result<MetricsEndpoint> start(Metrics metrics, metrics_endpoint_options options = {}) {
        auto server = std::make_unique<httplib::Server>();
        server->new_task_queue = [] { return new httplib::ThreadPool(2); }; // which the server deletes
        server->set_keep_alive_max_count(1);
        server->set_payload_max_length(1024);
        set(options.read_timeout, [&](auto s, auto us) { server->set_read_timeout(s, us); });
        // How long it waits for the first byte, which it knows in seconds only.
        server->set_keep_alive_timeout(std::chrono::ceil<std::chrono::seconds>(options.read_timeout).count());
        set(options.write_timeout, [&](auto s, auto us) { server->set_write_timeout(s, us); });
        server->Get("/metrics", [metrics](httplib::Request const&, httplib::Response& response) {
            response.set_content(expose(metrics), openmetrics_writer::content_type);
        });
        int port = options.port;
        if (port == 0)
            port = server->bind_to_any_port(options.address.c_str());
        else if (!server->bind_to_port(options.address.c_str(), port))
            port = -1;
        if (port < 0)
            return error{errc::unreachable, "the address cannot be listened on",
                         options.address + ":" + std::to_string(options.port)};
        return MetricsEndpoint{std::move(server), port};
    }
    MetricsEndpoint(MetricsEndpoint&&) noexcept = default;
    MetricsEndpoint& operator=(MetricsEndpoint&&) = delete;

    /// Answers in progress are waited for, as long as their time-outs last.
    ~MetricsEndpoint() {
        if (!server_) return;
        server_->stop();
        thread_.join();
    }

    int port() const noexcept { return port_; }

private:
    MetricsEndpoint(std::unique_ptr<httplib::Server> server, int port)
        : server_{std::move(server)},
          port_{port},
          thread_{[s = server_.get()] { s->listen_after_bind(); }} {
        // `stop` has no effect before it listens.
        while (!server_->is_running()) std::this_thread::yield();
    }

    template <class F>
    static void set(std::chrono::milliseconds span, F f) {
        auto const seconds = std::chrono::floor<std::chrono::seconds>(span);
        f(static_cast<time_t>(seconds.count()), static_cast<time_t>(std::chrono::microseconds{span - seconds}.count()));
    }

    std::unique_ptr<httplib::Server> server_;
    int port_;
    std::thread thread_;
};

} // namespace elasticjob
#endif // ELASTICJOB_EVENTS_METRICS_ENDPOINT_HPP
