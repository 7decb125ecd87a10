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
#include <elasticjob/console/console_registry.hpp>
#include <elasticjob/core/decl.hpp>
#include <elasticjob/core/event_loop.hpp>
#include <elasticjob/core/stop_signals.hpp>
#include <elasticjob/core/wait_within.hpp>
#include <elasticjob/operations/job_overview.hpp>
#include <elasticjob/operations/server_overview.hpp>

#include <chrono>
#include <cstddef>
#include <deque>
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
template <loop Loop>
std::vector<command<Loop>> commands_of() {
    std::vector<command<Loop>> all;
    for (auto const part : {&job_commands<Loop>, &item_commands<Loop>, &server_commands<Loop>, &tree_commands<Loop>}) {
        auto const commands = part();
        all.insert(all.end(), commands.begin(), commands.end());
    }
    return all;
}

/// The part of a program that depends neither on its registries nor on their loop.
class program_base {
public:
    program_base(program_base const&) = delete;
    program_base& operator=(program_base const&) = delete;

protected:
    explicit program_base(terminal& t) : terminal_{t} {}

    /// The arguments, with the operator's name from the environment, and a key for a command without one.
    arguments given() const;

    /// The style of tables. Errors: those of a zone that cannot be loaded.
    result<table_style> load_style(arguments const& a);

    /// The reason why a command cannot be carried out with these arguments, determined without the registry.
    std::optional<answer> find_obstacle(command_shape const& shape, arguments const& a) const;

    /// Shows the planned effect, and makes the operator type the name.
    std::optional<answer> ask(std::string const& name, answer const& planned);

    /// If the command may have been carried out, or goes on, names the key that the program has made for it.
    static void tell_key(answer& a, arguments const& given);

    exit_code print(answer const& a, arguments const& given, table_style const& style);

    /// Prints the rows that have changed since the last call.
    void print_change(report const& now, arguments const& given, table_style const& style);

    /// Waits for a change, at most for the interval, and then as long as the pace requires.
    static void wait_for_change(int changed, arguments const& given, look_pace const& pace);

    terminal& terminal_;
    command_tree tree_{};

private:
    std::shared_ptr<zone_ref const> zone_{};
    report printed_{};
    std::vector<std::size_t> widths_{};
};

inline constexpr command_shape console_shape{"console", "serve the web console of registries, until you stop it",
                                             takes::serving};

/// The part of a program that depends only on the loop of its registries. `src_command_line.hpp` contains it for
/// `event_loop`.
template <loop Loop>
class program_on : program_base {
protected:
    using served_registries = std::vector<basic_console_registry<Loop>>;

    struct callbacks {
        /// The registry lives until `run` has returned.
        result<registry_ref<Loop>> (*connect)(program_on&, registry_address const&);
        /// Null: the program has no console.
        exit_code (*serve)(program_on&, served_registries, arguments const&, stop_signals const&);
    };

    program_on(terminal& t, callbacks w);

    exit_code run(std::vector<std::string> words);

    using program_base::terminal_;

private:
    exit_code complete(std::vector<std::string> const& words);
    exit_code run_on_registry(std::size_t number, arguments const& a, table_style const& style);
    exit_code run_console(arguments const& a, table_style const& style);
    exit_code run_command(registry_ref<Loop> r, command<Loop> const& c, arguments const& a, table_style const& style);
    exit_code watch(registry_ref<Loop> r, command<Loop> const& c, arguments const& a, table_style const& style);
    std::vector<std::string> find_names(registry_ref<Loop> r, completion::names of);

    // The order of numbers: the commands on the registry, `top`, perhaps `console`, the commands without a registry.
    bool is_top(std::size_t number) const { return number == commands_.size(); }
    bool is_console(std::size_t number) const { return callbacks_.serve && number == commands_.size() + 1; }
    std::size_t first_local() const { return commands_.size() + 1 + (callbacks_.serve != nullptr); }

    callbacks callbacks_;
    std::vector<command<Loop>> commands_ = commands_of<Loop>();
    std::optional<stop_signals> signals_{}; ///< of the console; ends after the threads of the registries
};

/// A program without a console.
struct no_console {};

namespace detail {
template <class Connect>
using connected_by = std::remove_cvref_t<decltype(*std::declval<Connect&>()(registry_address{}))>;
template <class Connect>
using loop_of = typename std::remove_cvref_t<decltype(*std::declval<connected_by<Connect>&>())>::loop_type;
} // namespace detail

/// The program for one call. `Connect` returns `result<P>` for a `registry_address`; `*P` is a registry. `Serve` serves
/// the console: `serve_console`, which needs further libraries and registries with an `event_loop`, or a function of
/// the same arguments.
template <class Connect, class Serve = no_console>
class program : public program_on<detail::loop_of<Connect>> {
    using base = program_on<detail::loop_of<Connect>>;
    using reference = registry_ref<detail::loop_of<Connect>>;

public:
    program(Connect connect, terminal& t, Serve serve = {})
        : base{t, {&connect_by, serve_callback()}},
          connect_{std::move(connect)},
          serve_{std::move(serve)} {}

    /// Call it once. `words`: the arguments, without the name of the program. Ends the connections before it returns.
    exit_code run(std::vector<std::string> words) {
        auto const code = base::run(std::move(words));
        connected_.clear();
        return code;
    }

private:
    static result<reference> connect_by(base& self, registry_address const& address) {
        auto& p = static_cast<program&>(self);
        ELASTICJOB_TRY(auto connected, p.connect_(address));
        return reference{*p.connected_.emplace_back(std::move(connected))};
    }
    static constexpr auto serve_callback() -> decltype(base::callbacks::serve) {
        if constexpr (std::is_same_v<Serve, no_console>) {
            return nullptr;
        } else {
            return
                [](base& self, typename base::served_registries all, arguments const& a, stop_signals const& signals) {
                    auto& p = static_cast<program&>(self);
                    return p.serve_(std::move(all), p.terminal_, a, signals);
                };
        }
    }

    Connect connect_;
    Serve serve_;
    std::deque<detail::connected_by<Connect>> connected_{};
};

template <loop Loop>
program_on<Loop>::program_on(terminal& t, callbacks w) : program_base{t},
                                                         callbacks_{w} {
    for (auto const& c : commands_) tree_.add(c);
    tree_.add(top_shape);
    if (callbacks_.serve) tree_.add(console_shape);
    for (auto const& c : local_commands) tree_.add(c);
}

template <loop Loop>
exit_code program_on<Loop>::run(std::vector<std::string> words) {
    if (!words.empty() && words.front() == completion_word) return complete({words.begin() + 1, words.end()});
    auto const parsed = tree_.parse(words);
    auto const a = given();
    if (parsed.ended) return print(*parsed.ended, a, {});
    auto const style = load_style(a);
    if (!style) return print(failure(style.error()), a, {});
    if (first_local() > parsed.command) return run_on_registry(parsed.command, a, *style);
    return print(local_commands[parsed.command - first_local()].run(terminal_, tree_, a), a, *style);
}

template <loop Loop>
exit_code program_on<Loop>::run_on_registry(std::size_t number, arguments const& a, table_style const& style) {
    if (is_console(number)) return run_console(a, style);
    if (auto const obstacle = find_obstacle(is_top(number) ? top_shape : commands_[number], a))
        return print(*obstacle, a, style);
    auto const address = find_address(a, terminal_.lookup());
    if (!address) return print(failure(address.error()), a, style);
    auto const connected = callbacks_.connect(*this, *address);
    if (!connected) return print(failure(connected.error()), a, style);
    return is_top(number) ? show_top(*connected, terminal_, a, address->name_space, style)
                          : run_command(*connected, commands_[number], a, style);
}

template <loop Loop>
exit_code program_on<Loop>::run_console(arguments const& a, table_style const& style) {
    signals_.emplace(); // before the first thread starts
    auto const addresses = find_addresses(a, terminal_.lookup());
    if (!addresses) return print(failure(addresses.error()), a, style);
    served_registries served;
    for (auto const& [name, address] : *addresses) {
        auto const one = callbacks_.connect(*this, address);
        if (!one) return print(failure(one.error()), a, style);
        served.push_back({name, address.name_space, *one});
    }
    return callbacks_.serve(*this, std::move(served), a, *signals_);
}

template <loop Loop>
exit_code program_on<Loop>::run_command(registry_ref<Loop> r, command<Loop> const& c, arguments const& a,
                                        table_style const& style) {
    if (a.is_watching) return watch(r, c, a, style);
    if (c.is_harmful() && !a.is_confirmed && !a.is_dry_run) {
        auto planned = a;
        planned.is_dry_run = true;
        if (auto const refused = ask(a.*c.confirmed_by, c.run(r, planned))) return print(*refused, a, style);
    }
    auto done = c.run(r, a);
    if (c.is_command()) tell_key(done, a);
    return print(done, a, style);
}

template <loop Loop>
exit_code program_on<Loop>::watch(registry_ref<Loop> r, command<Loop> const& c, arguments const& a,
                                  table_style const& style) {
    constexpr int failures_max = 10; // the maximum number of consecutive failures
    change_feed<Loop> feed{r};
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

template <loop Loop>
exit_code program_on<Loop>::complete(std::vector<std::string> const& words) {
    constexpr std::size_t names_max = 1'000;
    auto c = tree_.complete(words);
    std::vector<std::string> names;
    if (c.of == completion::names::contexts)
        if (auto const all = read_contexts(contexts_file(terminal_.lookup())))
            for (auto const& [name, address] : *all) names.push_back(name);
    if (c.of == completion::names::jobs || c.of == completion::names::servers) {
        auto const address = find_address(c.given, terminal_.lookup());
        auto const connected = address ? callbacks_.connect(*this, *address) : address.error();
        if (!connected) return exit_code_of(connected.error().code);
        names = find_names(*connected, c.of);
    }
    std::erase_if(names, [&](auto const& name) { return !name.starts_with(c.typed); });
    if (names.size() > names_max) names.resize(names_max);
    for (auto const* list : {&c.words, &names})
        for (auto const& word : *list) terminal_.write(word + "\n");
    return exit_code::done;
}

/// The names of the jobs or of the servers; none if the registry cannot be read.
template <loop Loop>
std::vector<std::string> program_on<Loop>::find_names(registry_ref<Loop> r, completion::names of) {
    constexpr std::chrono::seconds timeout{3}; // an operator waits for the completion
    std::vector<std::string> names;
    if (of == completion::names::jobs) {
        if (auto all = elasticjob::detail::wait_within(r.loop(), timeout, find_job_names(r))) names = *std::move(all);
    } else if (auto const all = elasticjob::detail::wait_within(r.loop(), timeout, find_servers(r))) {
        for (auto const& s : *all) names.push_back(s.server);
    }
    return names;
}

#if defined(ELASTICJOB_COMPILED)
extern template class program_on<event_loop>; // src_command_line.hpp defines it
#endif

} // namespace elasticjob::cli

#if defined(ELASTICJOB_HEADER_ONLY)
#include <elasticjob/impl/command_line/program.ipp>
#endif
#endif // ELASTICJOB_COMMAND_LINE_PROGRAM_HPP
