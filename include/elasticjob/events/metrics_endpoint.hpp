// SPDX-License-Identifier: Apache-2.0
/// \file \brief `/metrics` over HTTP. Header-only, it needs the headers of Boost.Beast. In the compiled form, only the
/// file with <elasticjob/src_http.hpp> needs them.
#ifndef ELASTICJOB_EVENTS_METRICS_ENDPOINT_HPP
#define ELASTICJOB_EVENTS_METRICS_ENDPOINT_HPP

#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/memory.hpp>
#include <elasticjob/core/result.hpp>
#include <elasticjob/events/metrics_page.hpp>

#include <chrono>
#include <cstddef>
#include <string>
#include <thread>
#include <utility>

namespace elasticjob {

namespace detail {
class metrics_server;
}

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
    [[nodiscard]] static result<MetricsEndpoint> start(Metrics metrics, metrics_endpoint_options options = {}) {
        return start_with(std::make_shared<detail::metrics_page_of<Metrics>>(std::move(metrics)), options);
    }

    MetricsEndpoint(MetricsEndpoint&&) noexcept;
    MetricsEndpoint& operator=(MetricsEndpoint&&) = delete;
    ~MetricsEndpoint();

    int port() const noexcept { return port_; }

private:
    MetricsEndpoint(std::unique_ptr<detail::metrics_server> server, int port, std::thread thread);

    static result<MetricsEndpoint> start_with(std::shared_ptr<detail::metrics_page const> page,
                                              metrics_endpoint_options const& o);

    std::unique_ptr<detail::metrics_server> server_; ///< null once moved from
    int port_;
    std::thread thread_;
};

} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/events/metrics_endpoint.ipp>
#endif
#endif // ELASTICJOB_EVENTS_METRICS_ENDPOINT_HPP
