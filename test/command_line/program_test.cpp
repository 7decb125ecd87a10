// SPDX-License-Identifier: Apache-2.0
#include <command_line/terminal_world.hpp>

#include <elasticjob/allocation/all_strategies.hpp>
#include <elasticjob/config/config_file.hpp>
#include <elasticjob/operations/add_job.hpp>
#include <elasticjob/operations/audit_trail.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <string>
#include <string_view>

using namespace elasticjob;
using namespace elasticjob::test;
using cli::exit_code;

TEST_CASE("command_line.program: commands are carried out, and report it") {
    terminal_world t;
    auto const done = t.run({"items", "trigger", "settle", "1", "--key", "k"});
    CHECK(done.code == exit_code::done);
    CHECK(done.out == "done: the item runs once\n");
    CHECK(t.out({"items", "trigger", "settle", "1", "--key", "k"}) == "repeated: the item runs once\n");
    t.c.run_for(1s);
    CHECK(t.c.started() == std::vector<item_index>{1});
    CHECK(t.out({"audit", "list", "settle"}) ==
          "NUMBER  AT                       OPERATOR  VERB     SUBJECT  OUTCOME  NOTE                KEY\n"
          "1       2026-01-01 00:00:01 UTC  ann       trigger  item 1   done     the item runs once  k\n");
    CHECK(t.out({"servers", "disable", "10.0.0.1", "--yes"}) == "JOB     EFFECT  TEXT\n"
                                                                "settle  done    1 server is disabled\n");
    CHECK(t.c.data("/settle/servers/10.0.0.1") == "DISABLED");
    CHECK(t.run({"jobs", "enable", "settle", "--operator", "bob"}).code == exit_code::done);
    CHECK(list_commands(t.c.by_hand, "settle")->entries().back().operator_name == "bob");
}

TEST_CASE("command_line.program: JSON is one document, JSONL an object a line, with the same names") {
    terminal_world t;
    auto const row = std::string{"{\"job\":\"settle\",\"status\":\"OK\",\"health\":\"ok\",\"items\":2,\"instances\":1,"
                                 "\"paused\":false,\"paused_on\":[],\"cron\":\"0 0 0 1 1 ? 2099\","
                                 "\"description\":\"\"}"};
    CHECK(t.out({"jobs", "list", "--output", "json"}) == "[\n" + row + "\n]\n");
    CHECK(t.out({"-o", "jsonl", "jobs", "list"}) == row + "\n");
    CHECK(t.out({"audit", "list", "settle", "--output", "json"}) == "[\n]\n");
    CHECK(t.out({"audit", "list", "settle", "--output", "jsonl"}).empty());
    CHECK(t.run({"jobs", "list", "--output", "xml"}).code == exit_code::usage);
    CHECK(t.run({"jobs", "list", "--watch", "--output", "json"}).err ==
          "elasticjob: a watched list is not a single JSON document\nnext: give --output jsonl\n");
}

TEST_CASE("command_line.program: times are in UTC unless a call names another zone, and always in JSON") {
    terminal_world t;
    REQUIRE(t.run({"items", "disable", "settle", "0", "--key", "k", "--yes"}).code == exit_code::done);
    auto const told = [&](std::vector<std::string> more) {
        std::vector<std::string> words{"audit", "list", "settle"};
        words.insert(words.end(), more.begin(), more.end());
        return t.out(words);
    };
    CHECK(told({}).find(" 2026-01-01 00:00:01 UTC ") != std::string::npos);
    CHECK(told({"--zone", "Asia/Kolkata"}).find(" 2026-01-01 05:30:01 +05:30 ") != std::string::npos);
    CHECK(told({"--zone", "America/New_York"}).find(" 2025-12-31 19:00:01 -05:00 ") != std::string::npos);
    CHECK(told({"--zone", "Asia/Kolkata", "-o", "jsonl"}).find("\"at\":\"2026-01-01T00:00:01.000Z\"") !=
          std::string::npos);
    CHECK(t.run({"audit", "list", "settle", "--zone", "Nowhere/Land"}).code == exit_code::usage);
}

TEST_CASE("command_line.program: commands that stop work need --yes without a terminal, and a dry run writes nothing") {
    terminal_world t;
    auto const refused = t.run({"jobs", "shut-down", "settle"});
    CHECK(refused.code == exit_code::unconfirmed);
    CHECK(refused.err.find("next: see what it would do with --dry-run") != std::string::npos);
    CHECK(t.out({"jobs", "shut-down", "settle", "--dry-run"}) == "planned: 1 instance leaves\n");
    t.c.run_for(1s);
    CHECK(t.c.has("/settle/instances/" + t.m.id("settle")));
    CHECK(t.out({"jobs", "shut-down", "settle", "--yes"}) == "done: 1 instance leaves\n");
}

TEST_CASE("command_line.program: exit codes distinguish kinds of failure, and errors say what to do next") {
    terminal_world t;
    CHECK(t.run({}).code == exit_code::usage);
    CHECK(t.run({"nonsense"}).code == exit_code::usage);
    CHECK(t.run({"nonsense"}).err.ends_with("next: elasticjob --help\n"));
    CHECK(t.run({"jobs", "trigger"}).code == exit_code::usage);
    CHECK(t.run({"jobs", "trigger"}).err.ends_with("next: elasticjob jobs trigger --help\n"));
    for (auto const* const verb : {"trigger", "explain"})
        CHECK(t.run({"items", verb, "settle", "7"}).code == exit_code::not_found);
    CHECK(t.run({"runs", "stop", "settle", "7", "--yes"}).code == exit_code::not_found);
    CHECK(t.run({"audit", "list", "nothing"}).code == exit_code::not_found);
    CHECK(t.run({"dead-letters", "run-again", "settle", "0", "9223372036854775807"}).code == exit_code::usage);
    CHECK(t.run({"dead-letters", "run-again", "settle", "0", "1767225600000"}).code == exit_code::not_found);
    auto const absent = t.run({"jobs", "show", "nobody"});
    CHECK(absent.code == exit_code::not_found);
    CHECK(absent.out.empty());
    CHECK(absent.err == "elasticjob: no_node: there is no job of that name (/nobody)\n"
                        "next: see what there is: elasticjob jobs list, or items, servers and instances list\n");
    CHECK(t.run({"servers", "remove", "10.0.0.1", "--job", "settle", "--yes"}).code == exit_code::conflict);
    CHECK(t.run({"servers", "disable", "10.0.0.1", "--job", "", "--yes"}).code == exit_code::usage);
    CHECK(t.run({"tree", "repair", "", "--yes"}).code == exit_code::usage);
    CHECK(t.run({"top"}).code == exit_code::usage); // the output is no terminal
    t.variables.erase("USER");
    CHECK(t.run({"jobs", "trigger", "settle"}).err ==
          "elasticjob: the name of the operator is unknown\nnext: give --operator NAME\n");
    t.is_reachable = false;
    CHECK(t.run({"jobs", "list"}).code == exit_code::unreachable);
    auto const help = t.run({"items", "trigger", "--help"});
    CHECK(help.code == exit_code::done);
    CHECK(help.out.find("Usage: elasticjob items trigger [OPTIONS] JOB ITEM") != std::string::npos);
    CHECK(help.out.find("--dry-run") != std::string::npos);
    CHECK(t.run({"--help"}).out.find("8  the awaited event has not happened in time") != std::string::npos);
    CHECK(t.out({"--version"}) == "0.1.0\n");
}

TEST_CASE("command_line.program: a printed configuration can be applied") {
    terminal_world t;
    auto const file = std::string{"program_test.json"};
    auto text = t.out({"jobs", "show", "settle"});
    std::ofstream{file} << text;
    CHECK(t.run({"jobs", "add", "-f", file}).code == exit_code::done);
    CHECK(t.out({"jobs", "apply", "-f", file}) == "unchanged: it has this configuration already\n");
    text.replace(text.find("\"shardingTotalCount\":2"), 22, "\"shardingTotalCount\":3");
    std::ofstream{file} << text;
    CHECK(t.run({"jobs", "add", "-f", file}).code == exit_code::conflict);
    CHECK(t.out({"jobs", "apply", "-f", file}) == "done: shardingTotalCount is 3, was 2\n");
    CHECK(t.run({"jobs", "apply", "-f", "no/such/file"}).code == exit_code::usage);
    std::ofstream{"program_test_wrong.json"} << "{\"sharding_total_count\": true}";
    auto const wrong = t.run({"jobs", "apply", "-f", "program_test_wrong.json"});
    CHECK(t.run({"jobs", "add", "-f", "program_test_wrong.json"}).code == exit_code::usage);
    std::remove("program_test_wrong.json");
    CHECK(wrong.code == exit_code::usage);
    CHECK(wrong.err.find("program_test_wrong.json, line 1") != std::string::npos);
    CHECK(wrong.err.ends_with("next: correct the file, then repeat the command\n"));
    CHECK(t.run({"items", "disable", "settle", "0"}).code == exit_code::unconfirmed);
    auto with_own = text;
    with_own.insert(with_own.rfind('}'), R"(,"retry":{"attempts_max":9},"run_time_limit":"1min")");
    std::ofstream{file} << with_own;
    for (auto const* const verb : {"apply", "add"})
        CHECK(t.run({"jobs", verb, "-f", file}).err == "elasticjob: the registry does not store run_time_limit, retry of "
                                                       "the file: each program that runs the job sets them\n");
    std::ofstream{file} << text;
    t.c.create("/settle/ext/labels", "0=gpu"); // the printed text does not have it
    auto const lossy = t.run({"jobs", "apply", "-f", file});
    CHECK(lossy.code == exit_code::conflict);
    CHECK(lossy.err.find("the new configuration has none of them: add them, or allow their loss (--drop-schedules)") !=
          std::string::npos);
    CHECK(t.c.data("/settle/ext/labels") == "0=gpu");
    CHECK(t.out({"jobs", "apply", "-f", file, "--drop-schedules"}) == "done: itemLabels is '', was '0=gpu'\n");
    CHECK_FALSE(t.c.has("/settle/ext/labels"));
    // The same if the stored configuration cannot be read.
    auto const config = t.c.data("/settle/config");
    t.c.create("/settle/ext/labels", "0=gpu");
    t.c.set("/settle/config", "{broken");
    CHECK(t.run({"jobs", "apply", "-f", file}).code == exit_code::conflict);
    CHECK(t.c.data("/settle/ext/labels") == "0=gpu");
    auto const add = t.run({"jobs", "add", "-f", file});
    CHECK(add.code == exit_code::conflict);
    CHECK(add.err.find("its configuration cannot be read") != std::string::npos);
    CHECK(t.out({"jobs", "apply", "-f", file, "--drop-schedules"}) ==
          "done: the unreadable configuration is replaced; itemLabels is '', was '0=gpu'\n");
    CHECK(t.c.data("/settle/config") == config);
    text.replace(text.find("\"settle\""), 8, "\"other\"");
    std::ofstream{file} << text;
    CHECK(t.run({"jobs", "add", "-f", file}).code == exit_code::done);
    CHECK(t.c.has("/other/config"));
    std::remove(file.c_str());
}

TEST_CASE("command_line.program: a printed configuration can be applied if its texts look like variables") {
    terminal_world t;
    auto const file = std::string{"program_test_variables.json"};
    job_config c{.name = "script", .cron = "0 0 0 1 1 ? 2099", .sharding_total_count = 1};
    c.job_parameter = "${HOME} $${X} $$${ ${ $";
    std::ofstream{file} << without_variables(write_job_config(c));
    CHECK(t.run({"jobs", "add", "-f", file}).code == exit_code::done);
    CHECK(t.c.data("/script/config").find(c.job_parameter) != std::string::npos);
    std::ofstream{file} << t.out({"jobs", "show", "script"});
    CHECK(t.out({"jobs", "apply", "-f", file}) == "unchanged: it has this configuration already\n");
    std::remove(file.c_str());
}

TEST_CASE("command_line.program: plans for a job with any of the library's strategies") {
    terminal_world t;
    auto const file = std::string{"program_test_strategies.json"};
    int number = 0;
    for (auto const strategy : AllStrategies::names) {
        INFO(strategy);
        job_config c{.name = "job-" + std::to_string(++number), .cron = "0 0 0 1 1 ? 2099", .sharding_total_count = 2};
        c.job_sharding_strategy_class = strategy;
        std::ofstream{file} << write_job_config(c);
        REQUIRE(t.run({"jobs", "add", "-f", file}).code == exit_code::done);
        auto const planned = t.run({"jobs", "plan", c.name, "--join", "10.0.0.9"});
        CHECK(planned.code == exit_code::done);
        CHECK(planned.err.empty());
    }
    std::remove(file.c_str());
    CHECK(number == 9);
}

TEST_CASE("command_line.program: a wait ends with success, with a failure, or at its time-out") {
    terminal_world t;
    t.m.body = [](sharding_context const& run) -> result<void> {
        if (run.item == 0) return error{errc::job_failed, "no money"};
        return success();
    };
    auto const completed = t.run({"items", "trigger", "settle", "1", "--wait", "--key", "a"});
    CHECK(completed.code == exit_code::done);
    CHECK(terminal_world::steady(completed.out).find("1  completed  ") != std::string::npos);
    auto const failed = t.run({"items", "trigger", "settle", "0", "--wait", "--key", "b"});
    CHECK(failed.code == exit_code::run_failed);
    CHECK(terminal_world::steady(failed.out).find("0  failed  ") != std::string::npos);
    CHECK(failed.err == "elasticjob: a run has failed\nnext: see why with elasticjob items explain\n");
    for (auto const* wait : {"10min", "30s"}) { // a call that is repeated with its key gets the end of the same run
        auto const again = t.run({"items", "trigger", "settle", "0", "--wait", "--key", "b", "--timeout", wait});
        CHECK(again.code == exit_code::run_failed);
        CHECK(again.out == failed.out);
    }
    CHECK(t.run({"items", "trigger", "settle", "0", "--wait", "--for", "failure"}).code == exit_code::done);
    auto const all = t.run({"jobs", "trigger", "settle", "--wait", "--timeout", "30s"});
    CHECK(all.code == exit_code::run_failed);
    auto const none = t.run({"wait", "settle", "1", "--timeout", "2s"});
    CHECK(none.code == exit_code::not_in_time);
    CHECK(none.out ==
          "ITEM  OUTCOME  DUE  INSTANCE  ATTEMPT  ENDED  NOTE\n1     -        -    -         0        -      -\n");
    CHECK(t.run({"wait", "settle", "--for", "success", "--timeout", "2s"}).code == exit_code::not_in_time);
    CHECK(t.run({"wait", "settle", "7"}).code == exit_code::not_found);
    CHECK(t.run({"wait", "nobody"}).code == exit_code::not_found);
    CHECK(t.run({"wait", "settle", "--timeout", "2"}).code == exit_code::usage); // without a condition
}

TEST_CASE("command_line.program: a repair that fails shows in the exit code, and keeps its key when it is repeated") {
    terminal_world t;
    std::vector<std::string> const repair{"tree", "repair", "settle", "--yes", "--key", "k"};
    t.c.create("/settle/ext/orders/foo");
    CHECK(t.run(repair).code == exit_code::done);
    t.c.create("/settle/ext/orders/goo"); // as if the first call had been cut after one repair
    CHECK(t.run(repair).code == exit_code::done);
    CHECK_FALSE(t.c.has("/settle/ext/orders/goo"));
    t.c.create("/settle/sharding/7");
    t.c.create("/settle/sharding/7/running"); // both are wrong, and the first repair removes both
    CHECK(t.run({"tree", "repair", "settle", "--yes"}).code == exit_code::done);
    t.c.create("/settle/ext/orders/hoo");
    auto const refused = t.run({"tree", "repair", "settle", "--yes", "--operator", std::string(101, 'x')});
    CHECK(refused.code == exit_code::usage);
    CHECK(t.c.has("/settle/ext/orders/hoo"));
}

TEST_CASE("command_line.program: a call without an answer names the key with which it can be repeated") {
    terminal_world t;
    auto const key_in = [](std::string const& message) {
        static constexpr std::string_view before = "add --key ";
        auto const at = message.find(before);
        return at == message.npos ? std::string{} : message.substr(at + before.size(), 36);
    };
    std::string key;
    {
        losing const network{t.c.server,
                             losing::cut_at_write(t.c.by_hand.session().id, request_fate::reply_lost)};
        auto const lost = t.run({"jobs", "trigger", "settle"});
        CHECK(lost.code == exit_code::unreachable);
        key = key_in(lost.err);
        CHECK_MESSAGE(key.size() == 36, lost.err);
        CHECK(key_in(t.run({"jobs", "trigger", "settle", "--key", "k"}).err).empty()); // the operator knows it
        CHECK(key_in(t.run({"jobs", "show", "settle"}).err).empty());
    }
    t.c.run_for(10s);
    CHECK(t.c.started().size() == 2);
    CHECK(t.out({"jobs", "trigger", "settle", "--key", key}).starts_with("repeated: "));
    t.c.run_for(10s);
    CHECK(t.c.started().size() == 2);

    t.m.body = [](sharding_context const&) -> result<void> { return error{errc::job_failed, "no money"}; };
    std::vector<std::string> awaited{"items", "trigger", "settle", "1", "--wait", "--for", "success", "--timeout", "2s"};
    auto const late = t.run(awaited);
    CHECK(late.code == exit_code::not_in_time);
    awaited.insert(awaited.end(), {"--key", key_in(late.err)});
    CHECK(t.run(awaited).code == exit_code::not_in_time);
    CHECK(t.c.started().size() == 3);
}

TEST_CASE("command_line.program: a command that failed in some jobs only names its key, and says which may be done") {
    terminal_world t;
    REQUIRE(t.m.schedule(make_job("other", never, 1)));
    t.c.run_for(1s);
    std::vector<std::string> const disable{"servers", "disable", "10.0.0.1", "--yes"};
    {
        losing const network{t.c.server, // the writes of the jobs come one after another
                             losing::cut_at_write(t.c.by_hand.session().id, request_fate::reply_lost, 1)};
        auto const partly = t.run(disable);
        CHECK(partly.code == exit_code::unreachable);
        CHECK(partly.out.find("other   done     ") != std::string::npos);
        CHECK_MESSAGE(partly.out.find("settle  unknown  ") != std::string::npos, partly.out);
        CHECK_MESSAGE(partly.err.find("add --key ") != std::string::npos, partly.err);
    }
    t.c.run_for(10s);
    REQUIRE(add_job(t.c.by_hand, make_job("spare", never, 1)));
    for (auto const* path : {"/spare/servers", "/spare/servers/10.0.0.1"}) t.c.create(path);
    auto const refused = t.run({"servers", "remove", "10.0.0.1", "--yes"}); // the other two jobs have instances there
    CHECK(refused.code == exit_code::conflict);
    CHECK(refused.out.find("done") != std::string::npos);
    CHECK_MESSAGE(refused.err.find("add --key ") != std::string::npos, refused.err);
    auto const nothing = t.run({"servers", "remove", "10.0.0.1", "--yes"});
    CHECK(nothing.code == exit_code::conflict);
    CHECK(nothing.err.find("--key") == std::string::npos); // nothing was done
}

TEST_CASE("command_line.program: a repair without an answer may be complete, and can be repeated with its key") {
    terminal_world t;
    for (auto const* path : {"/settle/ext/orders/foo", "/settle/ext/orders/goo"}) t.c.create(path);
    std::vector<std::string> repair{"tree", "repair", "settle", "--yes"};
    {
        losing const network{t.c.server,
                             losing::cut_at_write(t.c.by_hand.session().id, request_fate::reply_lost)};
        auto const lost = t.run(repair);
        CHECK(lost.code == exit_code::unreachable);
        CHECK_MESSAGE(lost.err.find("/settle/ext/orders/foo: unknown_outcome: ") != std::string::npos, lost.err);
        auto const at = lost.err.find("add --key ");
        REQUIRE_MESSAGE(at != std::string::npos, lost.err);
        repair.insert(repair.end(), {"--key", lost.err.substr(at + 10, 36)});
    }
    t.c.run_for(10s);
    CHECK_FALSE(t.c.has("/settle/ext/orders/foo"));
    CHECK(t.c.has("/settle/ext/orders/goo"));
    CHECK(t.run(repair).code == exit_code::done);
    CHECK_FALSE(t.c.has("/settle/ext/orders/goo"));
}

TEST_CASE("command_line.program: cron needs no registry") {
    terminal_world t;
    t.is_reachable = false;
    auto const shown = t.run({"cron", "0 0 12 * * ?", "--count", "2"});
    CHECK(shown.code == exit_code::done);
    CHECK(std::count(shown.out.begin(), shown.out.end(), '\n') == 3);
    auto const wrong = t.run({"cron", "61 * * * * ?"});
    CHECK(wrong.code == exit_code::usage);
    CHECK(wrong.err.starts_with("elasticjob: invalid_cron: "));
}
