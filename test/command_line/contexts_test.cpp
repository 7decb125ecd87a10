// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/command_line/contexts_codec.hpp>
#include <elasticjob/command_line/serve_console.hpp>

#include <command_line/terminal_world.hpp>

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

using namespace elasticjob;
using namespace elasticjob::test;
using cli::exit_code;

namespace {

/// A configuration directory, with this text as the file of contexts.
struct config_home {
    std::filesystem::path directory = std::filesystem::absolute("contexts_test");
    std::filesystem::path file = directory / "elasticjob" / "contexts.json";

    explicit config_home(std::string const& text) {
        std::filesystem::create_directories(file.parent_path());
        std::ofstream{file} << text;
        allow(std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
    }
    ~config_home() { std::filesystem::remove_all(directory); }
    void allow(std::filesystem::perms p) const { std::filesystem::permissions(file, p); }
};

} // namespace

TEST_CASE("command_line.contexts: options win over a context, and a context wins over the environment") {
    config_home const home{R"({ "billing": {"servers": "zk1:2181,zk2:2181", "namespace": "billing"}, "bare": {} })"};
    terminal_world t;
    t.variables["XDG_CONFIG_HOME"] = home.directory;
    t.variables["ELASTICJOB_SERVERS"] = "zk8:2181";
    auto const servers = [&](std::vector<std::string> words) {
        words.insert(words.end(), {"jobs", "list"});
        REQUIRE(t.run(words).code == exit_code::done);
        return t.asked_servers;
    };
    CHECK(servers({}) == "zk8:2181");
    CHECK(servers({"--context", "billing"}) == "zk1:2181,zk2:2181");
    CHECK(servers({"--context", "billing", "--servers", "zk9:2181"}) == "zk9:2181");
    CHECK(servers({"--context", "bare"}) == "127.0.0.1:2181");
    t.variables["ELASTICJOB_CONTEXT"] = "billing";
    CHECK(servers({}) == "zk1:2181,zk2:2181");
    t.variables.erase("ELASTICJOB_CONTEXT");
    t.variables.erase("ELASTICJOB_SERVERS");
    CHECK(servers({}) == "127.0.0.1:2181");
    auto const wrong = t.run({"--context", "nowhere", "jobs", "list"});
    CHECK(wrong.code == exit_code::usage);
    CHECK(wrong.err.find("there is no context nowhere: see elasticjob contexts list") != std::string::npos);
    CHECK(t.out({"contexts", "list"}) == "CONTEXT  SERVERS            NAMESPACE  HAS_DIGEST\n"
                                         "bare     -                  -          -\n"
                                         "billing  zk1:2181,zk2:2181  billing    -\n");
    CHECK(t.out({"__complete", "--context", "bi"}) == "billing\n");
}

TEST_CASE("command_line.contexts: a console serves the registry of the call, or the contexts that it names") {
    config_home const home{R"({"billing": {"servers": "zk1:2181", "namespace": "billing"}, "payroll": {}})"};
    auto const find = [](std::string const& name) -> std::optional<std::string> {
        if (name != "XDG_CONFIG_HOME") return std::nullopt;
        return std::filesystem::absolute("contexts_test").string();
    };
    cli::arguments given;
    auto found = cli::find_addresses(given, find);
    REQUIRE(found);
    CHECK(found->at(0).name == "registry");
    CHECK(found->at(0).address.servers == "127.0.0.1:2181");
    given.context = "billing";
    CHECK(cli::find_addresses(given, find)->at(0).name == "billing");
    given.console.registries = {"payroll"};
    CHECK(cli::find_addresses(given, find).error().where == "--registry"); // ambiguous
    given.context.clear();
    given.console.registries = {"payroll", "billing"};
    found = cli::find_addresses(given, find);
    REQUIRE(found->size() == 2);
    CHECK(found->at(0).name == "payroll");
    CHECK(found->at(0).address.servers == "127.0.0.1:2181");
    CHECK(found->at(1).address.name_space == "billing");
    given.console.registries = {"nowhere"};
    CHECK(cli::find_addresses(given, find).error().what.find("there is no context nowhere") == 0);
}

TEST_CASE("command_line.contexts: databases have names, and passwords are never printed") {
    namespace d = cli::detail;
    std::string const file = "databases_test.db";
    std::ofstream{file};
    auto const sqlite = d::parse_sqlite("events=" + file);
    REQUIRE(sqlite);
    CHECK(sqlite->first == "events");
    CHECK(sqlite->second == file);
    std::filesystem::remove(file);
    CHECK(d::parse_sqlite("events=" + file).error().where == file); // SQLite would create another one
    for (auto const* wrong : {"events", "=x", "events="}) {
        INFO(wrong);
        CHECK(d::parse_sqlite(wrong).error() == errc::invalid_argument);
        CHECK(d::parse_postgres(wrong).error().where == "--postgres"); // the error does not contain the text
    }
    CHECK(d::parse_postgres("events=host=db user=jobs")->second == "host=db user=jobs");
    CHECK(d::parse_postgres("events=postgresql://jobs@db/jobs")->second == "postgresql://jobs@db/jobs");
    for (auto const* wrong : {"events=host=db password=secret", "events=postgresql://jobs:secret@db/jobs",
                              "events=postgresql://db/jobs?password=secret"}) {
        auto const refused = d::parse_postgres(wrong);
        REQUIRE_FALSE(refused);
        CHECK(to_string(refused.error()).find("secret") == std::string::npos);
    }
    CHECK(cli::no_databases{}({})->empty());
    cli::console_arguments given;
    given.postgres = {"events=host=db"};
    CHECK(cli::no_databases{}(given).error().where == "--postgres");
}

TEST_CASE("command_line.contexts: only the owner can read a file with a secret, and the secret is not shown") {
    config_home const home{R"({"billing": {"digest": "ann:a#b.c,d"}})"};
    terminal_world t;
    t.variables["XDG_CONFIG_HOME"] = home.directory;
    CHECK(t.out({"contexts", "list"}).find("a#b") == std::string::npos);
    CHECK(cli::read_contexts(home.file)->at("billing").digest == "ann:a#b.c,d");
    home.allow(std::filesystem::perms::owner_read | std::filesystem::perms::group_read);
    auto const refused = t.run({"--context", "billing", "jobs", "list"});
    CHECK(refused.code == exit_code::usage);
    CHECK(refused.err.find("chmod 600") != std::string::npos);
}

TEST_CASE("command_line.contexts: an invalid context is refused with its line") {
    auto const problem = [](std::string_view text) {
        auto const all = cli::parse_contexts(text);
        return all ? std::string{"none"} : all.error().what + " / " + all.error().where;
    };
    CHECK(problem("{}") == "none");
    CHECK(problem("{\n\"a\": {\"server\": \"x\"}}") ==
          "a context has servers, namespace and digest, but no server / line 2");
    CHECK(problem("{\"a\": {}, \"a\": {}}") == "there are two contexts of that name: a / line 1");
    CHECK(problem("{\"a\": 1}") == "a context is an object of strings / line 1");
    CHECK(problem("{\"a\": {\"servers\": {}}}") == "a context is an object of strings / line 1");
    CHECK(problem("[]") == "a context is an object of strings / line 1");
    CHECK(problem("{\"a\": ") != "none");
    CHECK(cli::read_contexts("no/such/file")->empty());
}

TEST_CASE("command_line.contexts: a console serves several contexts, and none if one of them does not answer") {
    config_home const home{R"({ "billing": {"servers": "zk1:2181", "namespace": "eu/billing"},
                               "payroll": {"servers": "zk2:2181", "namespace": "eu/payroll"} })"};
    terminal_world t;
    t.variables["XDG_CONFIG_HOME"] = home.directory;
    std::vector<std::string> const words{"console", "--registry", "payroll", "--registry", "billing"};
    CHECK(t.run(words).code == exit_code::usage); // this program has no console
    t.has_console = true;
    CHECK(t.run(words).code == exit_code::done);
    CHECK(t.served == std::vector<std::string>{"payroll=eu/payroll", "billing=eu/billing"});
    t.served.clear();
    t.down = "zk1:2181";
    CHECK(t.run(words).code == exit_code::unreachable);
    CHECK(t.served.empty());
    CHECK(t.run({"jobs", "list"}).code == exit_code::done); // with a console, commands have the same effect
}
