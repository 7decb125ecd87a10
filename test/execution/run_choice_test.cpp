// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/execution/after_run.hpp>
#include <elasticjob/execution/run_choice.hpp>

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <utility>

using namespace elasticjob;
using namespace elasticjob::detail;
using namespace std::chrono_literals;

namespace {

UtcZone const utc;
instance_id const self = instance_id::parse("10.0.0.1@-@1").value();
wall_time const noon{std::chrono::hours{12 + 24 * 365}};

/// A job that is due every minute, and the decisions of its items at a moment of their clock.
struct desk {
    explicit desk(job_config c = {.name = "settle", .cron = "0 * * * * ?"}) {
        c.failover = true;
        c.monitor_execution = true;
        terms.config = std::make_shared<valid_config const>(validate(c).value());
        terms.due = std::make_shared<due_times const>(due_times::of(*terms.config, utc).value());
        terms.schedule = 7;
        terms.dead_letters_max = 5;
        record.schedule = 7;
        record.through = noon;
    }

    next_run choose(wall_time wall) const {
        return run_choice{terms, self, wall, false}.choose({.item = 0, .record = record, .order = order});
    }
    void run_of(std::string const& instance, std::uint32_t attempt = 1) {
        record.running = run_begin{noon, run_source::schedule, attempt, instance, noon};
    }

    run_terms terms;
    run_record record;
    std::optional<wall_time> order;
};

body_end failed() { return {error{errc::job_failed, "no such account"}, false, stop_reason::none, {}}; }

} // namespace

TEST_CASE("execution.run_choice: nothing is run before it is due, and a due run belongs to its instant") {
    desk d;
    CHECK_FALSE(d.choose(noon + 59s).record->running);
    auto const next = d.choose(noon + 61s);
    REQUIRE(next.record->running);
    CHECK(next.record->running->due == noon + 60s);
    CHECK(next.record->running->source == run_source::schedule);
    CHECK(next.record->through == noon + 60s);
    CHECK(next.record->next_due == noon + 120s);
    CHECK(*d.choose(noon + 61s).record == *next.record); // choosing changes nothing
}

TEST_CASE(
    "execution.run_choice: the run of a dead instance goes before an order, an order before retries and due instants") {
    desk d;
    d.order = noon + 1s;
    d.record.retry = run_retry{noon, run_source::schedule, 2, noon};
    d.run_of("10.0.0.2@-@9");
    auto next = d.choose(noon + 61s);
    CHECK(next.is_failover);
    CHECK(next.dead == instance_id::parse("10.0.0.2@-@9").value());
    CHECK(next.record->running->source == run_source::failover);
    CHECK(next.record->running->attempt == 2);
    CHECK(next.record->ledger.back().outcome == run_outcome::retried);

    d.record.running.reset();
    next = d.choose(noon + 61s);
    CHECK(next.record->running->source == run_source::trigger);
    CHECK(next.record->running->due == noon + 1s);

    d.order.reset();
    next = d.choose(noon + 61s);
    CHECK(next.record->running->attempt == 2);
    CHECK_FALSE(next.record->retry);

    d.record.retry.reset();
    CHECK(d.choose(noon + 61s).record->running->due == noon + 60s);
}

TEST_CASE("execution.run_choice: an order from the registry is carried out once") {
    desk d;
    d.terms.run_order = 41;
    d.terms.ordered_at = noon + 5s;
    auto const next = d.choose(noon + 6s);
    REQUIRE(next.record->running);
    CHECK(next.record->running->due == noon + 5s);
    CHECK(next.record->obeyed == 41);
    d.record.obeyed = 41;
    CHECK_FALSE(d.choose(noon + 6s).record->running);
}

TEST_CASE("execution.run_choice: a run whose instances die again and again becomes a dead letter") {
    desk d;
    d.run_of("10.0.0.2@-@9", 10);
    auto const next = d.choose(noon + 1s);
    CHECK_FALSE(next.record->running);
    CHECK(next.pending == unwritten::an_end);
    REQUIRE(next.record->dead_letters.size() == 1);
    CHECK(next.record->dead_letters.front().run.attempt == 10);
}

TEST_CASE("execution.run_choice: instants of a disabled time are on record as skipped, and never run") {
    desk d;
    d.terms.enabled_since = noon + 150s;
    auto const next = d.choose(noon + 151s);
    CHECK_FALSE(next.record->running);
    CHECK(next.pending == unwritten::an_end);
    CHECK(next.record->through == noon + 150s);
    REQUIRE(next.record->ledger.size() == 1);
    CHECK(next.record->ledger.front().count == 2);
    CHECK(next.record->ledger.front().note == "disabled");
}

TEST_CASE(
    "execution.run_choice: instants of another schedule, and those that a wrong clock has noted, are not made up for") {
    desk d;
    d.record.schedule = 8;
    CHECK_FALSE(d.choose(noon + 10min + 1s).record->running);
    d.record.schedule = 7;
    d.record.through = noon + 72h;
    CHECK_FALSE(d.choose(noon + 1s).record->running);
    CHECK(d.choose(noon + 1s).record->through == noon + 1s);
}

TEST_CASE(
    "execution.run_choice: instants since a change of the schedule are dealt with, whenever the item learns of it") {
    desk d;
    d.record.schedule = 8;
    d.terms.schedule_changed = noon + 90s;
    auto const next = d.choose(noon + 301s);
    REQUIRE(next.record->running);
    CHECK(next.record->running->due == noon + 300s);
    REQUIRE(next.record->ledger.size() == 1);
    CHECK(next.record->ledger.front().outcome == run_outcome::coalesced);
    CHECK(next.record->ledger.front().run.due == noon + 240s);
    CHECK(next.record->ledger.front().count == 3); // the one after 60 s is from before the change
    // A clock that is behind the registry's leaves nothing out: this clock decides which instants are due.
    d.terms.schedule_changed = noon + 600s;
    CHECK(d.choose(noon + 301s).record->through == noon + 301s);
    // Java members may have run them.
    d.terms.schedule_changed = noon + 90s;
    run_choice const beside_java{d.terms, self, noon + 301s, true};
    CHECK_FALSE(beside_java.choose({.item = 0, .record = d.record}).record->running);
}

TEST_CASE("execution.run_choice: an item that waits for its retry looks again by itself, others are woken") {
    desk d;
    run_choice const choice{d.terms, self, noon, false};
    CHECK_FALSE(choice.next_look(0, d.record));
    d.record.retry = run_retry{noon, run_source::schedule, 2, noon + 30s};
    CHECK(choice.next_look(0, d.record) == noon + 30s);
    d.record.resume = run_retry{noon, run_source::trigger, 2, noon + 5s};
    CHECK(choice.next_look(0, d.record) == noon + 5s);
}

TEST_CASE("execution.after_run: a failure is tried again as often as the policy says, and then is a dead letter") {
    desk d;
    d.terms.retry = {.attempts_max = 2, .pause = 10s, .spread_percent = 0};
    d.run_of(self.str());
    after_run const after{d.terms, mono_time{}, noon};
    retry_budget budget;
    auto ended = failed();
    ended.again = after.retry_of(d.record, ended, 1, budget);
    REQUIRE(ended.again);
    CHECK(ended.again->at == noon + 10s);
    CHECK(ended.again->attempt == 2);
    auto record = d.record;
    after.note_end(record, ended);
    CHECK(record.retry == ended.again);
    CHECK(record.dead_letters.empty());

    d.run_of(self.str(), 2);
    ended = failed();
    ended.again = after.retry_of(d.record, ended, 1, budget);
    CHECK_FALSE(ended.again);
    after.note_end(d.record, ended);
    CHECK(d.record.ledger.back().outcome == run_outcome::failed);
    CHECK(d.record.dead_letters.size() == 1);
}

TEST_CASE("execution.after_run: a run that an operator stopped is over, and a run that the library stopped is taken up "
          "again") {
    desk d;
    d.run_of(self.str());
    after_run const after{d.terms, mono_time{}, noon};
    retry_budget budget;
    auto ended = failed();
    ended.stopped_by = stop_reason::ordered;
    CHECK_FALSE(after.retry_of(d.record, ended, 1, budget));
    for (auto const why :
         {stop_reason::session_lost, stop_reason::lease_over, stop_reason::reassigned, stop_reason::draining}) {
        ended.stopped_by = why;
        auto const again = after.retry_of(d.record, ended, 1, budget);
        REQUIRE(again);
        CHECK(again->attempt == 2);
        CHECK_FALSE(ended.has_failed());
    }
}

TEST_CASE("execution.after_run: a run that the pool refused is skipped, unless another attempt was promised") {
    desk d;
    d.run_of(self.str());
    after_run const after{d.terms, mono_time{}, noon};
    retry_budget budget;
    body_end ended{error{errc::overloaded, "the pool is full"}, true, stop_reason::none, {}};
    CHECK_FALSE(after.retry_of(d.record, ended, 1, budget));
    auto record = d.record;
    after.note_end(record, ended);
    CHECK(record.ledger.back().outcome == run_outcome::skipped);
    CHECK(record.dead_letters.empty());

    d.run_of(self.str(), 2);
    auto const again = after.retry_of(d.record, ended, 1, budget);
    REQUIRE(again);
    CHECK(again->attempt == 2);
    CHECK(again->at == noon + 1s);
}

TEST_CASE("execution.after_run: an instance tries again no more runs in an hour than it may") {
    retry_budget budget;
    CHECK(budget.take(2, mono_time{0s}));
    CHECK(budget.take(2, mono_time{30min}));
    CHECK_FALSE(budget.take(2, mono_time{59min}));
    CHECK(budget.take(2, mono_time{60min}));
    CHECK_FALSE(budget.take(2, mono_time{61min}));
    CHECK(budget.take(0, mono_time{61min})); // no limit
}

TEST_CASE("execution.run_choice: an instant is chosen `start_ahead` before it is due, and one that is due goes first "
          "(RN-12)") {
    desk d;
    d.terms.start_ahead = 50ms;
    CHECK_FALSE(d.choose(noon + 60s - 51ms).record->running);
    auto const early = d.choose(noon + 60s - 50ms);
    REQUIRE(early.record->running);
    CHECK(early.record->running->due == noon + 60s);
    CHECK(early.record->running->begun == noon + 60s); // when its body begins
    CHECK(early.record->running->source == run_source::schedule);
    CHECK(early.record->through == noon + 60s);
    auto const late = d.choose(noon + 120s - 50ms);
    CHECK(late.record->running->due == noon + 60s);
    CHECK(late.record->through == noon + 60s); // the next instant is still to come
    CHECK(late.record->ledger.empty());
}

TEST_CASE("execution.run_choice: nothing is chosen early without records, with Java members, while instants wait, or "
          "for the rounds of another job") {
    desk d;
    d.terms.start_ahead = 50ms;
    auto const is_chosen = [&](bool has_java_members = false) {
        run_choice const c{d.terms, self, noon + 60s - 1ms, has_java_members};
        return c.choose({.item = 0, .record = d.record}).record->running.has_value();
    };
    REQUIRE(is_chosen());
    CHECK_FALSE(is_chosen(true));
    d.terms.held_from = noon + 30s;
    CHECK_FALSE(is_chosen());
    d.terms.held_from.reset();
    auto config = d.terms.config->config();
    config.failover = false;
    config.monitor_execution = false;
    d.terms.config = std::make_shared<valid_config const>(validate(config).value());
    CHECK_FALSE(is_chosen());
    CHECK(d.terms.ahead(false) == 0ms);
}

TEST_CASE("execution.run_choice: an item with a time of its own looks again `start_ahead` before it") {
    desk d{{.name = "settle", .cron = "0 * * * * ?", .jitter = 30s}};
    auto const looks_at = [&] { return run_choice{d.terms, self, noon, false}.next_look(0, d.record).value(); };
    auto const at_its_time = looks_at();
    CHECK(at_its_time == noon + 60s + d.terms.due->delay_of(0));
    d.terms.start_ahead = 50ms;
    CHECK(looks_at() == at_its_time - 50ms);
    CHECK_FALSE(d.choose(looks_at() - 1ms).record->running);
    CHECK(d.choose(looks_at()).record->running->begun == at_its_time);
}

TEST_CASE("execution.run_choice: due instants and orders wait while a Java leader has to shard; nothing else does") {
    desk d;
    d.terms.held_from = noon + 90s;
    auto const next = d.choose(noon + 121s);
    REQUIRE(next.record->running);
    CHECK(next.record->running->due == noon + 60s); // that was due before
    d.record.through = noon + 60s;
    CHECK_FALSE(d.choose(noon + 121s).record->running);
    d.terms.run_order = 9;
    CHECK_FALSE(d.choose(noon + 121s).record->running);
    d.record.retry = run_retry{noon, run_source::schedule, 2, noon};
    CHECK(d.choose(noon + 121s).record->running->attempt == 2);
    d.record.retry.reset();
    d.run_of("10.0.0.2@-@9");
    CHECK(d.choose(noon + 121s).is_failover);
    d.record.running.reset();
    d.terms.held_from.reset();
    CHECK(d.choose(noon + 121s).record->running->source == run_source::trigger);
}

TEST_CASE("execution.run_choice: for an item with another owner, only the run that a dead instance has left is run") {
    desk d;
    d.terms.run_order = 9;
    d.order = noon + 1s;
    auto const choose = [&](wall_time wall) {
        return run_choice{d.terms, self, wall, true}.choose(
            {.item = 0, .record = d.record, .order = d.order, .is_adopted = true});
    };
    CHECK_FALSE(choose(noon + 61s).record->running);
    d.record.retry = run_retry{noon, run_source::failover, 3, noon};
    CHECK(choose(noon + 61s).record->running->attempt == 3);
    d.record.retry.reset();
    d.run_of("10.0.0.2@-@9");
    CHECK(choose(noon + 61s).record->running->source == run_source::failover);
}
