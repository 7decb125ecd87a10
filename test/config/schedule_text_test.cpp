// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/config/schedule_text.hpp>

#include <doctest/doctest.h>

#include <string>
#include <utility>

using namespace elasticjob;
using namespace std::chrono_literals;

namespace {

job_config const plain{.name = "settle", .cron = "0/5 * * * * ?"};

job_config with_everything() {
    auto c = plain;
    c.schedules = {job_schedule::by_cron("0 0 12 ? * MON-FRI"), job_schedule::fixed_rate(90s),
                   job_schedule::fixed_delay(5min), job_schedule::once_at(wall_time{1'767'225'600s + 7ms + 8us}),
                   job_schedule::once_now()};
    c.time_zone = "Europe/Berlin";
    c.on_clock_change = quartz_compatible;
    c.starts = wall_time{1'767'225'600s};
    c.ends = wall_time{1'800'000'000s};
    c.excluded = {"2026-12-25", "SAT,SUN", "* * 0-7 * * ?"};
    c.jitter = 30s;
    return c;
}

constexpr char const* text_of_everything = "elasticjob schedule 1\n"
                                           "cron 0 0 12 ? * MON-FRI\n"
                                           "fixed-rate 90000\n"
                                           "fixed-delay 300000\n"
                                           "once-at 1767225600007\n"
                                           "once-now\n"
                                           "time-zone Europe/Berlin\n"
                                           "named-hours skip last\n"
                                           "every-hour skip last\n"
                                           "starts 1767225600000\n"
                                           "ends 1800000000000\n"
                                           "exclude 2026-12-25\n"
                                           "exclude SAT,SUN\n"
                                           "exclude * * 0-7 * * ?\n"
                                           "jitter 30000\n";

} // namespace

TEST_CASE("config.schedule_text: default settings have no text") {
    CHECK(to_schedule_text(plain) == "");
    CHECK(to_schedule_text(job_config{}) == "");
    CHECK(with_schedule_text(plain, "").value() == plain);
}

TEST_CASE("config.schedule_text: the followed job, and the kind of round end that counts") {
    auto c = plain;
    for (auto const& [end, line] : {std::pair{round_end::completed, "after-job completed fetch all"},
                                    std::pair{round_end::failed, "after-job failed fetch all"},
                                    std::pair{round_end::ended, "after-job ended fetch all"}}) {
        c.schedules = {job_schedule::after_job("fetch all", end)};
        CHECK(to_schedule_text(c) == std::string{"elasticjob schedule 1\n"} + line + "\n");
        CHECK(with_schedule_text(plain, to_schedule_text(c)).value() == c);
        CHECK(find_followed(c.schedules) == &c.schedules[0]);
    }
    CHECK(find_followed(with_everything().schedules) == nullptr);
    for (std::string const line : {"after-job", "after-job fetch", "after-job completed", "after-job now fetch"})
        CHECK(with_schedule_text(plain, "elasticjob schedule 1\n" + line + "\n").error() == errc::malformed_data);
}

TEST_CASE("config.schedule_text: every setting is written and read again") {
    CHECK(to_schedule_text(with_everything()) == text_of_everything);
    CHECK(with_schedule_text(plain, text_of_everything).value() == with_everything());
    // Earlier settings of the configuration are dropped.
    CHECK(with_schedule_text(with_everything(), "").value() == plain);
    CHECK(with_schedule_text(with_everything(), "elasticjob schedule 1\njitter 5").value().jitter == 5ms);
}

TEST_CASE("config.schedule_text: each unknown line gives an error that shows it") {
    for (char const* line : {"cron", "weekly 1", "fixed-rate 5s", "fixed-rate", "once-at never", "once-now 5", "time-zone",
                             "named-hours shift", "named-hours shift never", "every-hour first both", "starts", "exclude",
                             "jitter 1 2", "", "ends 99999999999999999"}) {
        CAPTURE(line);
        auto const text = std::string{"elasticjob schedule 1\njitter 5\n"} + line + "\n";
        auto const read = with_schedule_text(plain, text);
        if (std::string{line} == "cron") { // an empty expression: validation reports it
            CHECK(read);
            continue;
        }
        REQUIRE(!read);
        CHECK(read.error() == errc::malformed_data);
        CHECK(read.error().what.find("'" + std::string{line} + "'") != std::string::npos);
    }
    CHECK(with_schedule_text(plain, "elasticjob schedule 2\n").error() == errc::malformed_data);
    CHECK(with_schedule_text(plain, "jitter 5\n").error() == errc::malformed_data);
}

TEST_CASE("config.schedule_text: lines beyond a schedule's limit are counted, not read") {
    std::string text = "elasticjob schedule 1\n";
    for (int i = 0; i < 149'000; ++i) text += "cron x\n";
    auto const read = with_schedule_text(plain, text);
    REQUIRE(!read);
    CHECK(read.error() == errc::malformed_data);
    CHECK(read.error().what == "a schedule has at most 1200 lines, not 149000");
}

TEST_CASE("config.schedule_text: an expression of five fields is written with six") {
    auto c = plain;
    c.schedules = {job_schedule::by_cron("30 6 * * 1"), job_schedule::by_cron("@weekly")};
    CHECK(to_schedule_text(c) == "elasticjob schedule 1\ncron 0 30 6 ? * MON\ncron 0 0 0 ? * SUN\n");
}
