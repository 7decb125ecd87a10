// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/command_line/report.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace elasticjob;
using namespace elasticjob::cli;

TEST_CASE("command_line.report: no text breaks a line of a table or moves the cursor") {
    report const r{{"name", "note"}, {{"a", "two\nlines \x1b[2J"}}};
    CHECK(to_table(r) == "NAME  NOTE\na     two\\x0alines \\x1b[2J\n");
}

TEST_CASE("command_line.report: a column is as wide as its characters, and a long line is cut for a screen only") {
    report const r{{"name", "note"}, {{"für", "eins"}, {"b", "zwei"}}};
    CHECK(to_table(r) == "NAME  NOTE\nfür   eins\nb     zwei\n");
    CHECK(to_table(r, {.columns_max = 8}) == "NAME  N…\nfür   e…\nb     z…\n");
    CHECK(to_table(r, {.columns_max = 3}) == "NA…\nfür\nb  \n");
    CHECK(to_table(r, {.columns_max = 0}) == "\n\n\n");
    CHECK(cut_to("größer", 3) == "gr…");
}

TEST_CASE("command_line.report: good and bad words have colours, which take no room") {
    report const r{{"status", "n"}, {{"CRASHED", 1}, {"OK", 2}, {"so-so", 3}}};
    CHECK(to_table(r, {.has_colour = true}) == "\x1b[1mSTATUS\x1b[0m   \x1b[1mN\x1b[0m\n"
                                               "\x1b[31mCRASHED\x1b[0m  1\n"
                                               "\x1b[32mOK\x1b[0m       2\n"
                                               "so-so    3\n");
}

TEST_CASE("command_line.report: JSON distinguishes types of values") {
    report const r{{"a", "b", "c", "d", "e"},
                   {{"x\"y", true, 3, std::vector<std::string>{"p", "q"}, std::optional<wall_time>{}}}};
    CHECK(to_json_lines(r) == "{\"a\":\"x\\\"y\",\"b\":true,\"c\":3,\"d\":[\"p\",\"q\"],\"e\":null}\n");
    CHECK(to_json(report{{"a"}}) == "[\n]\n");
}

TEST_CASE("command_line.report: a change lists new and changed rows, and the keys of removed rows") {
    report const before{{"job", "status"}, {{"a", "OK"}, {"b", "OK"}, {"c", "OK"}}};
    report const after{{"job", "status"}, {{"a", "OK"}, {"b", "CRASHED"}, {"d", "OK"}}};
    auto const change = compare(before, after);
    CHECK(to_json_lines(change.fresh) == "{\"job\":\"b\",\"status\":\"CRASHED\"}\n{\"job\":\"d\",\"status\":\"OK\"}\n");
    CHECK(to_json_lines(change.gone) == "{\"job\":\"c\"}\n");
    CHECK(compare(after, after).fresh.rows.empty());
    CHECK(compare({}, after).fresh.rows.size() == 3);
}

TEST_CASE("command_line.report: a growing table has its headings once") {
    std::vector<std::size_t> widths;
    report const first{{"job", "status"}, {{"settle", "OK"}}}, next{{"job", "status"}, {{"a", "CRASHED"}}};
    CHECK(to_table(first, {}, widths) == "JOB     STATUS\nsettle  OK\n");
    CHECK(to_table(next, {}, widths) == "a       CRASHED\n");
}
