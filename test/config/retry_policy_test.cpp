// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/config/retry_policy.hpp>
#include <elasticjob/config/validation.hpp>

#include <doctest/doctest.h>

#include <limits>
#include <set>
#include <string>

using namespace elasticjob;
using namespace std::chrono_literals;

TEST_CASE("config.retry_policy: each pause is a multiple of the one before, up to the longest") {
    retry_policy p;
    p.pause = 100ms;
    p.factor = 3;
    p.pause_max = 2s;
    p.spread_percent = 0;
    CHECK(pause_before(p, 2, 1) == 100ms);
    CHECK(pause_before(p, 3, 1) == 300ms);
    CHECK(pause_before(p, 4, 1) == 900ms);
    CHECK(pause_before(p, 5, 1) == 2s);
    CHECK(pause_before(p, std::numeric_limits<std::uint32_t>::max(), 1) == 2s);
    p.factor = 1;
    CHECK(pause_before(p, std::numeric_limits<std::uint32_t>::max(), 1) == 100ms);
    p.pause = 1h;
    CHECK(pause_before(p, 2, 1) == 2s);
    p.pause = 0ms;
    CHECK(pause_before(p, 9, 1) == 0ms);
    p.pause = p.pause_max = std::chrono::milliseconds::max();
    p.factor = std::numeric_limits<std::uint32_t>::max();
    CHECK(pause_before(p, 9, 1) == std::chrono::milliseconds::max());
}

TEST_CASE("config.retry_policy: items that failed together do not retry together") {
    retry_policy const p{.pause = 100s};
    std::set<std::chrono::milliseconds> pauses;
    for (std::uint64_t item = 0; item < 100; ++item) {
        auto const pause = pause_before(p, 2, item * 0x9e3779b97f4a7c15U);
        CHECK(pause >= 80s);
        CHECK(pause <= 100s);
        CHECK(pause == pause_before(p, 2, item * 0x9e3779b97f4a7c15U));
        pauses.insert(pause);
    }
    CHECK(pauses.size() > 90);
}

TEST_CASE("config.retry_policy: invalid limits are refused by name") {
    job_config good;
    good.name = "settle";
    good.cron = "0 0 * * * ?";
    CHECK(problems_of(good).empty());
    auto const refused = [&](auto change) {
        auto c = good;
        change(c);
        auto const problems = problems_of(c);
        REQUIRE(problems.size() == 1);
        CHECK(problems[0] == errc::invalid_config);
        return problems[0].where;
    };
    CHECK(refused([](job_config& c) { c.run_time_limit = -1ms; }) == "run_time_limit");
    CHECK(refused([](job_config& c) { c.run_time_limit = c.give_up_after = 1s; }) == "give_up_after");
    CHECK(refused([](job_config& c) { c.give_up_after = -1s; }) == "give_up_after");
    CHECK(refused([](job_config& c) { c.dataflow.count_interval = std::chrono::hours{24 * 366}; }) ==
          "dataflow.count_interval");
    CHECK(refused([](job_config& c) { c.retry.attempts_max = 0; }) == "retry.attempts_max");
    CHECK(refused([](job_config& c) { c.retry.pause = -1ms; }) == "retry.pause");
    CHECK(refused([](job_config& c) { c.retry.factor = 0; }) == "retry.factor");
    CHECK(refused([](job_config& c) { c.retry.spread_percent = 101; }) == "retry.spread_percent");
    CHECK(refused([](job_config& c) { c.dead_letters_max = 51; }) == "dead_letters_max");
    CHECK(refused([](job_config& c) { c.on_misfire.runs_max = 0; }) == "on_misfire.runs_max");
    auto const lateness = [](std::chrono::milliseconds t) {
        return [t](job_config& c) { c.on_misfire.max_lateness = t; };
    };
    CHECK(refused(lateness(-1ms)) == "on_misfire.max_lateness");
    CHECK(refused(lateness(std::chrono::milliseconds::max())) == "on_misfire.max_lateness");
}
