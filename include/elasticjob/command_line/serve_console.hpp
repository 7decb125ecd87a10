// SPDX-License-Identifier: Apache-2.0
/// \file \brief The command `elasticjob console`. Needs what console_server.hpp needs.
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

/// Parses `ann:billing-*:operator`. Errors: invalid_argument.
result<console_grant> parse_grant(std::string const& text);

/// The options of the console in the arguments. Errors: invalid_argument.
result<console_options> console_options_of(arguments const& a);

/// Parses the value of an option, such as `events=/var/lib/jobs/events.db`. Errors: invalid_argument.
result<std::pair<std::string, std::string>> parse_named(std::string const& text, std::string const& option);

/// Checks that the file exists, because SQLite would create a new one. Errors: invalid_argument.
result<std::pair<std::string, std::string>> parse_sqlite(std::string const& text);

/// Checks that the connection has no password, which every user of the machine could see. Errors: invalid_argument.
result<std::pair<std::string, std::string>> parse_postgres(std::string const& text);

} // namespace detail

/// For a program that was built without databases. Errors: invalid_argument if the call asks for a database.
struct no_databases {
    result<std::vector<console_database>> operator()(console_arguments const& given) const;
};

/// Serves the console of some registries until a signal ends it, and prints its address. `open(console_arguments)`
/// returns the databases of the call as a `result<std::vector<console_database>>`.
template <class OpenDatabases = no_databases>
struct serve_console {
    OpenDatabases open{};

    /// `signals` was constructed before any thread started.
    exit_code operator()(std::vector<console_registry> all, terminal& t, arguments const& a,
                         stop_signals const& signals) const {
        auto const fail = [&](error const& e) {
            auto const failed = failure(e);
            t.write_message(failed.messages);
            return failed.code;
        };
        auto options = detail::console_options_of(a);
        if (!options) return fail(options.error());
        auto databases = open(a.console);
        if (!databases) return fail(databases.error());
        auto const console = console_server::start(std::move(all), *std::move(options), *std::move(databases));
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
