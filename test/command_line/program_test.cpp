// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/command_line/program.hpp>

#include <support/cluster.hpp>

#include <doctest/doctest.h>

#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

using namespace elasticjob;
using namespace elasticjob::test;
using cli::exit_code;
using cli::printed;

namespace {

using session = basic_memory_registry<virtual_loop>;

/// One job with two items, which one member runs, and an operator called ann.
struct terminal {
    cluster c;
    member& m = c.add();
    bool is_reachable = true;

    terminal() {
        REQUIRE(m.schedule(make_job("settle", never, 2)));
        c.run_for(1s);
    }
    printed run(std::vector<std::string> args, std::string user = "ann") {
        auto const connect = [this](cli::registry_address const&) -> result<session*> {
            if (!is_reachable) return error{errc::unreachable, "no server answered", "127.0.0.1:2181"};
            return &c.by_hand;
        };
        return cli::program{connect, std::move(user)}.run(std::move(args));
    }
    /// The id of an instance is another one each time, so it reads ID, and each column behind one blank.
    std::string out(std::vector<std::string> args) {
        auto text = run(std::move(args)).out;
        auto const id = m.id("settle");
        if (text.find(id) == text.npos) return text;
        for (auto at = text.find(id); at != text.npos; at = text.find(id)) text.replace(at, id.size(), "ID");
        for (auto at = text.find("  "); at != text.npos; at = text.find("  ")) text.erase(at, 1);
        return text;
    }
};

} // namespace

TEST_CASE("command_line.program: tables for people") {
    terminal t;
    CHECK(t.out({"jobs", "list"}) == "JOB     STATUS  HEALTH  ITEMS  INSTANCES  CRON              DESCRIPTION\n"
                                     "settle  OK      ok      2      1          0 0 0 1 1 ? 2099  -\n");
    CHECK(t.out({"instances", "list", "settle"}) ==
          "INSTANCE ITEMS LEADER DISABLED JAVA WEIGHT LABELS\nID 2 yes - - 1 -\n");
    CHECK(t.out({"servers", "list"}) == "SERVER    INSTANCES  JOBS  DISABLED_IN  IDLE_IN\n"
                                        "10.0.0.1  1          1     -            -\n");
    CHECK(t.out({"items", "list", "settle", "--limit", "1"}) ==
          "ITEM STATUS HEALTH OWNER RUNS_SINCE LAST_OUTCOME NEXT_DUE DEAD_LETTERS\n0 PENDING idle ID - - - 0\n");
    CHECK(t.run({"items", "list", "settle", "--limit", "1"}).err == "next: more items with --first 1\n");
    CHECK(t.out({"items", "explain", "settle", "0"}) == "It is idle, on ID.\n");
}

TEST_CASE("command_line.program: one JSON document for programs") {
    terminal t;
    CHECK(t.out({"jobs", "list", "--output", "json"}) ==
          "[\n{\"job\":\"settle\",\"status\":\"OK\",\"health\":\"ok\",\"items\":2,\"instances\":1,"
          "\"cron\":\"0 0 0 1 1 ? 2099\",\"description\":\"\"}\n]\n");
    CHECK(t.out({"--output", "json", "servers", "show", "10.0.0.1"}) ==
          "[\n{\"job\":\"settle\",\"disabled\":false,\"instances\":[\"ID\"]}\n]\n");
    CHECK(t.out({"audit", "list", "settle", "--output", "json"}) == "[\n]\n");
    CHECK(t.run({"jobs", "list", "--output", "xml"}).code == exit_code::usage);
}

TEST_CASE("command_line.program: commands are carried out, and say so") {
    terminal t;
    auto const done = t.run({"items", "trigger", "settle", "1", "--key", "k"});
    CHECK(done.code == exit_code::done);
    CHECK(done.out == "done: the item runs once\n");
    CHECK(t.run({"items", "trigger", "settle", "1", "--key", "k"}).out == "repeated: the item runs once\n");
    t.c.run_for(1s);
    CHECK(t.c.started() == std::vector<item_index>{1});
    CHECK(t.out({"audit", "list", "settle"}) ==
          "NUMBER  AT                       OPERATOR  VERB     SUBJECT  OUTCOME  NOTE                KEY\n"
          "1       2026-01-01 00:00:01 UTC  ann       trigger  item 1   done     the item runs once  k\n");
    CHECK(t.run({"servers", "disable", "10.0.0.1", "--yes"}).out == "JOB     EFFECT  TEXT\n"
                                                                    "settle  done    1 server is disabled\n");
    CHECK(t.c.data("/settle/servers/10.0.0.1") == "DISABLED");
    CHECK(t.run({"jobs", "enable", "settle", "--operator", "bob"}).code == exit_code::done);
    CHECK(list_commands(t.c.by_hand, "settle")->entries().back().operator_name == "bob");
}

TEST_CASE("command_line.program: what stops work needs --yes, and a dry run writes nothing") {
    terminal t;
    auto const refused = t.run({"jobs", "shut-down", "settle"});
    CHECK(refused.code == exit_code::unconfirmed);
    CHECK(refused.err.find("next: see what it would do with --dry-run") != std::string::npos);
    CHECK(t.run({"jobs", "shut-down", "settle", "--dry-run"}).out == "planned: 1 instance leaves\n");
    t.c.run_for(1s);
    CHECK(t.c.has("/settle/instances/" + t.m.id("settle")));
    CHECK(t.run({"jobs", "shut-down", "settle", "--yes"}).out == "done: 1 instance leaves\n");
}

TEST_CASE("command_line.program: exit codes tell kinds of failure apart, and errors what to do next") {
    terminal t;
    CHECK(t.run({}).code == exit_code::usage);
    CHECK(t.run({"nonsense"}).code == exit_code::usage);
    CHECK(t.run({"nonsense"}).err.ends_with("next: elasticjob --help\n"));
    CHECK(t.run({"jobs", "trigger"}).code == exit_code::usage);
    CHECK(t.run({"jobs", "trigger", "settle"}, "").code == exit_code::usage);
    CHECK(t.run({"items", "trigger", "settle", "7"}).code == exit_code::usage);
    CHECK(t.run({"dead-letters", "run-again", "settle", "0", "9223372036854775807"}).code == exit_code::usage);
    CHECK(t.run({"dead-letters", "run-again", "settle", "0", "1767225600000"}).code == exit_code::not_found);
    auto const absent = t.run({"jobs", "show", "nobody"});
    CHECK(absent.code == exit_code::not_found);
    CHECK(absent.out.empty());
    CHECK(absent.err == "elasticjob: no_node: there is no job of that name (/nobody)\n"
                        "next: see what there is: elasticjob jobs list, or items, servers and instances list\n");
    CHECK(t.run({"servers", "remove", "10.0.0.1", "--job", "settle", "--yes"}).code == exit_code::conflict);
    t.is_reachable = false;
    CHECK(t.run({"jobs", "list"}).code == exit_code::unreachable);
    auto const help = t.run({"items", "trigger", "--help"});
    CHECK(help.code == exit_code::done);
    CHECK(help.out.find("Usage: elasticjob items trigger [OPTIONS] JOB ITEM") != std::string::npos);
    CHECK(help.out.find("--dry-run") != std::string::npos);
    CHECK(t.run({"--version"}).out == "0.1.0\n");
}

TEST_CASE("command_line.program: a configuration that is shown can be applied") {
    terminal t;
    auto const file = std::string{"program_test.json"};
    auto text = t.run({"jobs", "show", "settle"}).out;
    std::ofstream{file} << text;
    CHECK(t.run({"jobs", "apply", "-f", file}).out == "unchanged: it is configured so already\n");
    text.replace(text.find("\"shardingTotalCount\":2"), 22, "\"shardingTotalCount\":3");
    std::ofstream{file} << text;
    CHECK(t.run({"jobs", "apply", "-f", file}).out == "done: shardingTotalCount is 3, was 2\n");
    CHECK(t.run({"jobs", "apply", "-f", "no/such/file"}).code == exit_code::usage);
    t.c.create("/settle/ext/labels", "0=gpu"); // which the text that was shown does not have
    CHECK(t.run({"jobs", "apply", "-f", file}).code == exit_code::conflict);
    CHECK(t.c.data("/settle/ext/labels") == "0=gpu");
    CHECK(t.run({"jobs", "apply", "-f", file, "--drop-schedules"}).out == "done: itemLabels is '', was '0=gpu'\n");
    CHECK_FALSE(t.c.has("/settle/ext/labels"));
    std::remove(file.c_str());
}

TEST_CASE("command_line.program: cron needs no registry") {
    terminal t;
    t.is_reachable = false;
    auto const shown = t.run({"cron", "0 0 12 * * ?", "--count", "2"});
    CHECK(shown.code == exit_code::done);
    CHECK(std::count(shown.out.begin(), shown.out.end(), '\n') == 3);
    auto const wrong = t.run({"cron", "61 * * * * ?"});
    CHECK(wrong.code == exit_code::usage);
    CHECK(wrong.err.starts_with("elasticjob: invalid_cron: "));
}
