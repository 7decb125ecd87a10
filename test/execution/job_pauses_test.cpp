// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/execution/job_pauses.hpp>

#include <doctest/doctest.h>

#include <string>

using namespace elasticjob;

namespace {

constexpr wall_time at(int seconds) { return wall_time{std::chrono::seconds{seconds}}; }

} // namespace

TEST_CASE("execution.job_pauses: a pause of the job covers every server, a pause of a server only that one") {
    job_pauses p;
    CHECK(p.pause("10.0.0.7", at(1)).value());
    REQUIRE(p.in_force("10.0.0.7"));
    CHECK(p.in_force("10.0.0.7")->since == at(1));
    CHECK_FALSE(p.in_force("10.0.0.8"));
    CHECK(p.pause("", at(2)).value());
    CHECK(p.in_force("10.0.0.7")->since == at(2));
    CHECK(p.in_force("10.0.0.8")->since == at(2));
    CHECK(p.resume("", at(3)));
    CHECK(p.in_force("10.0.0.7")->since == at(1)); // it waits for both
    CHECK_FALSE(p.in_force("10.0.0.8"));
}

TEST_CASE("execution.job_pauses: the last end counts for each server that the pause applied to") {
    job_pauses p;
    CHECK_FALSE(p.last_end("10.0.0.7"));
    for (auto const* server : {"", "10.0.0.7"}) CHECK(p.pause(server, at(1)).value());
    CHECK(p.resume("", at(5)));
    CHECK(p.last_end("10.0.0.7") == at(5));
    CHECK(p.resume("10.0.0.7", at(9)));
    CHECK(p.last_end("10.0.0.7") == at(9));
    CHECK(p.last_end("10.0.0.8") == at(5));
}

TEST_CASE("execution.job_pauses: nothing changes if it is so already") {
    job_pauses p;
    CHECK_FALSE(p.resume("", at(1)));
    CHECK(p.pause("", at(1)).value());
    CHECK_FALSE(p.pause("", at(2)).value());
    CHECK(p.all().front().since == at(1));
    CHECK(p.resume("", at(3)));
    CHECK_FALSE(p.resume("", at(4)));
    CHECK(p.pause("", at(5)).value()); // paused again
    CHECK(p.all().size() == 1);
    CHECK(p.in_force("any")->since == at(5));
}

TEST_CASE("execution.job_pauses: the text is read back, and names with blanks, too") {
    job_pauses p;
    CHECK(p.pause("", at(1)).value());
    CHECK(p.pause("rack 7", at(2)).value());
    CHECK(p.resume("rack 7", at(3)));
    CHECK(p.to_text() == "job 1000 -\nserver 2000 3000 rack 7\n");
    CHECK(job_pauses::parse(p.to_text()).value().to_text() == p.to_text());
    CHECK(job_pauses::parse("").value().all().empty());
}

TEST_CASE("execution.job_pauses: another text is refused") {
    for (auto const* text :
         {"pause", "job", "job 1", "job 1 x", "job x -", "job 1 - 10.0.0.7", "server 1 -", "job 1 -\njob 2 -",
          "server 1 - a\nserver 1 2 a", "job 99999999999999999 -", "job 1 99999999999999999"})
        CHECK_MESSAGE(job_pauses::parse(text).error() == errc::malformed_data, text);
    CHECK(job_pauses::parse(std::string(400'000, ' ')).error() == errc::malformed_data);
}

TEST_CASE("execution.job_pauses: room is made by forgetting the pauses that ended first, but no pause that goes on") {
    job_pauses p;
    for (std::size_t n = 0; n < job_pauses::pauses_max; ++n) CHECK(p.pause(std::to_string(n), at(1)).value());
    CHECK(p.pause("", at(2)).error() == errc::too_large);
    CHECK(p.resume("5", at(4)));
    CHECK(p.resume("7", at(3)));
    CHECK(p.pause("", at(5)).value());
    CHECK_FALSE(p.last_end("7"));
    CHECK(p.all().size() == job_pauses::pauses_max);
    CHECK(p.resume("", at(6)));
    CHECK(p.in_force("6"));
    CHECK(job_pauses::parse(p.to_text() + "server 1 - more\n").error() == errc::malformed_data);
}
