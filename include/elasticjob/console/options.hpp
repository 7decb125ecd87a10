// SPDX-License-Identifier: Apache-2.0
/// \file \brief The options of a console: its address, its limits, and its operators.
#ifndef ELASTICJOB_CONSOLE_OPTIONS_HPP
#define ELASTICJOB_CONSOLE_OPTIONS_HPP

#include <elasticjob/console/access.hpp>
#include <elasticjob/core/chrono.hpp>
#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/memory.hpp>
#include <elasticjob/core/result.hpp>
#include <elasticjob/events/event_history.hpp>

#include <cstddef>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace elasticjob {

/// The way in which the console identifies operators.
enum class console_authentication : std::uint8_t {
    none,     ///< every client is `local_operator`: for loopback only
    password, ///< operators sign in with a password from `password_file`
    proxy,    ///< a proxy in front of the console identifies the operator, and names them in a header
    oidc,     ///< operators sign in at an identity provider, by OpenID Connect
};

/// The names are `none`, `password`, `proxy` and `oidc`.
std::string_view name_of(console_authentication a) noexcept;

/// The options of the console as a client of an identity provider: the authorization code flow of OpenID Connect with
/// PKCE.
struct console_oidc {
    /// The provider's own name, such as `https://login.example/realms/main`. Its document is at
    /// `/.well-known/openid-configuration` below that.
    std::string issuer{};

    std::string client_id{}; ///< the name of this console at the provider

    /// A file with the secret of the client. Only its owner may have permission to read it. It is read for each
    /// sign-in.
    std::string client_secret_file{};

    /// The address of this console in browsers with `/sign-in/return` at its end, such as
    /// `https://jobs.example/sign-in/return`. It must be registered at the provider.
    std::string redirect_url{};

    /// The claim with the operator's name. Only `sub` is never given to another person; `email` counts only if the
    /// provider has verified the address.
    std::string name_claim = "sub";

    /// The claim with the names of the operator's groups, for grants to `@GROUP`; empty: none.
    std::string groups_claim{};

    std::string scope = "openid"; ///< the requested scopes, separated by blanks; `openid` must be one of them

    std::string ca_file{}; ///< the authorities that may certify the provider, in PEM; empty: those of the system
    std::chrono::seconds timeout{10}; ///< for an answer of the provider

    bool allows_plain_loopback = false; ///< for tests: a provider on a loopback address needs no TLS
};

struct console_options {
    /// A numeric address. Any address except loopback needs authentication, and TLS or a proxy.
    std::string address = "127.0.0.1";
    int port = 0; ///< 0: any free port

    /// With these two options the console speaks TLS. The first file has the server's certificate, followed by those of
    /// the intermediate authorities. The second file has the key; only its owner may have permission to read it. Both
    /// are in PEM. If the files change, the next connection uses the new ones.
    std::string certificate_file{};
    std::string key_file{};

    /// The names under which browsers reach the server, besides `localhost` and loopback addresses. The server refuses
    /// requests for any other host, so that no foreign page reaches it under a name of its own.
    std::vector<std::string> host_names{};

    console_authentication authentication = console_authentication::none;
    std::string local_operator = "local"; ///< without authentication
    console_role local_role = console_role::administrator;

    /// A file with a line for each operator: the name, a colon, and a hash of crypt(3), as `mkpasswd` makes it. A line
    /// that begins with `#` is a comment. Only the file's owner may have permission to write it. It is read at the
    /// start and when it has changed.
    std::string password_file{};

    console_oidc oidc{}; ///< for `console_authentication::oidc`

    std::vector<std::string> proxies{}; ///< their addresses; requests from other addresses are refused
    std::string identity_header =
        "x-remote-user"; ///< in lower case; the proxy must replace this header if a client sends it

    /// With authentication: the rights of the operators. What no grant allows is forbidden.
    std::vector<console_grant> grants{};

    /// Names of strategies that the members know besides those of this library.
    std::vector<std::string> strategies{};

    /// Also serves the interface of the console of 2.1.5, under `/api`, for the first registry and the first database.
    bool has_java_interface = false;

    std::size_t connections_max = 256; ///< 1 to 10,000; one more is closed at once
    std::size_t streams_max = 200;     ///< the maximum number of connections that follow changes
    std::size_t requests_max = 64;     ///< in progress or waiting; one more is answered with 503
    std::size_t threads = 4;           ///< 1 to 64 threads for each registry, and for all other requests
    std::size_t body_max = 1'048'576;  ///< bytes
    std::size_t head_max = 16'384;     ///< bytes; 1,024 to 65,536
    std::chrono::seconds read_timeout{
        10}; ///< for a request from its first byte, for the first from the connection's start
    std::chrono::seconds idle_timeout{60};  ///< for a connection between two requests
    std::chrono::seconds write_timeout{10}; ///< for an answer
    std::chrono::hours session_length{12};  ///< until an operator has to sign in again

    bool is_secured() const noexcept { return !certificate_file.empty(); } ///< whether the console speaks TLS
};

/// A database with recorded runs, and its name. A value; copies share the database. Threads: any.
class console_database {
public:
    /// `source.executions(query)` and `source.states(query)` return a `result` with a page of these rows.
    template <class Source>
    console_database(std::string name, Source source)
        : name_{std::move(name)},
          reader_{std::make_shared<reader_of<Source>>(std::move(source))} {}

    std::string const& name() const noexcept { return name_; }
    result<history_page<execution_row>> executions(history_query const& q) const {
        return reader_->executions(*reader_, q);
    }
    result<history_page<state_row>> states(history_query const& q) const { return reader_->states(*reader_, q); }

private:
    struct reader {
        result<history_page<execution_row>> (*executions)(reader&, history_query const&);
        result<history_page<state_row>> (*states)(reader&, history_query const&);
        std::mutex mutex{};
    };
    template <class Source>
    struct reader_of : reader {
        explicit reader_of(Source s) : reader{&read_executions, &read_states}, source{std::move(s)} {}
        static result<history_page<execution_row>> read_executions(reader& r, history_query const& q) {
            std::lock_guard const lock{r.mutex};
            return static_cast<reader_of&>(r).source.executions(q);
        }
        static result<history_page<state_row>> read_states(reader& r, history_query const& q) {
            std::lock_guard const lock{r.mutex};
            return static_cast<reader_of&>(r).source.states(q);
        }
        Source source;
    };

    std::string name_;
    std::shared_ptr<reader> reader_;
};

/// A database of events: `open_console_database("events", SqliteDatabase{…})`.
template <readable_event_database Database>
console_database open_console_database(std::string name, Database database) {
    struct source {
        Database database;
        auto executions(history_query const& q) { return list_executions(database, q); }
        auto states(history_query const& q) { return list_states(database, q); }
    };
    return {std::move(name), source{std::move(database)}};
}

namespace detail {

/// The end of `console_oidc::redirect_url`.
inline constexpr std::string_view oidc_return_path = "/sign-in/return";

/// Errors: invalid_argument, which names the option. Reads no file.
result<void> check(console_options const& o);

} // namespace detail
} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/console/options.ipp>
#endif
#endif // ELASTICJOB_CONSOLE_OPTIONS_HPP
