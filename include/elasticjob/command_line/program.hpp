// SPDX-License-Identifier: Apache-2.0
/// \file \brief The program `elasticjob`: from its arguments to its output and its exit code.
#ifndef ELASTICJOB_COMMAND_LINE_PROGRAM_HPP
#define ELASTICJOB_COMMAND_LINE_PROGRAM_HPP

#include <elasticjob/command_line/change_feed.hpp>
#include <elasticjob/command_line/command_tree.hpp>
#include <elasticjob/command_line/contexts_codec.hpp>
#include <elasticjob/command_line/item_commands.hpp>
#include <elasticjob/command_line/job_commands.hpp>
#include <elasticjob/command_line/local_commands.hpp>
#include <elasticjob/command_line/server_commands.hpp>
#include <elasticjob/command_line/terminal.hpp>
#include <elasticjob/command_line/top.hpp>
#include <elasticjob/command_line/tree_commands.hpp>
#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/stop_signals.hpp>
#include <elasticjob/operations/job_overview.hpp>
#include <elasticjob/operations/server_overview.hpp>

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace elasticjob::cli {

/// The first word of a call by a completion script; the words up to the cursor follow it.
inline constexpr std::string_view completion_word = "__complete";

/// All commands on a registry, part by part.
template <registry Registry>
std::vector<command<Registry>> commands_of() {
    std::vector<command<Registry>> all;
    for (auto const part :
         {&job_commands<Registry>, &item_commands<Registry>, &server_commands<Registry>, &tree_commands<Registry>}) {
        auto const commands = part();
        all.insert(all.end(), commands.begin(), commands.end());
    }
    return all;
}

/// The part of a program that does not depend on its registry. Not a template, so it is compiled only once.
class program_base {
public:
    program_base(program_base const&) = delete;
    program_base& operator=(program_base const&) = delete;

protected:
    explicit program_base(terminal& t) : terminal_{t} {}

    /// The arguments, with the operator's name from the environment.
    arguments said() const;

    /// The style of tables. Errors: those of a zone that cannot be loaded.
    result<table_style> load_style(arguments const& a);

    /// The reason why a command cannot be carried out with these arguments, determined without the registry.
    std::optional<answer> find_obstacle(command_shape const& shape, arguments const& a) const;

    /// Shows the planned effect, and makes the operator type the name.
    std::optional<answer> ask(std::string const& name, answer const& planned);

    exit_code print(answer const& a, arguments const& said, table_style const& style);

    /// Prints the rows that have changed since the last call.
    void print_change(report const& now, arguments const& said, table_style const& style);

    /// Waits for a change, at most for the interval, and then as long as the pace requires.
    static void wait_for_change(int changed, arguments const& said, look_pace const& pace);

    terminal& terminal_;
    command_tree tree_{};

private:
    std::shared_ptr<zone_ref const> zone_{};
    report printed_{};
    std::vector<std::size_t> widths_{};
};

/// A program without a console.
struct no_console {};

inline constexpr command_shape console_shape{"console", "serve the web console of registries, until you stop it",
                                             takes::serving};

/// The program for one call. `Connect` returns `result<P>` for a `registry_address`; `*P` is a registry. `Serve` serves
/// the console: `serve_console`, which needs further libraries.
template <class Connect, class Serve = no_console>
class program : program_base {
    using registry_type = std::remove_cvref_t<decltype(**std::declval<Connect&>()(registry_address{}))>;

public:
    program(Connect connect, terminal& t, Serve serve = {});

    /// Call it once. `words`: the arguments, without the name of the program.
    exit_code run(std::vector<std::string> words);

private:
    exit_code complete(std::vector<std::string> const& words);
    exit_code run_on_registry(std::size_t number, arguments const& a, table_style const& style);
    exit_code run_console(arguments const& a, table_style const& style);
    exit_code run_command(registry_type& r, command<registry_type> const& c, arguments const& a,
                          table_style const& style);
    exit_code watch(registry_type& r, command<registry_type> const& c, arguments const& a, table_style const& style);

    static constexpr bool has_console = !std::is_same_v<Serve, no_console>;

    // The order of numbers: the commands on the registry, `top`, perhaps `console`, the commands without a registry.
    bool is_top(std::size_t number) const { return number == commands_.size(); }
    bool is_console(std::size_t number) const { return has_console && number == commands_.size() + 1; }
    std::size_t first_local() const { return commands_.size() + 1 + has_console; }

    Connect connect_;
    Serve serve_;
    std::vector<command<registry_type>> commands_ = commands_of<registry_type>();
};

template <class Connect, class Serve>
program<Connect, Serve>::program(Connect connect, terminal& t, Serve serve)
    : program_base{t},
      connect_{std::move(connect)},
      serve_{std::move(serve)} {
    for (auto const& c : commands_) tree_.add(c);
    tree_.add(top_shape);
    if constexpr (has_console) tree_.add(console_shape);
    for (auto const& c : local_commands) tree_.add(c);
}

template <class Connect, class Serve>
exit_code program<Connect, Serve>::run(std::vector<std::string> words) {
    if (!words.empty() && words.front() == completion_word) return complete({words.begin() + 1, words.end()});
    auto const parsed = tree_.parse(words);
    auto const a = said();
    if (parsed.ended) return print(*parsed.ended, a, {});
    auto const style = load_style(a);
    if (!style) return print(failure(style.error()), a, {});
    if (first_local() > parsed.command) return run_on_registry(parsed.command, a, *style);
    return print(local_commands[parsed.command - first_local()].run(terminal_, tree_, a), a, *style);
}

template <class Connect, class Serve>
exit_code program<Connect, Serve>::run_on_registry(std::size_t number, arguments const& a, table_style const& style) {
    if (is_console(number)) return run_console(a, style);
    if (auto const obstacle = find_obstacle(is_top(number) ? top_shape : commands_[number], a))
        return print(*obstacle, a, style);
    auto const address = find_address(a, terminal_.lookup());
    if (!address) return print(failure(address.error()), a, style);
    auto connected = connect_(*address);
    if (!connected) return print(failure(connected.error()), a, style);
    auto& r = **connected;
    return is_top(number) ? show_top(r, terminal_, a, address->name_space, style)
                          : run_command(r, commands_[number], a, style);
}

template <class Connect, class Serve>
exit_code program<Connect, Serve>::run_console(arguments const& a, table_style const& style) {
    if constexpr (has_console) {
        stop_signals const signals; // before the first thread starts
        auto const addresses = find_addresses(a, terminal_.lookup());
        if (!addresses) return print(failure(addresses.error()), a, style);
        std::vector<std::remove_cvref_t<decltype(*connect_(registry_address{}))>> connected;
        typename Serve::template registries<registry_type> served;
        for (auto const& [name, address] : *addresses) {
            auto one = connect_(address);
            if (!one) return print(failure(one.error()), a, style);
            connected.push_back(*std::move(one));
            served.push_back({name, address.name_space, &*connected.back()});
        }
        return serve_(std::move(served), terminal_, a, signals);
    } else {
        return print(refusal(exit_code::usage, "this program serves no console", ""), a, style);
    }
}

template <class Connect, class Serve>
exit_code program<Connect, Serve>::run_command(registry_type& r, command<registry_type> const& c, arguments const& a,
                                               table_style const& style) {
    if (a.is_watching) return watch(r, c, a, style);
    if (c.is_harmful() && !a.is_confirmed && !a.is_dry_run) {
        auto planned = a;
        planned.is_dry_run = true;
        if (auto const refused = ask(a.*c.confirmed_by, c.run(r, planned))) return print(*refused, a, style);
    }
    return print(c.run(r, a), a, style);
}

template <class Connect, class Serve>
exit_code program<Connect, Serve>::watch(registry_type& r, command<registry_type> const& c, arguments const& a,
                                         table_style const& style) {
    constexpr int failures_max = 10; // the maximum number of consecutive failures
    change_feed<registry_type> feed{r};
    look_pace pace;
    for (int failures = 0; !terminal_.has_failed();) {
        pace.begin();
        auto const armed = feed.arm(c.arguments_taken, a);
        auto const now = armed ? c.run(r, a) : failure(armed.error());
        if (now.rows) {
            failures = 0;
            print_change(*now.rows, a, style);
        } else {
            print(now, a, style);
            if (now.code != exit_code::unreachable || ++failures == failures_max) return now.code;
        }
        wait_for_change(feed.descriptor(), a, pace);
    }
    return exit_code::failed;
}

template <class Connect, class Serve>
exit_code program<Connect, Serve>::complete(std::vector<std::string> const& words) {
    constexpr std::size_t names_max = 1'000;
    auto c = tree_.complete(words);
    std::vector<std::string> names;
    if (c.of == completion::names::contexts)
        if (auto const all = read_contexts(contexts_file(terminal_.lookup())))
            for (auto const& [name, address] : *all) names.push_back(name);
    if (c.of == completion::names::jobs || c.of == completion::names::servers) {
        auto const address = find_address(c.said, terminal_.lookup());
        auto connected = address ? connect_(*address) : address.error();
        if (!connected) return exit_code_of(connected.error().code);
        auto& l = (**connected).loop();
        auto const due = l.now() + std::chrono::seconds{3}; // an operator waits for the completion
        if (c.of == completion::names::jobs) {
            if (auto all = block_on(l, within(l, due, find_job_names(**connected)))) names = *std::move(all);
        } else if (auto const all = block_on(l, within(l, due, find_servers(**connected)))) {
            for (auto const& s : *all) names.push_back(s.server);
        }
    }
    std::erase_if(names, [&](auto const& name) { return !name.starts_with(c.typed); });
    if (names.size() > names_max) names.resize(names_max);
    for (auto const* list : {&c.words, &names})
        for (auto const& word : *list) terminal_.write(word + "\n");
    return exit_code::done;
}

} // namespace elasticjob::cli

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/command_line/program.ipp>
#endif
#endif // ELASTICJOB_COMMAND_LINE_PROGRAM_HPP
