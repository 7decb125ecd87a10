// SPDX-License-Identifier: Apache-2.0
#ifndef ELASTICJOB_IMPL_COMMAND_LINE_COMMAND_TREE_IPP
#define ELASTICJOB_IMPL_COMMAND_LINE_COMMAND_TREE_IPP

#include <elasticjob/command_line/command_tree.hpp>
#include <elasticjob/config/instant_text.hpp>
#include <elasticjob/core/version.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

namespace elasticjob::cli {

namespace detail {

inline std::string version_text() {
    return std::to_string(ELASTICJOB_VERSION_MAJOR) + "." + std::to_string(ELASTICJOB_VERSION_MINOR) + "." +
           std::to_string(ELASTICJOB_VERSION_PATCH);
}

/// Adds an option for a span of time with its unit, such as `30s`; up to a week.
inline void add_span(CLI::App& app, char const* name, std::int64_t& into_ms, char const* text) {
    static std::map<std::string, std::int64_t> const units{{"ms", 1}, {"s", 1'000}, {"min", 60'000}, {"h", 3'600'000}};
    app.add_option(name, into_ms, text)
        ->check(CLI::Range(std::int64_t{1}, std::int64_t{604'800'000}).description(""))
        ->transform(CLI::AsNumberWithUnit(units, CLI::AsNumberWithUnit::UNIT_REQUIRED).description("ms, s, min or h"))
        ->type_name("SPAN")
        ->default_str({});
}

/// The values that an option or an argument may have: `{table,json}` in its type.
inline std::vector<std::string> choices_of(CLI::Option const& option) {
    auto const type = option.get_type_name();
    auto const begin = type.find('{'), end = type.find('}');
    if (begin == type.npos || end == type.npos) return {};
    return CLI::detail::split(type.substr(begin + 1, end - begin - 1), ',');
}

inline completion::names names_for(CLI::Option const& option) {
    auto const name = option.get_name();
    if (name == "JOB" || name == "--job") return completion::names::jobs;
    if (name == "SERVER") return completion::names::servers;
    if (name == "--context" || name == "--registry") return completion::names::contexts;
    return completion::names::none;
}

/// The option of that name, of the command or of all commands; null if there is none.
inline CLI::Option const* find_option(CLI::App const* app, std::string const& word) {
    for (; app; app = app->get_parent())
        if (auto const* option = app->get_option_no_throw(word)) return option;
    return nullptr;
}

inline CLI::Option const* positional(CLI::App const* app, std::size_t number) {
    for (auto const* option : app->get_options())
        if (option->get_positional() && number-- == 0) return option;
    return nullptr;
}

inline std::string with_description(std::string name, std::string const& text) {
    return text.empty() ? name : name + "\t" + text;
}

inline std::vector<CLI::App const*> subcommands_of(CLI::App const& app) {
    return app.get_subcommands([](CLI::App const*) { return true; });
}

inline CLI::App const* find_subcommand(CLI::App const& app, std::string_view name) {
    auto const named = app.get_subcommands([&](CLI::App const* sub) { return sub->get_name() == name; });
    return named.empty() ? nullptr : named.front();
}

// The manual page uses the macros of man(7).

inline std::string roff(std::string_view text) {
    std::string escaped;
    for (char const c : text) {
        if (c == '\\')
            escaped += "\\e";
        else if (c == '-')
            escaped += "\\-";
        else if ((c == '.' || c == '\'') && (escaped.empty() || escaped.back() == '\n'))
            escaped.append("\\&") += c;
        else
            escaped += c;
    }
    return escaped;
}

inline std::string roff_options(CLI::App const& app) {
    std::string text;
    for (auto const* option : app.get_options()) {
        text += ".TP\n\\fB" + roff(option->get_name(true, !option->get_positional())) + "\\fR";
        if (auto const type = option->get_type_name(); !type.empty()) text += " \\fI" + roff(type) + "\\fR";
        text += "\n" + roff(option->get_description()) + "\n";
    }
    return text;
}

inline void append_roff_commands(std::string& text, CLI::App const& app, std::string const& path) {
    for (auto const* sub : subcommands_of(app)) {
        auto const name = path.empty() ? sub->get_name() : path + " " + sub->get_name();
        if (!subcommands_of(*sub).empty()) {
            append_roff_commands(text, *sub, name);
            continue;
        }
        text += ".SS " + roff(name);
        for (auto const* option : sub->get_options())
            if (option->get_positional())
                text += " " + (option->get_required() ? option->get_name() : "[" + option->get_name() + "]");
        text += "\n" + roff(sub->get_description()) + ".\n" + roff_options(*sub);
    }
}

} // namespace detail

ELASTICJOB_DECL command_tree::command_tree()
    : app_{"Looks at the jobs of a registry, and commands them.", "elasticjob"} {
    app_.require_subcommand(1);
    app_.set_version_flag("--version", detail::version_text());
    app_.fallthrough();
    app_.option_defaults()->always_capture_default();
    app_.add_option(
        "--servers", arguments_.address.servers,
        "ZooKeeper servers, host:port separated by commas; otherwise those of the context, $ELASTICJOB_SERVERS "
        "or 127.0.0.1:2181");
    app_.add_option("--namespace", arguments_.address.name_space,
                    "name space of the jobs; otherwise that of the context, or $ELASTICJOB_NAMESPACE");
    app_.add_option("--digest", arguments_.address.digest,
                    "user:password; better in a context or in $ELASTICJOB_DIGEST, where ps does not show it");
    app_.add_option("--context", arguments_.context, "a name of the file of contexts; otherwise $ELASTICJOB_CONTEXT");
    app_.add_option("-o,--output", arguments_.output, "table for people; json, one document; jsonl, one object a line")
        ->check(CLI::IsMember({"table", "json", "jsonl"}));
    app_.add_option("--zone", arguments_.zone,
                    "the time zone of tables, such as Europe/Berlin, or local; JSON has UTC");
    std::string footer = "Exit codes:";
    for (auto const code : exit_codes)
        footer += "\n  " + std::to_string(static_cast<int>(code)) + "  " + std::string{meaning_of(code)};
    app_.footer(footer + "\nManual: man elasticjob, and docs/operations.md");
}

ELASTICJOB_DECL CLI::App* command_tree::group_of(std::string_view path) {
    auto const name = std::string{path.substr(0, path.find(' '))};
    if (detail::find_subcommand(app_, name)) return app_.get_subcommand(name);
    auto* const group = app_.add_subcommand(name);
    group->require_subcommand(1);
    return group;
}

ELASTICJOB_DECL void command_tree::add(command_shape const& shape) {
    auto const space = shape.path.find(' ');
    auto* const parent = space == shape.path.npos ? &app_ : group_of(shape.path);
    auto const name = std::string{shape.path.substr(space == shape.path.npos ? 0 : space + 1)};
    auto* const app = parent->add_subcommand(name, std::string{shape.text});
    if (parent != &app_)
        parent->description(parent->get_description() + (parent->get_description().empty() ? "" : ", ") + name);
    take_names(*app, shape.arguments_taken);
    take_selection(*app, shape.arguments_taken);
    take_settings(*app, shape.arguments_taken);
    take_waits(*app, shape.arguments_taken);
    take_console(*app, shape.arguments_taken);
    take_command(*app, shape);
    commands_.push_back(app);
}

ELASTICJOB_DECL void command_tree::take_names(CLI::App& app, takes what) {
    auto& a = arguments_;
    auto const check_given = [](std::string const& text) { // an unset variable of a script must not mean all jobs
        return text.empty() ? std::string{"the name is empty: give one, or leave it out"} : std::string{};
    };
    if (has(what, takes::job)) app.add_option("JOB", a.job, "name of the job")->required();
    if (has(what, takes::any_job))
        app.add_option("JOB", a.job, "name of the job; otherwise all jobs")->check(check_given);
    if (has(what, takes::server)) app.add_option("SERVER", a.server, "address of the server")->required();
    if (has(what, takes::item)) app.add_option("ITEM", a.item, "number of the item")->required();
    if (has(what, takes::any_item)) app.add_option("ITEM", a.one_item, "number of the item; otherwise all items");
    if (has(what, takes::due)) {
        auto const check = [](std::string const& text) {
            wall_time due{};
            bool const is_instant = elasticjob::detail::read_instant(text, due);
            return is_instant ? std::string{} : "no due instant: copy due_ms of the list";
        };
        app.add_option("DUE", a.due_ms, "due instant of the run, in milliseconds since 1970, as the list shows it")
            ->required()
            ->check(check);
    }
    if (has(what, takes::instance)) app.add_option("INSTANCE", a.instance, "id of the instance")->required();
    if (has(what, takes::in_job)) app.add_option("--job", a.job, "in this job only")->check(check_given);
    if (has(what, takes::in_this_job)) app.add_option("--job", a.job, "in this job")->required()->check(check_given);
    if (has(what, takes::expression)) {
        app.add_option("EXPRESSION", a.expression, "in quotes")->required();
        app.add_option("--count", a.count, "due instants to show")->check(CLI::Range(1, 1'000));
    }
    if (has(what, takes::shell))
        app.add_option("SHELL", a.shell, "the shell that is to complete")
            ->required()
            ->check(CLI::IsMember({"bash", "zsh", "fish"}));
}

ELASTICJOB_DECL void command_tree::take_selection(CLI::App& app, takes what) {
    auto& a = arguments_;
    if (has(what, takes::job_filter)) {
        app.add_option("--contains", a.contains, "only names with this text");
        app.add_option("--status", a.status, "only this status")
            ->check(CLI::IsMember({"CRASHED", "DISABLED", "SHARDING_FLAG", "OK"}));
        app.add_option("--after", a.after, "the page that follows this name");
    }
    if (has(what, takes::item_range)) app.add_option("--first", a.first, "the page that begins with this item");
    if (has(what, takes::job_filter | takes::item_range))
        app.add_option("--limit", a.limit, "rows on a page")->check(CLI::Range(1, 10'000));
}

ELASTICJOB_DECL void command_tree::take_settings(CLI::App& app, takes what) {
    auto& a = arguments_;
    if (has(what, takes::file)) app.add_option("-f,--file", a.file, "the configuration, JSON")->required();
    if (has(what, takes::dropping))
        app.add_flag("--drop-schedules", a.drops_schedules,
                     "remove the schedules, time zone and labels that the file does not have");
    if (!has(what, takes::job_change)) return;
    app.add_option("--join", a.joining, "addresses or ids of instances that would join");
    app.add_option("--leave", a.leaving, "ids of instances that would leave");
    app.add_option("--items", a.item_count, "how many items there would be");
    app.add_option("--labels", a.labels, "the labels that items would need, as itemLabels");
}

ELASTICJOB_DECL void command_tree::take_console(CLI::App& app, takes what) {
    if (!has(what, takes::serving)) return;
    auto& c = arguments_.console;
    app.add_option("--registry", c.registries,
                   "serve this context under its name, instead of the registry of this call");
    app.add_option("--sqlite", c.sqlite, "NAME=FILE, a database of events to show under this name");
    app.add_option("--postgres", c.postgres, "NAME=CONNECTION, likewise; the password is in ~/.pgpass");
    app.add_option("--port", c.port, "0: any free port")->check(CLI::Range(0, 65'535));
    app.add_option("--address", c.address,
                   "where to listen; another address than of loopback needs --certificate, or --proxy");
    app.add_option("--host-name", c.host_names, "a name under which browsers reach the console");
    app.add_option("--certificate", c.certificate_file, "speak TLS with the certificates in this file, PEM");
    app.add_option("--key", c.key_file, "the key of --certificate, PEM, which only you may read");
    app.add_option("--password-file", c.password_file, "operators sign in: lines of NAME:HASH, as mkpasswd makes them");
    app.add_option("--proxy", c.proxies, "address of a proxy that authenticates operators");
    app.add_option("--identity-header", c.identity_header,
                   "the header in which the proxy names the operator, in lower case");
    app.add_option("--oidc-issuer", c.issuer, "operators sign in at this identity provider, by OpenID Connect");
    app.add_option("--oidc-client-id", c.client_id, "the name of this console at the provider");
    app.add_option("--oidc-client-secret-file", c.client_secret_file,
                   "a file with the client secret, which only you may read");
    app.add_option("--oidc-redirect-url", c.redirect_url, "the URL of this console, with /sign-in/return at its end");
    app.add_option("--oidc-scope", c.scope, "what the provider is asked for, as 'openid profile'");
    app.add_option("--oidc-name-claim", c.name_claim, "the claim that is the operator's name");
    app.add_option("--oidc-groups-claim", c.groups_claim,
                   "the claim with the operator's groups, for --grant @GROUP:JOBS:ROLE");
    app.add_option("--oidc-ca-file", c.ca_file,
                   "the provider's certificate authorities, PEM; otherwise those of the system");
    app.add_option("--grant", c.grants,
                   "OPERATORS:JOBS:ROLE, as ann:billing-*:operator; * stands for any text, @ begins a group");
    app.add_flag("--java-interface", c.has_java_interface, "also serve the interface of 2.1.5's console, under /api");
    app.add_option("--operator", arguments_.operator_name,
                   "the operator's name if the console has no sign-in; otherwise $USER");
}

ELASTICJOB_DECL void command_tree::take_waits(CLI::App& app, takes what) {
    auto& a = arguments_;
    if (has(what, takes::watching))
        app.add_flag("-w,--watch", a.is_watching, "go on, and print rows when they change, until you stop it");
    if (has(what, takes::watching | takes::interval))
        detail::add_span(app, "--interval", a.interval_ms, "look at least this often [5s]");
    if (has(what, takes::may_wait)) app.add_flag("--wait", a.is_waiting, "wait until what was triggered has ended");
    if (!has(what, takes::waiting | takes::may_wait)) return;
    app.add_option("--for", a.wanted_end, "what to wait for")->check(CLI::IsMember({"success", "failure", "either"}));
    detail::add_span(app, "--timeout", a.timeout_ms, "wait no longer [10min]");
}

ELASTICJOB_DECL void command_tree::take_command(CLI::App& app, command_shape const& shape) {
    auto& a = arguments_;
    if (!shape.is_command()) return;
    app.add_flag("--dry-run", a.is_dry_run, "validate, say what would be done, and write nothing");
    app.add_option("--operator", a.operator_name, "your name, for the audit trail; otherwise $USER");
    app.add_option("--key", a.key, "two commands with one key are one command");
    if (shape.is_harmful()) app.add_flag("--yes", a.is_confirmed, "do it without asking");
}

ELASTICJOB_DECL command_tree::parsed command_tree::parse(std::vector<std::string> const& words) {
    auto const called = [&] { // the names of the commands that have been read so far
        CLI::App const* last = &app_;
        std::string names;
        while (!last->get_subcommands().empty()) {
            names += (names.empty() ? "" : " ") + last->get_name();
            last = last->get_subcommands().front();
        }
        return std::pair{last, names};
    };
#if defined(__cpp_exceptions)
    try {
        app_.parse(std::vector<std::string>(words.rbegin(), words.rend())); // CLI11 expects the words in reverse order
    } catch (CLI::CallForHelp const&) {
        auto const [app, names] = called();
        return {0, answer{exit_code::done, {}, app->help(names), {}}};
    } catch (CLI::CallForVersion const&) {
        return {0, answer{exit_code::done, {}, detail::version_text() + "\n", {}}};
    } catch (CLI::ParseError const& e) {
        auto const [app, names] = called();
        auto const next = (names.empty() ? "" : names + " ") + app->get_name() + " --help";
        return {0, refusal(exit_code::usage, e.what(), next)};
    }
#else
#error "the program needs exceptions, because CLI11 reports wrong arguments by them"
#endif
    auto const is_called = [](CLI::App const* app) { return app->parsed(); };
    auto const command = std::find_if(commands_.begin(), commands_.end(), is_called);
    return {static_cast<std::size_t>(std::distance(commands_.begin(), command)), std::nullopt};
}

ELASTICJOB_DECL completion command_tree::complete(std::vector<std::string> const& words) const {
    completion c;
    CLI::App const* app = &app_;
    CLI::Option const* open = nullptr; // the option that waits for its value
    std::size_t positionals = 0;
    auto const& last = c.typed = words.empty() ? std::string{} : words.back();
    for (std::size_t i = 0; i + 1 < words.size(); ++i) {
        auto const& word = words[i];
        if (open) {
            auto& address = c.given.address;
            if (open->get_name() == "--servers") address.servers = word;
            if (open->get_name() == "--namespace") address.name_space = word;
            if (open->get_name() == "--digest") address.digest = word;
            if (open->get_name() == "--context") c.given.context = word;
            open = nullptr;
        } else if (word.starts_with('-')) {
            open = detail::find_option(app, word);
            if (open && open->get_type_size() == 0) open = nullptr;
        } else if (auto const* const sub = detail::find_subcommand(*app, word)) {
            app = sub;
        } else {
            ++positionals;
        }
    }
    auto const offer = [&](std::string const& name, std::string const& text) {
        if (name.starts_with(last)) c.words.push_back(detail::with_description(name, text));
    };
    if (!open && last.starts_with('-')) {
        for (auto const* at = app; at; at = at->get_parent())
            for (auto const* option : at->get_options())
                for (auto const& name : option->get_lnames()) offer("--" + name, option->get_description());
        return c;
    }
    auto const* const value = open ? open : detail::positional(app, positionals);
    if (!open)
        for (auto const* sub : detail::subcommands_of(*app)) offer(sub->get_name(), sub->get_description());
    if (!value) return c;
    for (auto const& choice : detail::choices_of(*value)) offer(choice, {});
    c.of = detail::names_for(*value);
    return c;
}

ELASTICJOB_DECL std::string command_tree::manual_page() const {
    std::string text = ".TH ELASTICJOB 1 \"\" \"elasticjob " + detail::version_text() +
                       "\"\n.SH NAME\nelasticjob \\- " +
                       "looks at the jobs of a registry, and commands them\n.SH SYNOPSIS\n" +
                       "\\fBelasticjob\\fR [\\fIOPTIONS\\fR] \\fICOMMAND\\fR [\\fIARGUMENTS\\fR]\n" +
                       ".SH OPTIONS\nThey may stand anywhere.\n" + detail::roff_options(app_) + ".SH COMMANDS\n";
    detail::append_roff_commands(text, app_, {});
    text += ".SH EXIT STATUS\n";
    for (auto const code : exit_codes)
        text += ".TP\n" + std::to_string(static_cast<int>(code)) + "\n" + detail::roff(meaning_of(code)) + "\n";
    text += ".SH ENVIRONMENT\n"
            ".TP\n\\fBELASTICJOB_SERVERS\\fR, \\fBELASTICJOB_NAMESPACE\\fR, \\fBELASTICJOB_DIGEST\\fR\n"
            "Where the registry is, unless options or a context say so.\n"
            ".TP\n\\fBELASTICJOB_CONTEXT\\fR\nThe context, unless \\fB\\-\\-context\\fR says so.\n"
            ".TP\n\\fBNO_COLOR\\fR\nIf it is not empty, there are no colours.\n"
            ".TP\n\\fBUSER\\fR\nThe name of the operator, unless \\fB\\-\\-operator\\fR says so.\n"
            ".SH FILES\n.TP\n\\fI$XDG_CONFIG_HOME/elasticjob/contexts.json\\fR\n"
            "The contexts; \\fI~/.config/elasticjob/contexts.json\\fR if XDG_CONFIG_HOME is not set.\n";
    return text;
}

} // namespace elasticjob::cli
#endif // ELASTICJOB_IMPL_COMMAND_LINE_COMMAND_TREE_IPP
