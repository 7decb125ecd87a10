// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/operations/round_overview.hpp>

#include <support/cluster.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace elasticjob;
using namespace elasticjob::test;

namespace {

wall_time const noon{std::chrono::hours{12}};

run_entry entry(wall_time due, run_outcome outcome, std::uint32_t attempt = 1, std::chrono::seconds took = 5s) {
    return {{due, run_source::schedule, attempt, "10.0.0.1@-@7", due + 1s}, outcome, due + 1s + took};
}

std::string states(std::vector<run_record> const& records) {
    std::string all;
    for (auto const& r : rounds_of(records)) all += std::string{name_of(r.outcome)} + ' ';
    return all;
}

} // namespace

TEST_CASE("operations.round_overview: a round has the worst outcome of its items") {
    run_record one, two;
    one.ledger = {entry(noon, run_outcome::completed), entry(noon + 1h, run_outcome::completed, 1, 9s)};
    two.ledger = {entry(noon, run_outcome::failed), entry(noon + 1h, run_outcome::completed)};
    auto const rounds = rounds_of({one, two});
    REQUIRE(rounds.size() == 2);
    CHECK(rounds[0].due == noon + 1h);
    CHECK(rounds[0].outcome == round_outcome::completed);
    CHECK(rounds[0].begun == noon + 1h + 1s);
    CHECK(rounds[0].ended == noon + 1h + 10s);
    CHECK(rounds[0].items == 2);
    CHECK(rounds[1].outcome == round_outcome::failed);

    two.running = run_begin{noon + 1h, run_source::failover, 2, "10.0.0.2@-@7", noon + 1h + 30s};
    CHECK(rounds_of({one, two})[0].outcome == round_outcome::running);
    CHECK(rounds_of({two, one})[0].begun == noon + 1h + 1s);
    CHECK_FALSE(rounds_of({one, two})[0].ended);
    CHECK_FALSE(rounds_of({two, one})[0].ended);
}

TEST_CASE("operations.round_overview: a later attempt counts, and an item that never ran has no begin") {
    run_record r;
    r.ledger = {entry(noon, run_outcome::failed), entry(noon, run_outcome::completed, 2)};
    CHECK(states({r}) == "completed ");
    r.ledger.pop_back();
    r.retry = run_retry{noon, run_source::schedule, 2, noon + 1min};
    CHECK(states({r}) == "retrying ");
    r = {};
    r.ledger = {entry(noon, run_outcome::skipped), entry(noon + 1h, run_outcome::coalesced)};
    CHECK(states({r}) == "coalesced skipped ");
    CHECK_FALSE(rounds_of({r})[0].begun);
    r.ledger[0].run.source = run_source::trigger;
    CHECK(states({r}) == "coalesced ");
    CHECK(states({}).empty());
}

TEST_CASE("operations.round_overview: rounds of a job, from its records") {
    cluster c;
    auto& m = c.add();
    m.body = [](sharding_context const& ctx) -> result<void> {
        if (ctx.item == 1) return error{errc::job_failed, "out of paper"};
        return success();
    };
    REQUIRE(m.schedule(make_job("settle", "0 0 * * * ?", 3)));
    c.run_for(2h);
    auto const rounds = list_rounds(c.by_hand, "settle").value();
    REQUIRE(rounds.size() == 2);
    CHECK(rounds[0].outcome == round_outcome::failed);
    CHECK(rounds[0].items == 3);
    CHECK(list_rounds(c.by_hand, "settle", 1).value()[0].outcome == round_outcome::completed);
    c.set("/settle/ext/run/1", "nonsense");
    CHECK(list_rounds(c.by_hand, "settle").value()[0].items == 2);
    CHECK(list_rounds(c.by_hand, "nobody").error() == errc::no_node);
    CHECK(list_rounds(c.by_hand, "a/b").error() == errc::invalid_argument);
}
