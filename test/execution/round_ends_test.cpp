// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/execution/round_ends.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace elasticjob;

namespace {

wall_time at(std::int64_t s) { return wall_time{std::chrono::seconds{s}}; }

run_entry entry(std::int64_t due, run_outcome o, std::uint64_t count = 1) {
    return {{at(due), run_source::schedule, 1, "10.0.0.1@-@1-a", at(due)}, o, at(due + 2), count, {}};
}

/// A record that is through with all of these.
run_record through(std::vector<run_entry> entries) {
    run_record r;
    for (auto& e : entries) {
        r.through = std::max(r.through, e.run.due);
        r.ledger.push_back(e);
    }
    return r;
}
run_record completed(std::vector<std::int64_t> dues) {
    std::vector<run_entry> all;
    for (auto const due : dues) all.push_back(entry(due, run_outcome::completed));
    return through(std::move(all));
}

/// `10 completed, 20 failed`
std::string told(std::vector<run_record> const& records, std::int64_t after = 0) {
    static constexpr char const* names[] = {"completed", "failed", "passed over", "forgotten", "absent"};
    std::vector<item_rounds> items;
    for (auto const& r : records) items.emplace_back(r);
    std::string text;
    for (auto const& r : ended_rounds(items, at(after)))
        text += (text.empty() ? "" : ", ") + std::to_string(r.due.time_since_epoch() / std::chrono::seconds{1}) + " " +
                names[static_cast<int>(r.fate)];
    return text;
}

} // namespace

TEST_CASE("execution.round_ends: a round is completed when all items have run for it") {
    CHECK(told({}) == "");
    CHECK(told({run_record{}}) == "");
    CHECK(told({completed({10, 20})}) == "10 completed, 20 completed");
    CHECK(told({completed({10, 20}), completed({10, 20})}) == "10 completed, 20 completed");
    CHECK(told({completed({10, 20}), completed({10})}) == "10 completed"); // the other is not done
    CHECK(told({completed({10, 20}), completed({10, 20})}, 10) == "20 completed");
    CHECK(told({completed({10, 20}), run_record{}}) == "");
}

TEST_CASE("execution.round_ends: a run that goes on keeps its round open, and no earlier one") {
    auto running = completed({10});
    running.through = at(20);
    running.running = run_begin{at(20), run_source::schedule, 1, "10.0.0.1@-@1-a", at(20)};
    CHECK(told({completed({10, 20}), running}) == "10 completed");
    running.end(run_outcome::completed, at(25));
    CHECK(told({completed({10, 20}), running}) == "10 completed, 20 completed");
}

TEST_CASE("execution.round_ends: one item that failed, or was interrupted, decides; the last attempt counts") {
    for (auto const o : {run_outcome::failed, run_outcome::interrupted}) {
        auto const bad = through({entry(10, run_outcome::completed), entry(20, o)});
        CHECK(told({completed({10, 20}), bad}) == "10 completed, 20 failed");
        auto const skipped = through({entry(10, run_outcome::completed), entry(20, run_outcome::skipped)});
        CHECK(told({skipped, bad}) == "10 completed, 20 failed");
    }
    auto again = entry(20, run_outcome::completed);
    again.run.source = run_source::failover;
    again.run.attempt = 2;
    CHECK(told({through({entry(20, run_outcome::retried), again})}) == "20 completed");
}

TEST_CASE(
    "execution.round_ends: a skipped instant, or one that a later run makes up for, is neither completed nor failed") {
    auto const group = through(
        {entry(10, run_outcome::completed), entry(40, run_outcome::skipped, 3), entry(50, run_outcome::completed)});
    CHECK(told({completed({10, 20, 30, 40, 50}), group}) ==
          "10 completed, 20 passed over, 30 passed over, 40 passed over, 50 completed");
    auto const coalesced = through({entry(30, run_outcome::coalesced, 2), entry(40, run_outcome::completed)});
    CHECK(told({completed({10, 20, 40}), coalesced}) == "10 passed over, 20 passed over, 30 passed over, 40 completed");
    // An instant that no record names is not a round: no item has run for it.
    CHECK(told({coalesced, coalesced}) == "30 passed over, 40 completed");
}

TEST_CASE("execution.round_ends: an item that did not exist yet does not count") {
    auto fresh = run_record{};
    fresh.through = at(25);
    CHECK(told({completed({10, 20}), fresh}) == "10 completed, 20 completed");
    fresh = completed({30});
    CHECK(told({completed({10, 20, 30}), fresh}) == "10 completed, 20 completed, 30 completed");
}

TEST_CASE("execution.round_ends: facts that a record no longer holds are not guessed") {
    std::vector<std::int64_t> dues;
    for (std::int64_t n = 0; n < std::int64_t{run_record::ledger_max}; ++n) dues.push_back(20 + 10 * n);
    auto const full = completed(dues);
    CHECK(told({completed({10}), completed({10})}) == "10 completed");
    auto const both = completed({10, 20});
    auto settled = both;
    settled.through = at(1000);
    CHECK(told({settled, full}).starts_with("10 forgotten, 20 completed"));
    // But a failure remains a failure.
    auto failed = through({entry(10, run_outcome::failed)});
    failed.through = at(1000);
    CHECK(told({failed, full}).starts_with("10 failed"));
}

TEST_CASE("execution.round_ends: orders are no rounds, nor are further attempts at them") {
    auto order = entry(15, run_outcome::retried);
    order.run.source = run_source::trigger;
    auto again = entry(15, run_outcome::completed);
    again.run.source = run_source::failover;
    again.run.attempt = 2;
    CHECK(told({through({entry(10, run_outcome::completed), order, again, entry(20, run_outcome::completed)})}) ==
          "10 completed, 20 completed");
    // Even at the very instant of one.
    order.run.due = again.run.due = at(10);
    order.outcome = run_outcome::failed;
    CHECK(told({through({entry(10, run_outcome::completed), order})}) == "10 completed");
}

TEST_CASE("execution.round_ends: each fate counts as the right ends") {
    for (auto const f : {round_fate::completed, round_fate::failed, round_fate::passed_over, round_fate::forgotten}) {
        CHECK(counts_as(f, round_end::ended));
        CHECK(counts_as(f, round_end::completed) == (f == round_fate::completed));
        CHECK(counts_as(f, round_end::failed) == (f == round_fate::failed));
    }
}

TEST_CASE("execution.round_ends: a round ends with its last item") {
    auto late = completed({10});
    late.ledger[0].ended = at(99);
    std::vector<item_rounds> const items{item_rounds{completed({10})}, item_rounds{late}};
    CHECK(ended_rounds(items, at(0)) == std::vector<ended_round>{{at(10), round_fate::completed, at(99)}});
}
