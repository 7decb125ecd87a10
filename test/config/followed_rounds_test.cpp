// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/config/followed_rounds.hpp>

#include <doctest/doctest.h>

using namespace elasticjob;
using namespace std::chrono_literals;

namespace {

wall_time at(std::int64_t ms) { return wall_time{std::chrono::milliseconds{ms}}; }

followed_rounds example() {
    followed_rounds all;
    auto const s = job_schedule::after_job("fetch all", round_end::failed);
    all.follow(&s);
    all.add(at(1000), at(1700));
    all.add(at(2000), at(2500));
    return all;
}

} // namespace

TEST_CASE("config.followed_rounds: its text is readable for people, is read back, and is written again unchanged") {
    CHECK(example().to_text() == "elasticjob after 1\n"
                                 "follows failed fetch all\n"
                                 "seen 2000\n"
                                 "last 2500\n"
                                 "round 1700 1000\n"
                                 "round 2500 2000\n");
    for (auto const& all : {followed_rounds{}, example()}) CHECK(followed_rounds::parse(all.to_text()).value() == all);
    CHECK(followed_rounds::parse("elasticjob after 1\nlater-versions know this\n"));
    for (auto const* bad : {"", "elasticjob after 2\n", "elasticjob after 1\nfollows fetch\n",
                            "elasticjob after 1\nfollows never fetch\n", "elasticjob after 1\nseen x\n",
                            "elasticjob after 1\nlast\n", "elasticjob after 1\nround 1\n"}) {
        INFO(std::string{bad});
        CHECK(followed_rounds::parse(bad).error() == errc::malformed_data);
    }
}

TEST_CASE(
    "config.followed_rounds: each instant is later than all before, whatever clocks say and whatever is followed") {
    auto all = example();
    all.add(at(3000), at(2400)); // by a clock that is slow
    CHECK(all.rounds.back() == followed_round{at(2501), at(3000)});
    auto const other = job_schedule::after_job("load");
    CHECK_FALSE(all.is_of(&other));
    all.follow(&other);
    CHECK(all.is_of(&other));
    CHECK(all.rounds.empty());
    CHECK(all.seen == wall_time{});
    all.add(at(500), at(900));
    CHECK(all.rounds.back() == followed_round{at(2502), at(500)});
    all.follow(nullptr);
    CHECK(all.is_of(nullptr));
    CHECK(all.rounds.empty());
    CHECK(all.last == at(2502));
}

TEST_CASE("config.followed_rounds: another end of the same job's rounds keeps the job's due rounds") {
    auto all = example();
    auto const other = job_schedule::after_job("fetch all", round_end::ended);
    CHECK_FALSE(all.is_of(&other));
    all.follow(&other);
    CHECK(all.is_of(&other));
    CHECK(all.rounds == example().rounds);
}

TEST_CASE("config.followed_rounds: only the last rounds are kept") {
    followed_rounds all;
    for (int n = 1; n <= 250; ++n) all.add(at(n * 1000), at(n * 1000 + 7));
    REQUIRE(all.rounds.size() == followed_rounds::rounds_max);
    CHECK(all.rounds.front().of == at(151'000));
    CHECK(all.rounds.back().of == at(250'000));
}

TEST_CASE("config.followed_rounds: implausible texts are refused: too many lines, and instants far away") {
    std::string text = "elasticjob after 1\n";
    for (int i = 0; i < 30'000; ++i) text += "round 1 1\n";
    auto const read = followed_rounds::parse(text);
    REQUIRE(!read);
    CHECK(read.error().what == "followed rounds have at most 500 lines, not 30000");
    CHECK(!followed_rounds::parse("elasticjob after 1\nlast 9223372036854\n"));
    CHECK(!followed_rounds::parse("elasticjob after 1\nround -9223372036854 5\n"));
}
