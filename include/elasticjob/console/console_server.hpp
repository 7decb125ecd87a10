// SPDX-License-Identifier: Apache-2.0
/// \file \brief The console: a web page and a REST interface for the jobs of some registries. Needs the headers of
/// Boost.Beast, and the library crypt; for TLS and OpenID Connect OpenSSL, and `ELASTICJOB_HTTPS` defined.
#ifndef ELASTICJOB_CONSOLE_CONSOLE_SERVER_HPP
#define ELASTICJOB_CONSOLE_CONSOLE_SERVER_HPP

#include <elasticjob/console/http_service.hpp>
#include <elasticjob/console/options.hpp>
#include <elasticjob/core/memory.hpp>
#include <elasticjob/core/result.hpp>
#include <elasticjob/core/start_thread.hpp>
#include <elasticjob/cron/system_zone.hpp>

#include <boost/asio/ip/tcp.hpp>

#include <algorithm>
#include <exception>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace elasticjob {

/// Serves the page and `/api/v1` for registries of one type, from its start to its destruction, on threads of its own.
/// By default it listens on a loopback address and does not identify operators. An idle console sends its registries
/// only the pings of their sessions. It reads a registry when a reader looks at it, and watches it for one more minute.
///
///     auto console = console_server<ZkRegistry>::start({{"main", "billing", &registry}}).value();
///
/// Movable. Threads: one at a time. The registries, and the objects that the databases need, must outlive it.
template <registry Registry>
class console_server {
public:
    /// Errors: invalid_argument for an option out of its bounds, for two registries or databases of one name, or for a
    /// file in the options that cannot be used; unreachable, with the system's reason, if it cannot listen on the
    /// address or cannot start its threads; those of the system's time zone.
    [[nodiscard]] static result<console_server> start(std::vector<console_registry<Registry>> registries,
                                                      console_options options = {},
                                                      std::vector<console_database> databases = {});

    console_server(console_server&&) noexcept = default;
    console_server& operator=(console_server&&) = delete;

    /// Breaks off unfinished answers, except those that are being computed. Waits for no client.
    ~console_server() {
        if (!running_) return;
        running_->service.stop();
        thread_.join();
    }

    int port() const noexcept { return port_; }

    /// Such as `http://127.0.0.1:8899/`.
    std::string const& url() const noexcept { return url_; }

private:
    using tcp = boost::asio::ip::tcp;

    /// Objects that refer to each other.
    struct running {
        running(SystemZone z, std::vector<console_registry<Registry>> registries,
                std::vector<console_database> databases, console_options options,
                std::optional<detail::console_certificate> certificate)
            : zone{std::move(z)},
              service{std::move(registries), std::move(databases), zone, std::move(options), std::move(certificate)} {}
        SystemZone zone;
        detail::http_service<Registry> service;
    };

    console_server(std::unique_ptr<running> r, int port, std::string url, std::thread thread)
        : running_{std::move(r)},
          port_{port},
          url_{std::move(url)},
          thread_{std::move(thread)} {}

    static error unreachable(std::string const& why, console_options const& o) {
        return {errc::unreachable, "the console cannot be served: " + why, o.address + ":" + std::to_string(o.port)};
    }
    static result<void> check(std::vector<console_registry<Registry>> const& registries,
                              std::vector<console_database> const& databases, console_options const& o);
    static result<tcp::acceptor> listen(boost::asio::io_context& context, console_options const& o);
    static result<console_server> start_checked(std::vector<console_registry<Registry>> registries,
                                                console_options options, std::vector<console_database> databases,
                                                SystemZone zone);

    std::unique_ptr<running> running_;
    int port_;
    std::string url_;
    std::thread thread_;
};

template <registry Registry>
result<console_server<Registry>> console_server<Registry>::start(std::vector<console_registry<Registry>> registries,
                                                                 console_options options,
                                                                 std::vector<console_database> databases) {
    ELASTICJOB_CHECK(check(registries, databases, options));
    ELASTICJOB_TRY(auto zone, SystemZone::load());
#if defined(__cpp_exceptions)
    try {
        return start_checked(std::move(registries), options, std::move(databases), std::move(zone));
    } catch (std::exception const& e) { // from Asio, if the process has no descriptor or thread left
        return unreachable(e.what(), options);
    }
#else
    return start_checked(std::move(registries), std::move(options), std::move(databases), std::move(zone));
#endif
}

template <registry Registry>
result<console_server<Registry>>
console_server<Registry>::start_checked(std::vector<console_registry<Registry>> registries, console_options options,
                                        std::vector<console_database> databases, SystemZone zone) {
    std::optional<detail::console_certificate> certificate;
    if (options.is_secured()) {
        ELASTICJOB_TRY(certificate, detail::console_certificate::load(options.certificate_file, options.key_file));
    }
    auto run = std::make_unique<running>(std::move(zone), std::move(registries), std::move(databases), options,
                                         std::move(certificate));
    ELASTICJOB_TRY(auto acceptor, listen(run->service.context(), options));
    auto const at = acceptor.local_endpoint();
    std::string const host = at.address().is_v6() ? "[" + at.address().to_string() + "]" : at.address().to_string();
    auto url = (options.is_secured() ? "https://" : "http://") + host + ":" + std::to_string(at.port()) + "/";
    auto thread =
        detail::start_thread([s = &run->service, a = std::move(acceptor)]() mutable { s->run(std::move(a)); });
    if (!thread) return unreachable(thread.error().what, options);
    return console_server{std::move(run), at.port(), std::move(url), *std::move(thread)};
}

template <registry Registry>
result<void> console_server<Registry>::check(std::vector<console_registry<Registry>> const& registries,
                                             std::vector<console_database> const& databases, console_options const& o) {
    ELASTICJOB_CHECK(detail::check(o));
    auto const is_clear = [](std::vector<std::string> names) {
        std::sort(names.begin(), names.end());
        return std::adjacent_find(names.begin(), names.end()) == names.end();
    };
    std::vector<std::string> registry_names, database_names;
    for (auto const& r : registries) registry_names.push_back(r.name);
    for (auto const& d : databases) database_names.push_back(d.name());
    if (registries.empty() || !is_clear(std::move(registry_names)))
        return error{errc::invalid_argument, "name at least one registry, and each differently", "registries"};
    if (!is_clear(std::move(database_names)))
        return error{errc::invalid_argument, "name each database differently", "databases"};
    if (o.authentication == console_authentication::password) {
        ELASTICJOB_CHECK(detail::read_passwords(o.password_file));
    }
    if (o.authentication == console_authentication::oidc) {
        ELASTICJOB_CHECK(detail::check(o.oidc));
    }
    return success();
}

template <registry Registry>
result<boost::asio::ip::tcp::acceptor> console_server<Registry>::listen(boost::asio::io_context& context,
                                                                        console_options const& o) {
    boost::system::error_code failed;
    auto const address = boost::asio::ip::make_address(o.address, failed);
    if (failed) return error{errc::invalid_argument, "must be a numeric address", "address"};
    tcp::endpoint const at{address, static_cast<unsigned short>(o.port)};
    tcp::acceptor acceptor{context};
    acceptor.open(at.protocol(), failed);
    if (!failed)
        acceptor.set_option(tcp::acceptor::reuse_address{true}, failed); // an earlier process may have used the port
    if (!failed) acceptor.bind(at, failed);
    if (!failed) acceptor.listen(128, failed);
    if (failed) return unreachable(failed.message(), o);
    return acceptor;
}

} // namespace elasticjob
#endif // ELASTICJOB_CONSOLE_CONSOLE_SERVER_HPP
