// SPDX-License-Identifier: Apache-2.0
/// \file \brief The console: a web page and a REST interface for the jobs of some registries. Needs the headers of
/// Boost.Beast, and the library crypt; for TLS and OpenID Connect OpenSSL, and `ELASTICJOB_HTTPS` defined. In the
/// compiled form only `src_console.hpp` needs the headers.
#ifndef ELASTICJOB_CONSOLE_CONSOLE_SERVER_HPP
#define ELASTICJOB_CONSOLE_CONSOLE_SERVER_HPP

#include <elasticjob/console/console_registry.hpp>
#include <elasticjob/console/options.hpp>
#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/memory.hpp>
#include <elasticjob/core/result.hpp>

#include <string>
#include <thread>
#include <vector>

namespace elasticjob {

/// Serves the page and `/api/v1` for some registries, from its start to its destruction, on threads of its own. By
/// default it listens on a loopback address and does not identify operators. An idle console sends its registries only
/// the pings of their sessions. It reads a registry when a reader looks at it, and watches it for one more minute.
///
///     auto console = console_server::start({{"main", "billing", registry}}).value();
///
/// Movable. Threads: one at a time. The registries, and the objects that the databases need, must outlive it.
class console_server {
public:
    /// Errors: invalid_argument for an option out of its bounds, for two registries or databases of one name, or for a
    /// file in the options that cannot be used; unreachable, with the system's reason, if it cannot listen on the
    /// address or cannot start its threads; those of the system's time zone.
    [[nodiscard]] static result<console_server> start(std::vector<console_registry> registries,
                                                      console_options options = {},
                                                      std::vector<console_database> databases = {});

    console_server(console_server&& other) noexcept;
    console_server& operator=(console_server&&) = delete;

    /// Breaks off unfinished answers, except those that are being computed. Waits for no client.
    ~console_server();

    int port() const noexcept { return port_; }

    /// Such as `http://127.0.0.1:8899/`.
    std::string const& url() const noexcept { return url_; }

private:
    struct running; // contains types of Boost.Asio

    console_server(std::unique_ptr<running> r, int port, std::string url, std::thread thread);

    static error unreachable(std::string const& why, console_options const& o);
    static result<void> check(std::vector<console_registry> const& registries,
                              std::vector<console_database> const& databases, console_options const& o);
    static result<console_server> start_checked(std::unique_ptr<running> run, console_options const& options);

    std::unique_ptr<running> running_;
    int port_;
    std::string url_;
    std::thread thread_;
};

} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/console/console_server.ipp>
#endif
#endif // ELASTICJOB_CONSOLE_CONSOLE_SERVER_HPP
