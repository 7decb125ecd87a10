// SPDX-License-Identifier: Apache-2.0
// The files of golden/ hold the output of each verb. After an intended change, renew them and read the difference:
//   ELASTICJOB_RENEW_GOLDEN=1 build/dev/test/services_test -tc='command_line.golden*' && git diff test/command_line
#include <command_line/terminal_world.hpp>
#include <support/places.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

using namespace elasticjob;
using namespace elasticjob::test;

namespace {

std::string joined(std::vector<std::string> const& words) {
    std::string line;
    for (auto const& word : words) line += (line.empty() ? "" : " ") + word;
    return line;
}

/// The commands of one file, one after the other in one world, whose item 0 has failed and whose item 1 was completed.
struct chapter {
    std::string file;
    std::vector<std::vector<std::string>> calls;
};

std::vector<chapter> chapters() {
    return {
        {"jobs",
         {{"jobs", "list"},
          {"jobs", "list", "-o", "json"},
          {"jobs", "list", "--status", "CRASHED"},
          {"jobs", "show", "settle"},
          {"jobs", "plan", "settle", "--join", "10.0.0.9"},
          {"jobs", "plan", "settle", "--join", "10.0.0.9", "-o", "json"},
          {"jobs", "trigger", "settle", "--key", "a"},
          {"jobs", "disable", "settle", "--yes", "--key", "b", "-o", "json"},
          {"jobs", "enable", "settle", "--key", "c"},
          {"jobs", "pause", "settle", "--yes", "--key", "i"},
          {"jobs", "trigger", "settle", "--key", "j"},
          {"jobs", "resume", "settle", "--key", "k"},
          {"jobs", "add", "-f", "golden_test.json", "--key", "d"},
          {"jobs", "apply", "-f", "golden_test.json", "--key", "e"},
          {"jobs", "shut-down", "settle", "--dry-run"},
          {"jobs", "remove", "other", "--yes", "--key", "f"},
          {"jobs", "apply", "-f", "golden_test.json", "--key", "g"},
          {"jobs", "restore", "other", "--key", "h"},
          {"wait", "settle", "--timeout", "1s"}}},
        {"items",
         {{"items", "list", "settle"},
          {"items", "list", "settle", "--limit", "1", "-o", "json"},
          {"items", "explain", "settle", "0"},
          {"items", "explain", "settle", "0", "-o", "json"},
          {"items", "trigger", "settle", "1", "--key", "a"},
          {"items", "disable", "settle", "1", "--key", "b", "--yes"},
          {"items", "enable", "settle", "1", "--key", "c"},
          {"runs", "list", "settle", "1"},
          {"runs", "list", "settle", "1", "-o", "json"},
          {"runs", "stop", "settle", "1", "--yes", "--key", "d"},
          {"dead-letters", "list", "settle"},
          {"dead-letters", "list", "settle", "-o", "json"},
          {"dead-letters", "run-again", "settle", "0", "1767225601000", "--dry-run"},
          {"dead-letters", "run-again", "settle", "0", "1767225601000", "--key", "e"},
          {"dead-letters", "discard", "settle", "0", "1767225601000", "--dry-run"},
          {"dead-letters", "discard", "settle", "0", "1767225601000", "--yes", "--key", "f"}}},
        {"servers",
         {{"servers", "list"},
          {"servers", "list", "-o", "json"},
          {"servers", "show", "10.0.0.1"},
          {"servers", "show", "10.0.0.1", "-o", "json"},
          {"servers", "trigger", "10.0.0.1", "--job", "settle", "--key", "a"},
          {"servers", "disable", "10.0.0.1", "--yes", "--key", "b"},
          {"servers", "enable", "10.0.0.1", "--job", "settle", "--key", "c"},
          {"servers", "pause", "10.0.0.1", "--yes", "--key", "f"},
          {"servers", "resume", "10.0.0.1", "--job", "settle", "--key", "g"},
          {"servers", "remove", "10.0.0.1", "--yes", "--key", "d"},
          {"servers", "shut-down", "10.0.0.1", "--dry-run"},
          {"instances", "list", "settle"},
          {"instances", "list", "settle", "-o", "json"},
          {"instances", "shut-down", "settle", "10.0.0.1@-@7", "--yes", "--key", "e"}}},
        {"tree",
         {{"dump", "settle"},
          {"audit", "list", "settle"},
          {"audit", "list", "settle", "-o", "json"},
          {"tree", "check", "settle"},
          {"tree", "repair", "settle", "--dry-run"},
          {"tree", "repair", "settle", "--yes", "--key", "a"},
          {"tree", "check", "settle"}}},
        {"local", {{"contexts", "list"}, {"completion", "bash"}, {"completion", "zsh"}, {"completion", "fish"}}},
    };
}

std::string told(chapter const& all) {
    terminal_world t;
    t.m.body = [](sharding_context const& run) -> result<void> {
        if (run.item == 0) return error{errc::job_failed, "no money"};
        return success();
    };
    t.variables["HOME"] = "/home/ann";
    REQUIRE(t.run({"items", "trigger", "settle", "0", "--key", "first"}).code == cli::exit_code::done);
    t.c.run_for(1s);
    REQUIRE(t.run({"items", "trigger", "settle", "1", "--key", "second"}).code == cli::exit_code::done);
    t.c.run_for(1s);
    if (all.file == "servers") {
        t.c.create("/settle/ext/hosts", "");
        t.c.create("/settle/ext/hosts/10.0.0.1", "db-1.example");
    }
    if (all.file == "tree") {
        t.c.create("/settle/sharding/9", "");
        t.c.create("/settle/ext/orders/dance", "");
        t.c.set("/settle/ext/run/1", "nonsense");
    }
    std::ofstream{"golden_test.json"} << R"({"name": "other", "cron": "@daily", "sharding_total_count": 3})";
    std::string text;
    for (auto const& words : all.calls) {
        auto const done = t.run(words);
        t.c.run_for(1s);
        text += "$ elasticjob " + joined(words) + "\n" + terminal_world::steady(done.out) +
                terminal_world::steady(done.err);
        if (done.code != cli::exit_code::done)
            text += "exit code " + std::to_string(static_cast<int>(done.code)) + "\n";
        text += "\n";
    }
    std::remove("golden_test.json");
    return text;
}

} // namespace

TEST_CASE("command_line.golden: each verb prints what its golden file says") {
    for (auto const& one : chapters()) {
        auto const path = source_path("test/command_line/golden/" + one.file + ".txt");
        auto const text = told(one);
        if (std::getenv("ELASTICJOB_RENEW_GOLDEN")) std::ofstream{path} << text;
        std::ifstream file{path};
        std::string const expected{std::istreambuf_iterator<char>{file}, {}};
        CAPTURE(path);
        CHECK(text == expected);
    }
}

TEST_CASE("command_line.golden: every verb has a golden call, except those that print the time of day") {
    std::vector<std::string> missing;
    for (auto const& verb : terminal_world::verbs()) {
        auto const is_of = [&](auto const& words) { return (joined(words) + " ").starts_with(verb + " "); };
        auto const all = chapters();
        auto const has = [&](chapter const& c) { return std::any_of(c.calls.begin(), c.calls.end(), is_of); };
        if (std::none_of(all.begin(), all.end(), has)) missing.push_back(verb);
    }
    CHECK(missing == std::vector<std::string>{"cron", "manual"}); // command_line.program and .completion test these
}
