// SPDX-License-Identifier: Apache-2.0
#include <command_line/terminal_world.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

using namespace elasticjob;
using namespace elasticjob::test;
using cli::exit_code;

namespace {

/// The candidates, without their descriptions.
std::vector<std::string> candidates(terminal_world& t, std::vector<std::string> words) {
    words.insert(words.begin(), "__complete");
    std::istringstream lines{t.out(std::move(words))};
    std::vector<std::string> all;
    for (std::string line; std::getline(lines, line);) all.push_back(line.substr(0, line.find('\t')));
    return all;
}

using names = std::vector<std::string>;

} // namespace

TEST_CASE("command_line.completion: commands, options, their values, and names from the registry") {
    terminal_world t;
    CHECK(candidates(t, {"dead"}) == names{"dead-letters"});
    CHECK(candidates(t, {"jobs", "sh"}) == names{"show", "shut-down"});
    CHECK(candidates(t, {"jobs", "list", "--wa"}) == names{"--watch"});
    CHECK(candidates(t, {"jobs", "list", "--out"}) == names{"--output"}); // an option of all commands
    CHECK(candidates(t, {"jobs", "list", "--output", "js"}) == names{"json", "jsonl"});
    CHECK(candidates(t, {"completion", ""}) == names{"bash", "zsh", "fish"});
    CHECK(candidates(t, {"jobs", "show", "s"}) == names{"settle"});
    CHECK(candidates(t, {"jobs", "show", "x"}).empty());
    CHECK(candidates(t, {"items", "explain", "settle", ""}).empty());
    CHECK(candidates(t, {"servers", "show", ""}) == names{"10.0.0.1"});
    CHECK(candidates(t, {"--servers", "zk9:1", "servers", "remove", "10.0.0.1", "--job", ""}) == names{"settle"});
    CHECK(t.asked_servers == "zk9:1");
    t.is_reachable = false;
    CHECK(t.run({"__complete", "jobs", "show", ""}).code == exit_code::unreachable);
    CHECK(candidates(t, {"jobs", "ap"}) == names{"apply"}); // needs no registry
}

TEST_CASE("command_line.completion: the manual page has each command, option and exit code") {
    terminal_world t;
    auto const page = t.out({"manual"});
    for (auto const& verb : terminal_world::verbs()) {
        auto heading = "\n.SS " + verb;
        for (auto at = heading.find('-'); at != heading.npos; at = heading.find('-', at + 2)) heading.insert(at, "\\");
        CAPTURE(verb);
        CHECK(page.find(heading) != std::string::npos);
    }
    CHECK(page.find("\\-\\-interval") != std::string::npos);
    CHECK(page.find(".TP\n8\nthe awaited event has not happened in time\n") != std::string::npos);
    CHECK(page.find("contexts.json") != std::string::npos);
    std::istringstream lines{page};
    for (std::string line; std::getline(lines, line);)
        if (line.starts_with('.'))
            CHECK_MESSAGE(line.find_first_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ") == 1, line); // a macro of the manual page
}
