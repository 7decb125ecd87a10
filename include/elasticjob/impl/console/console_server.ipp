// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_CONSOLE_CONSOLE_SERVER_IPP
#define ELASTICJOB_IMPL_CONSOLE_CONSOLE_SERVER_IPP

#include <elasticjob/console/console_server.hpp>
#include <elasticjob/console/http_service.hpp>
#include <elasticjob/core/start_thread.hpp>
#include <elasticjob/cron/system_zone.hpp>

#include <boost/asio/ip/tcp.hpp>

#include <algorithm>
#include <exception>
#include <optional>
#include <utility>

namespace elasticjob {

/// Objects that refer to each other.
struct console_server::running {
    using tcp = boost::asio::ip::tcp;

    running(SystemZone z, std::vector<console_registry> registries, std::vector<console_database> databases,
            console_options options, std::optional<detail::console_certificate> certificate)
        : zone{std::move(z)},
          service{std::move(registries), std::move(databases), zone, std::move(options), std::move(certificate)} {}

    result<tcp::acceptor> listen(console_options const& o);

    SystemZone zone;
    detail::http_service service;
};

ELASTICJOB_DECL console_server::console_server(std::unique_ptr<running> r, int port, std::string url,
                                               std::thread thread)
    : running_{std::move(r)},
      port_{port},
      url_{std::move(url)},
      thread_{std::move(thread)} {}

ELASTICJOB_DECL console_server::console_server(console_server&& other) noexcept = default;

ELASTICJOB_DECL console_server::~console_server() {
    if (!running_) return;
    running_->service.stop();
    thread_.join();
}

ELASTICJOB_DECL error console_server::unreachable(std::string const& why, console_options const& o) {
    return {errc::unreachable, "the console cannot be served: " + why, o.address + ":" + std::to_string(o.port)};
}

ELASTICJOB_DECL result<console_server> console_server::start(std::vector<console_registry> registries,
                                                             console_options options,
                                                             std::vector<console_database> databases) {
    ELASTICJOB_CHECK(check(registries, databases, options));
    ELASTICJOB_TRY(auto zone, SystemZone::load());
    auto const serve = [&]() -> result<console_server> {
        std::optional<detail::console_certificate> certificate;
        if (options.is_secured()) {
            ELASTICJOB_TRY(certificate, detail::console_certificate::load(options.certificate_file, options.key_file));
        }
        return start_checked(std::make_unique<running>(std::move(zone), std::move(registries), std::move(databases),
                                                       options, std::move(certificate)),
                             options);
    };
#if defined(__cpp_exceptions)
    try {
        return serve();
    } catch (std::exception const& e) { // from Asio, if the process has no descriptor or thread left
        return unreachable(e.what(), options);
    }
#else
    return serve();
#endif
}

ELASTICJOB_DECL result<console_server> console_server::start_checked(std::unique_ptr<running> run,
                                                                     console_options const& options) {
    ELASTICJOB_TRY(auto acceptor, run->listen(options));
    auto const at = acceptor.local_endpoint();
    std::string const host = at.address().is_v6() ? "[" + at.address().to_string() + "]" : at.address().to_string();
    auto url = (options.is_secured() ? "https://" : "http://") + host + ":" + std::to_string(at.port()) + "/";
    auto thread =
        detail::start_thread([s = &run->service, a = std::move(acceptor)]() mutable { s->run(std::move(a)); });
    if (!thread) return unreachable(thread.error().what, options);
    return console_server{std::move(run), at.port(), std::move(url), *std::move(thread)};
}

ELASTICJOB_DECL result<void> console_server::check(std::vector<console_registry> const& registries,
                                                   std::vector<console_database> const& databases,
                                                   console_options const& o) {
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

ELASTICJOB_DECL result<boost::asio::ip::tcp::acceptor> console_server::running::listen(console_options const& o) {
    boost::system::error_code failed;
    auto const address = boost::asio::ip::make_address(o.address, failed);
    if (failed) return error{errc::invalid_argument, "must be a numeric address", "address"};
    tcp::endpoint const at{address, static_cast<unsigned short>(o.port)};
    tcp::acceptor acceptor{service.context()};
    acceptor.open(at.protocol(), failed);
    if (!failed)
        acceptor.set_option(tcp::acceptor::reuse_address{true}, failed); // an earlier process may have used the port
    if (!failed) acceptor.bind(at, failed);
    if (!failed) acceptor.listen(128, failed);
    if (failed) return unreachable(failed.message(), o);
    return acceptor;
}

} // namespace elasticjob
#endif // ELASTICJOB_IMPL_CONSOLE_CONSOLE_SERVER_IPP
