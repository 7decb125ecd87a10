// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/command_line/contexts_codec.hpp>

#include <command_line/terminal_world.hpp>

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <string>

using namespace elasticjob;
using namespace elasticjob::test;
using cli::exit_code;

namespace {

/// A directory for configurations, with this text as the file of contexts.
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

TEST_CASE("command_line.contexts: a file with a secret is the owner's alone, and the secret is not shown") {
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

TEST_CASE("command_line.contexts: what is no context is refused with its line") {
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
