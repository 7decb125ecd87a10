// SPDX-License-Identifier: Apache-2.0
/// \file \brief The command `elasticjob console`. Needs the headers of Boost.Beast, and the library crypt.
#ifndef ELASTICJOB_COMMAND_LINE_SERVE_CONSOLE_HPP
#define ELASTICJOB_COMMAND_LINE_SERVE_CONSOLE_HPP

#include <elasticjob/command_line/answer.hpp>
#include <elasticjob/command_line/arguments.hpp>
#include <elasticjob/command_line/terminal.hpp>
#include <elasticjob/console/console_server.hpp>
#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/stop_signals.hpp>

#include <string>

namespace elasticjob::cli {

namespace detail {

/// `ann:billing-*:operator`. Errors: invalid_argument.
result<console_grant> parse_grant(std::string const& text);

/// The options of the console that the arguments say. Errors: invalid_argument.
result<console_options> console_options_of(arguments const& a);

} // namespace detail

/// Serves the console of a registry until a signal ends it, and prints where. `signals` was made before any thread.
struct serve_console {
    template <registry Registry>
    exit_code operator()(Registry& r, terminal& t, arguments const& a, registry_address const& address,
                         stop_signals const& signals) const {
        auto const fail = [&](error const& e) {
            auto const failed = failure(e);
            t.write_message(failed.messages);
            return failed.code;
        };
        auto options = detail::console_options_of(a);
        if (!options) return fail(options.error());
        auto const name = a.context.empty() ? std::string{"registry"} : a.context;
        auto const console = console_server<Registry>::start({{name, address.name_space, &r}}, *std::move(options));
        if (!console) return fail(console.error());
        t.write("console: " + console->url() + "\n");
        (void)signals.wait();
        return exit_code::done;
    }
};

} // namespace elasticjob::cli

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/command_line/serve_console.ipp>
#endif
#endif // ELASTICJOB_COMMAND_LINE_SERVE_CONSOLE_HPP
