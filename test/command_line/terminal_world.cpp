// SPDX-License-Identifier: Apache-2.0
#include <command_line/terminal_world.hpp>

#include <elasticjob/command_line/program.hpp>

#include <doctest/doctest.h>

#include <regex>

#include <sys/mman.h>
#include <unistd.h>

namespace elasticjob::test {
namespace {

using session = basic_memory_registry<virtual_loop>;

terminal_world const* current = nullptr; // the owner of the environment

std::optional<std::string> find_variable(std::string const& name) {
    auto const there = current->variables.find(name);
    return there == current->variables.end() ? std::nullopt : std::optional{there->second};
}

struct file_in_memory {
    file_in_memory() : descriptor{::memfd_create("stream", MFD_CLOEXEC)} { REQUIRE(descriptor >= 0); }
    file_in_memory(file_in_memory const&) = delete;
    file_in_memory& operator=(file_in_memory const&) = delete;
    ~file_in_memory() { ::close(descriptor); }

    std::string text() const {
        std::string all(static_cast<std::size_t>(::lseek(descriptor, 0, SEEK_END)), '\0');
        REQUIRE(::pread(descriptor, all.data(), all.size(), 0) == static_cast<ssize_t>(all.size()));
        return all;
    }

    int const descriptor;
};

} // namespace

terminal_world::terminal_world() {
    current = this;
    REQUIRE(m.schedule(make_job("settle", never, 2)));
    c.run_for(1s);
}

terminal_world::~terminal_world() { current = nullptr; }

printed terminal_world::run(std::vector<std::string> words) {
    file_in_memory in, out, err;
    cli::terminal streams{&find_variable, in.descriptor, out.descriptor, err.descriptor};
    auto const connect = [this](cli::registry_address const& address) -> result<session*> {
        asked_servers = address.servers;
        if (!is_reachable || address.servers == down)
            return error{errc::unreachable, "no server answered", address.servers};
        return &c.by_hand;
    };
    auto const serve = [this](std::vector<basic_console_registry<virtual_loop>> all, cli::terminal&,
                              cli::arguments const&, stop_signals const&) {
        for (auto const& r : all) served.push_back(r.name + "=" + r.name_space);
        return cli::exit_code::done;
    };
    auto const code = has_console ? cli::program{connect, streams, serve}.run(std::move(words))
                                  : cli::program{connect, streams}.run(std::move(words));
    return {code, out.text(), err.text()};
}

std::string terminal_world::steady(std::string text) {
    static std::regex const token{"@-@[0-9]+-[0-9a-f]{16}"};
    auto changed = std::regex_replace(text, token, "@-@ID");
    if (changed == text) return text;
    return std::regex_replace(changed, std::regex{"   +"}, "  "); // the columns are as wide as the token
}

std::vector<std::string> terminal_world::verbs() {
    std::vector<std::string> all;
    for (auto const& c : cli::commands_of<virtual_loop>()) all.emplace_back(c.path);
    for (auto const& c : cli::local_commands) all.emplace_back(c.path);
    return all;
}

} // namespace elasticjob::test
