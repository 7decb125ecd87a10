// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/events/log_events.hpp>

#include <support/standard_error.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <future>
#include <optional>
#include <string>
#include <vector>

using namespace elasticjob;
using test::written_by;

namespace {

instance_id const id = instance_id::parse("10.0.0.1@-@7").value();
events::origin const from{"settle", id};
LogEvents const tell;

} // namespace

TEST_CASE("events.log_events: each event that needs attention is one line") {
    std::optional<error> const failure{error{errc::job_threw, "out of paper"}};
    error const away{errc::unreachable, "no server", "/settle"};
    CHECK(written_by([&] { tell(events::item_finished{from, 3, {}, {}, failure}); }) ==
          "elasticjob: settle [10.0.0.1@-@7]: item 3 failed: job_threw: out of paper\n");
    CHECK(written_by([&] { tell(events::item_skipped{from, 3, {}, events::skip_reason::disabled}); }) ==
          "elasticjob: settle [10.0.0.1@-@7]: item 3 was skipped: disabled\n");
    CHECK(written_by([&] { tell(events::trouble{from, away}); }) ==
          "elasticjob: settle [10.0.0.1@-@7]: unreachable: no server (/settle)\n");
    CHECK(written_by([&] { tell(events::joined{from, "cron is a, not b"}); }) ==
          "elasticjob: settle [10.0.0.1@-@7]: cron is a, not b\n");
}

TEST_CASE("events.log_events: successes get no line") {
    std::optional<error> const none;
    std::vector<item_index> const items{1, 2};
    CHECK(written_by([&] {
              tell(events::joined{from, ""});
              tell(events::item_started{from, 1, {}});
              tell(events::item_finished{from, 1, {}, {}, none});
              tell(events::leadership_changed{from, true});
              tell(events::resharded{from, 1, 2, 3, 4});
              tell(events::share_changed{from, items});
              tell(events::left{from});
          }).empty());
}

TEST_CASE("events.log_events: any error text gives one line without terminal control characters") {
    std::string const nasty = "boom\nelasticjob: forged\r\x1b[31m \x7f \xc2\x9b"
                              "31m \xe2\x80\xa8 \xe2\x80\xae \xe2\x81\xa6 \xd8\x9c \xff \xe5\x8c\x97";
    std::string const fit =
        "boom\\x0aelasticjob: forged\\x0d\\x1b[31m \\x7f \\u009b31m \\u2028 \\u202e \\u2066 \\u061c \\xff \xe5\x8c\x97";
    CHECK(written_by([&] {
              tell(events::trouble{from, error{errc::job_threw, nasty, nasty}});
          }) == "elasticjob: settle [10.0.0.1@-@7]: job_threw: " + fit + " (" + fit + ")\n");
    std::optional<error> const failure{error{errc::job_threw, nasty}};
    CHECK(written_by([&] {
              tell(events::item_finished{from, 3, {}, {}, failure});
          }) == "elasticjob: settle [10.0.0.1@-@7]: item 3 failed: job_threw: " + fit + "\n");
    CHECK(written_by([&] { tell(events::joined{from, nasty}); }) == "elasticjob: settle [10.0.0.1@-@7]: " + fit + "\n");
}

TEST_CASE("events.log_events: does not wait for an unread standard error; lost lines are counted") {
    error const away{errc::unreachable, "no server", "/settle"};
    std::string const line = "elasticjob: settle [10.0.0.1@-@7]: unreachable: no server (/settle)\n";
    test::unread_stream pipe{STDERR_FILENO};
    auto telling = std::async(std::launch::async, [&] {
        for (int n = 0; n < 3; ++n) tell(events::trouble{from, away});
    });
    bool const is_told = telling.wait_for(std::chrono::seconds{10}) == std::future_status::ready;
    auto const before = pipe.read_all(); // unblocks it if it waits
    telling.get();
    REQUIRE(is_told);
    CHECK(before.find_first_not_of('.') == before.npos);
    tell(events::trouble{from, away});
    CHECK(pipe.read_all() == "elasticjob: lines missing here, because nobody read in time: 3\n" + line);
    tell(events::trouble{from, away});
    CHECK(pipe.read_all() == line);

    // A line longer than a pipe's capacity is cut, and counts.
    error const endless{errc::unreachable, std::string(200'000, 'x'), "/settle"};
    auto more = std::async(std::launch::async, [&] { tell(events::trouble{from, endless}); });
    bool const is_cut = more.wait_for(std::chrono::seconds{10}) == std::future_status::ready;
    CHECK(pipe.read_all().size() > 4'096);
    while (more.wait_for(std::chrono::seconds{0}) != std::future_status::ready) (void)pipe.read_all();
    CHECK(is_cut);
    tell(events::trouble{from, away});
    CHECK(pipe.read_all() == "\nelasticjob: lines missing here, because nobody read in time: 1\n" + line);
}
