// SPDX-License-Identifier: Apache-2.0
/// \file \brief The command `elasticjob console`. Needs the headers of Boost.Beast, and the library crypt; for
/// TLS and OpenID Connect OpenSSL, and `ELASTICJOB_HTTPS` defined.
#ifndef ELASTICJOB_COMMAND_LINE_SERVE_CONSOLE_HPP
#define ELASTICJOB_COMMAND_LINE_SERVE_CONSOLE_HPP

#include <elasticjob/command_line/answer.hpp>
#include <elasticjob/command_line/arguments.hpp>
#include <elasticjob/command_line/terminal.hpp>
#include <elasticjob/console/console_server.hpp>
#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/stop_signals.hpp>

#include <string>
#include <utility>
#include <vector>

namespace elasticjob::cli {

namespace detail {

/// `ann:billing-*:operator`. Errors: invalid_argument.
result<console_grant> parse_grant(std::string const& text);

/// The options of the console that the arguments say. Errors: invalid_argument.
result<console_options> console_options_of(arguments const& a);

/// `events=/var/lib/jobs/events.db`, as what follows that option. Errors: invalid_argument.
result<std::pair<std::string, std::string>> parse_named(std::string const& text, std::string const& option);

/// A file that is there: SQLite would create another one. Errors: invalid_argument.
result<std::pair<std::string, std::string>> parse_sqlite(std::string const& text);

/// A connection without a password, which every user of the machine could see. Errors: invalid_argument.
result<std::pair<std::string, std::string>> parse_postgres(std::string const& text);

} // namespace detail

/// The databases of a program that was built without any. Errors: invalid_argument if one is asked for.
struct no_databases {
    result<std::vector<console_database>> operator()(console_arguments const& given) const;
};

/// Serves the console of some registries until a signal ends it, and prints where. `open(console_arguments)` is the
/// `result<std::vector<console_database>>` that the call asks for.
template <class OpenDatabases = no_databases>
struct serve_console {
    template <registry Registry>
    using registries = std::vector<console_registry<Registry>>;

    OpenDatabases open{};

    /// `signals` was made before any thread.
    template <registry Registry>
    exit_code operator()(registries<Registry> all, terminal& t, arguments const& a, stop_signals const& signals) const {
        auto const fail = [&](error const& e) {
            auto const failed = failure(e);
            t.write_message(failed.messages);
            return failed.code;
        };
        auto options = detail::console_options_of(a);
        if (!options) return fail(options.error());
        auto databases = open(a.console);
        if (!databases) return fail(databases.error());
        auto const console =
            console_server<Registry>::start(std::move(all), *std::move(options), *std::move(databases));
        if (!console) return fail(console.error());
        t.write("console: " + console->url() + "\n");
        (void)signals.wait();
        return exit_code::done;
    }
};

template <class OpenDatabases>
serve_console(OpenDatabases) -> serve_console<OpenDatabases>;

} // namespace elasticjob::cli

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/command_line/serve_console.ipp>
#endif
#endif // ELASTICJOB_COMMAND_LINE_SERVE_CONSOLE_HPP
