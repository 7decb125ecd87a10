// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/events/line_events.hpp>

#include <elasticjob/core/line_text.hpp>
#include <elasticjob/events/queued.hpp>
#include <elasticjob/events/sinks.hpp>

#include <events/kinds.hpp>

#include <rapidjson/document.h>

#include <doctest/doctest.h>

#include <array>
#include <cstdio>
#include <string>
#include <vector>

#include <fcntl.h>

using namespace elasticjob;
using namespace elasticjob::test;

namespace {

struct collect {
    std::vector<std::string>* lines;
    void operator()(std::string_view line) const { lines->emplace_back(line); }
};

std::vector<std::string> logfmt_of(auto const&... e) {
    std::vector<std::string> lines;
    LogfmtEvents sink{collect{&lines}};
    (sink(e), ...);
    return lines;
}

/// The bytes that a descriptor's reader gets.
std::string read_all(int descriptor) {
    std::string text;
    std::array<char, 512> part;
    for (ssize_t n = 0; (n = ::read(descriptor, part.data(), part.size())) > 0;)
        text.append(part.data(), static_cast<std::size_t>(n));
    return text;
}

} // namespace

TEST_CASE("events.line_events: logfmt, with every field of each event") {
    happenings const h;
    auto const lines =
        logfmt_of(events::joined{h.from(h.begun), "cron is a, not b"}, events::resharded{h.from(h.begun), 9, 4, 3, 2, 1},
                  events::share_changed{h.from(h.begun), h.items}, h.started(), h.wrote(), h.progressed(), h.succeeded(), h.failed(), h.fenced(),
                  h.misfired(), h.skipped(), h.refused(), events::trouble{h.from(h.begun), *h.failure},
                  events::session_changed{h.from(h.begun), session_state::suspended},
                  events::leadership_changed{h.from(h.begun), false}, events::left{h.from(h.ended)});
    std::string const begun = "at=2026-01-01T00:00:00.025Z event=", ended = "at=2026-01-01T00:00:01.275Z event=";
    std::string const who = " job=settle instance=10.0.0.1@-@7-x";
    std::string const run = " run=5 task=settle@-@0,1@-@READY@-@10.0.0.1@-@7-x source=schedule attempt=2"
                            " begun=2026-01-01T00:00:00.025Z";
    std::string const due = " due=2026-01-01T00:00:00.000Z";
    std::string const why = " error=job_threw what=\"out of \\\"paper\\\"\\nand ink\" where=\"tray 2\"";
    std::vector<std::string> const expected{
        begun + "joined" + who + " note=\"cron is a, not b\"\n",
        begun + "resharded" + who + " epoch=9 items=4 instances=3 moved=2 left=1\n",
        begun + "share_changed" + who + " items=0,2\n",
        begun + "item_started" + who + " item=1" + due + " token=77" + run + "\n",
        begun + "script_output" + who + " item=1" + due + " stream=stderr text=\"half \\\"a\\\"\\tline\" dropped=12 lost=3" + run +
            "\n",
        ended + "item_progressed" + who + " item=1" + due + " done=40 total=100" + run + "\n",
        ended + "item_finished" + who + " item=1" + due + " took=1.250000 token=77" + run + " success=true\n",
        ended + "item_finished" + who + " item=1" + due + " took=1.250000 token=77" + run + " success=false" + why +
            "\n",
        ended + "item_fenced" + who + " item=1" + due + " token=77" + run + "\n",
        ended + "item_misfired" + who + " item=1" + due + "\n",
        ended + "item_skipped" + who + " item=1" + due + " why=disabled count=3\n",
        ended + "item_skipped" + who + " item=1" + due + " why=overloaded count=1" + run + "\n",
        begun + "trouble" + who + why + "\n",
        begun + "session_changed" + who + " state=suspended\n",
        begun + "leadership_changed" + who + " leads=false\n",
        ended + "left" + who + "\n",
    };
    REQUIRE(lines.size() == expected.size());
    for (std::size_t n = 0; n < lines.size(); ++n) CHECK(lines[n] == expected[n]);
}

TEST_CASE("events.line_events: any text gives one line of valid UTF-8 that can be read back") {
    happenings h;
    // A quote, an end of line, all control characters, invalid UTF-8, characters of 2 to 4 bytes, a line separator.
    std::string nasty = "a\"b\\c\nd\r\te=f ";
    for (char c = 0; c < 0x20; ++c) nasty += c;
    // Also a C1 control character, and marks that reverse the text direction.
    std::string const unfit = "\xe2\x80\xa8\xe2\x80\xa9\xc2\x85\xc2\x9b\xe2\x80\xae\xe2\x81\xa9\xd8\x9c\xe2\x80\x8f";
    nasty += "\x7f\xff\xc0\xaf\xed\xa0\x80\xc3\xa9\xe2\x82\xac\xf0\x9f\x92\xa9" + unfit;
    h.failure = error{errc::job_failed, nasty, ""};
    auto const fit = [](std::string_view line) {
        REQUIRE(line.ends_with('\n'));
        line.remove_suffix(1);
        while (!line.empty()) {
            auto const n = detail::utf8_length(line);
            REQUIRE(n > 0);
            CHECK_FALSE(detail::is_unfit_for_line(line.substr(0, n)));
            line.remove_prefix(n);
        }
    };
    fit(logfmt_of(h.failed()).at(0));
    std::vector<std::string> lines;
    JsonLinesEvents sink{collect{&lines}};
    sink(h.failed());
    fit(lines.at(0));
    rapidjson::Document json;
    json.Parse(lines[0].c_str());
    REQUIRE_FALSE(json.HasParseError());
    std::string expected = nasty.substr(0, nasty.find('\x7f') + 1);
    for (int n = 0; n < 6; ++n) expected += "\xef\xbf\xbd";
    expected += "\xc3\xa9\xe2\x82\xac\xf0\x9f\x92\xa9" + unfit;
    CHECK(std::string(json["what"].GetString(), json["what"].GetStringLength()) == expected);
    CHECK(json["where"] == "");
}

TEST_CASE("events.line_events: every JSON line is an object whose members have their fields' types") {
    happenings const h;
    std::vector<std::string> lines;
    JsonLinesEvents sink{collect{&lines}};
    h.tell(sink);
    REQUIRE(lines.size() == h.count);
    for (auto const& line : lines) {
        rapidjson::Document json;
        json.Parse(line.c_str());
        REQUIRE_FALSE(json.HasParseError());
        CHECK(json["job"] == "settle");
        CHECK(json["at"].IsString());
        if (json["event"] == "item_finished") {
            CHECK(json["took"].GetDouble() == 1.25);
            CHECK(json["success"].IsBool());
            CHECK(json["run"].GetUint64() == 5);
            CHECK(json["task"] == h.task.c_str());
        }
        if (json["event"] == "share_changed") {
            REQUIRE(json["items"].IsArray());
            CHECK(json["items"].Size() == 2);
            CHECK(json["items"][1].GetInt() == 2);
        }
    }
}

TEST_CASE("events.line_events: to a descriptor and to a stream, each line at once") {
    happenings const h;
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    LogfmtEvents to_pipe{to_descriptor{ends[1]}};
    to_pipe(h.started());
    to_pipe(h.succeeded());
    close(ends[1]);
    CHECK(read_all(ends[0]) == logfmt_of(h.started())[0] + logfmt_of(h.succeeded())[0]);
    close(ends[0]);

    std::FILE* const file = std::tmpfile();
    LogfmtEvents to_file{to_stream{file}};
    to_file(h.started());
    lseek(fileno(file), 0, SEEK_SET);
    CHECK(read_all(fileno(file)) == logfmt_of(h.started())[0]);
    std::fclose(file);
}

TEST_CASE("events.line_events: a line that was written in part does not spoil the next one") {
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    for (int const end : ends) fcntl(end, F_SETFL, O_NONBLOCK);
    to_descriptor out{ends[1]};
    CHECK_THROWS_AS(out(std::string(1'000'000, 'x') + "\n"), std::system_error);
    CHECK_THROWS_AS(out("lost\n"), std::system_error);
    auto const part = read_all(ends[0]);
    CHECK(part == std::string(part.size(), 'x'));
    out("next\n");
    CHECK(read_all(ends[0]) == "\nnext\n");
    out("last\n");
    CHECK(read_all(ends[0]) == "last\n");
    for (int const end : ends) close(end);
}

TEST_CASE("events.line_events: a failed write throws an exception, which Sinks and Queued count") {
    happenings const h;
    Sinks both{LogfmtEvents{to_descriptor{-1}}, LogfmtEvents{to_descriptor{-1}}};
    both(h.started());
    CHECK((*both.thrown())[1] == 1);
    std::shared_ptr<queue_account const> account;
    {
        Queued queued{JsonLinesEvents{to_descriptor{-1}}};
        account = queued.account();
        queued(h.started());
    }
    CHECK(account->failed == 1);
}
