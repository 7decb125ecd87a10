// SPDX-License-Identifier: Apache-2.0
/// \file \brief How a console is served, and who may use it.
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

/// How the console learns who sends a request.
enum class console_authentication : std::uint8_t {
    none,     ///< everybody who reaches the server is `local_operator`: for loopback only
    password, ///< operators sign in with a password from `password_file`
    proxy,    ///< a proxy in front of the console has asked, and names the operator in a header
    oidc,     ///< operators sign in at an identity provider, by OpenID Connect
};

/// `none`, `password`, `proxy`, `oidc`.
std::string_view name_of(console_authentication a) noexcept;

/// How the console, as a client of an identity provider, learns who operators are: by the authorization code flow of
/// OpenID Connect with PKCE.
struct console_oidc {
    /// `https://login.example/realms/main`: what the provider calls itself. It answers at
    /// `/.well-known/openid-configuration` below it.
    std::string issuer{};

    std::string client_id{}; ///< the name of this console at the provider

    /// A file with the secret of the client, which only its owner may be able to read. It is read for each sign-in.
    std::string client_secret_file{};

    /// `https://jobs.example/sign-in/return`: this console as browsers know it, with `/sign-in/return` at its end. The provider
    /// must know it, too.
    std::string redirect_url{};

    /// The claim that is the operator's name. `sub` is the one that never gets another owner; `email` counts only if
    /// the provider has verified the address.
    std::string name_claim = "sub";

    /// The claim with the names of the operator's groups, for grants to `@GROUP`; empty: none.
    std::string groups_claim{};

    std::string scope = "openid"; ///< what the provider is asked for, in words; `openid` must be one of them

    std::string ca_file{}; ///< the authorities that vouch for the provider, in PEM; empty: those of the system
    std::chrono::seconds timeout{10}; ///< for an answer of the provider

    bool allows_plain_loopback = false; ///< for tests: a provider on an address of loopback needs no TLS
};

struct console_options {
    /// Numeric. Another one than of loopback needs authentication, and TLS or a proxy.
    std::string address = "127.0.0.1";
    int port = 0; ///< 0: any free port

    /// With these two the console speaks TLS: the server's certificate, followed by those of the authorities between it
    /// and the one that browsers know, and its key, which only its owner may be able to read. Both are in PEM. Files
    /// that have changed are taken for the next connection.
    std::string certificate_file{};
    std::string key_file{};

    /// Names under which browsers reach the server, besides `localhost` and addresses of loopback. A request for
    /// another host is refused, so that no foreign page gets here by a name of its own.
    std::vector<std::string> host_names{};

    console_authentication authentication = console_authentication::none;
    std::string local_operator = "local"; ///< without authentication
    console_role local_role = console_role::administrator;

    /// Lines of an operator's name, a colon and a hash of crypt(3), as `mkpasswd` makes them. A line that begins with
    /// `#` is a comment. Only its owner may be able to write it. It is read at the start and when it has changed.
    std::string password_file{};

    console_oidc oidc{}; ///< for this kind of authentication

    std::vector<std::string> proxies{}; ///< their addresses; a request from another one is refused
    std::string identity_header =
        "x-remote-user"; ///< in lower case; what a client sends under this name, a proxy must replace

    /// With authentication: what each operator may do. What no grant allows is refused.
    std::vector<console_grant> grants{};

    /// Names of strategies that the members know besides those of this library.
    std::vector<std::string> strategies{};

    /// Also serves the interface of the console of 2.1.5, under `/api`, for the first registry and the first database.
    bool has_java_interface = false;

    std::size_t connections_max = 256; ///< 1 to 10,000; a further one is closed at once
    std::size_t streams_max = 200;     ///< of connections that follow changes
    std::size_t requests_max = 64;     ///< that are being answered or wait for it; a further one is answered with 503
    std::size_t threads = 4;           ///< 1 to 64, which answer
    std::size_t body_max = 1'048'576;  ///< bytes
    std::size_t head_max = 16'384;     ///< bytes; 1,024 to 65,536
    std::chrono::seconds read_timeout{10};  ///< for a request, from its first byte on; for the first, from the start
    std::chrono::seconds idle_timeout{60};  ///< for a connection between two requests
    std::chrono::seconds write_timeout{10}; ///< for an answer
    std::chrono::hours session_length{12};  ///< until an operator has to sign in again

    bool is_secured() const noexcept { return !certificate_file.empty(); } ///< whether the console speaks TLS
};

/// The record of runs under a name of its own. A value that shares what it reads from. Threads: any.
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

/// Errors: invalid_argument, naming the option. Reads no file.
result<void> check(console_options const& o);

} // namespace detail
} // namespace elasticjob

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/console/options.ipp>
#endif
#endif // ELASTICJOB_CONSOLE_OPTIONS_HPP
