// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/execution/item_life.hpp>

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <utility>

using namespace elasticjob;
using namespace elasticjob::detail;
using namespace std::chrono_literals;
using kind = item_step::kind;
using phase = item_life::phase;

namespace {

UtcZone const utc;
job_layout const at{job_name::parse("settle").value()};
instance_id const self = instance_id::parse("10.0.0.1@-@1").value();
instance_id const other = instance_id::parse("10.0.0.2@-@2").value();
wall_time const noon{24h * 365 + 12h};

/// An item of a job that is due every minute.
struct nursery {
    nursery() {
        job_config c{.name = "settle", .cron = "0 * * * * ?"};
        c.failover = true;
        terms.config = std::make_shared<valid_config const>(validate(c).value());
        terms.due = std::make_shared<due_times const>(due_times::of(*terms.config, utc).value());
        terms.schedule = 7;
        terms.is_open = true;
        record.schedule = 7;
        record.through = noon;
    }

    item_moment moment() const {
        item_moment m{terms, self, at};
        m.now = now;
        m.wall = wall;
        m.session.generation = session_generation{1};
        m.session.state = state;
        m.is_closing = is_closing;
        m.is_runner_gone = is_runner_gone;
        return m;
    }
    kind next() { return life.next(moment()).is; }
    node there(std::string text, node_version version = 3, revision modified = 100, revision created = 40) const {
        node n;
        n.data = std::move(text);
        n.stat.version = version;
        n.stat.modified = modified;
        n.stat.created = created;
        return n;
    }
    item_news learn() { return learn(there(record.to_text())); }
    item_news learn(node n) {
        REQUIRE(next() == kind::read);
        return life.record_read(moment(), std::move(n));
    }
    void start(wall_time when = noon + 61s) {
        wall = when;
        REQUIRE(next() == kind::start);
        life.start_sent(session_generation{1});
    }
    void begin() {
        start();
        life.start_granted({0, 101, 4}, session_generation{1});
        life.start_answered(moment(), start_answer::started);
        REQUIRE(next() == kind::call);
    }
    void end(result<void> outcome = success()) {
        life.body_ended(moment(), {std::move(outcome), false, stop_reason::none, {}});
        REQUIRE(next() == kind::end);
    }

    void stop_monitoring() {
        auto c = terms.config->config();
        c.monitor_execution = c.failover = false;
        terms.config = std::make_shared<valid_config const>(validate(c).value());
    }

    run_terms terms;
    run_record record;
    mono_time now{1h};
    wall_time wall = noon + 1s;
    session_state state = session_state::connected;
    bool is_closing = false, is_runner_gone = true;
    item_life life{0, {0, {}}, noon, 0};
};

} // namespace

TEST_CASE("execution.item_life: a firing goes from the record to the run to the record of its end") {
    nursery n;
    auto const news = n.learn();
    CHECK(news.deals_with_rounds);
    CHECK(n.next() == kind::rest);
    CHECK(n.life.is_at_rest());
    n.start();
    CHECK(n.life.is_busy());
    CHECK(n.life.chosen().due == noon + 60s);
    CHECK(n.life.start().version == 3);
    n.life.start_granted({0, 101, 4}, session_generation{1});
    n.life.start_answered(n.moment(), start_answer::started);
    CHECK(n.next() == kind::call);
    CHECK(n.life.record().running->due == noon + 60s);
    CHECK(n.life.holds_up(noon + 120s));
    n.end();
    auto const end = n.life.end();
    CHECK(end.version == 4);
    CHECK(end.is_marked);
    CHECK(run_record::parse(end.record)->ledger.back().outcome == run_outcome::completed);
    CHECK(n.life.end_answered(n.moment(), end_result::recorded).deals_with_rounds);
    CHECK(n.life.version() == 5);
    CHECK(n.next() == kind::rest);
    CHECK_FALSE(n.life.is_busy());
}

TEST_CASE("execution.item_life: an item without a record has one written first") {
    nursery n;
    REQUIRE(n.next() == kind::read);
    n.life.record_read(n.moment(), error{errc::no_node, "absent"});
    auto const step = n.life.next(n.moment());
    CHECK(step.is == kind::open);
    CHECK(run_record::parse(step.text)->through == noon);
    CHECK(n.next() == kind::rest); // until it is written
    SUBCASE("and read if another instance may have written it") {
        n.life.opened({0, step.text});
        CHECK(n.next() == kind::read);
    }
    SUBCASE("and not read if this instance has created it") {
        n.life.opened({0, step.text, 90});
        CHECK(n.life.next(n.moment()).news.deals_with_rounds);
        CHECK(n.life.record().created == 90);
        n.wall = noon + 61s;
        CHECK(n.next() == kind::start);
        CHECK(n.life.start().version == 0);
    }
    SUBCASE("and read if an operator has changed it since") {
        n.life.opened({0, step.text, 90});
        n.life.note_edited();
        CHECK(n.next() == kind::read);
    }
    SUBCASE("and not counted if the job stops keeping records meanwhile") {
        n.life.opened({0, step.text, 90});
        n.stop_monitoring();
        CHECK(n.next() == kind::rest);
        CHECK_FALSE(n.life.version());
    }
}

TEST_CASE("execution.item_life: an item that no instance has owned before has its record created at once") {
    nursery n;
    n.life = item_life{0, {}, noon, 0, false, true};
    auto const step = n.life.next(n.moment());
    CHECK(step.is == kind::open);
    n.life.opened({0, step.text}); // there was one
    CHECK(n.next() == kind::read);
}

TEST_CASE("execution.item_life: an item that no instance has owned before has no record in a job that keeps none") {
    nursery n;
    n.life = item_life{0, {}, noon, 0, false, true};
    n.stop_monitoring();
    CHECK(n.next() == kind::rest);
}

TEST_CASE("execution.item_life: a record that cannot be read is begun again, and is not taken for a copy") {
    nursery n;
    n.terms.obeyed_before = 200; // an order that came after the record was written
    auto const news = n.learn(n.there("not a record"));
    REQUIRE(news.trouble);
    CHECK(news.trouble->what.find("cannot be read") != std::string::npos);
    CHECK(n.life.record().obeyed == 200);
    CHECK(n.next() == kind::rest);
}

TEST_CASE("execution.item_life: a record that has obeyed an order of its future was copied, and that is reported") {
    nursery n;
    n.record.obeyed = 500;
    auto const news = n.learn();
    REQUIRE(news.trouble);
    CHECK(news.trouble->what.find("copied from another registry") != std::string::npos);
    CHECK(n.life.record().obeyed == 100);
    CHECK(n.next() == kind::note);
}

TEST_CASE("execution.item_life: a record in another node than it was written to was copied; its tokens go on above the "
          "earlier ones") {
    nursery n;
    n.record.obeyed = 90; // so the order says nothing
    n.record.created = 40;
    CHECK_FALSE(n.learn().trouble);
    n.begin();
    auto const token = n.life.token();
    CHECK(token == 101);
    n.end();
    auto const written = n.life.end().record;
    nursery copy;
    auto const news = copy.learn(copy.there(written, 1, 51, 50));
    REQUIRE(news.trouble);
    CHECK(copy.life.record().copies == 1);
    CHECK(copy.life.record().created == 50);
    CHECK(copy.life.record().obeyed == 51); // orders up to the copy were given elsewhere
    CHECK(copy.next() == kind::note);
    copy.life.noted(copy.moment(), success());
    copy.wall = noon + 121s;
    REQUIRE(copy.next() == kind::start);
    copy.life.start_sent(session_generation{1});
    copy.life.start_granted({0, 52, 4}, session_generation{1});
    CHECK(copy.life.token() > token);

    auto many = run_record::parse(written).value();
    many.copies = run_record::copies_max;
    nursery last;
    REQUIRE(last.learn(last.there(many.to_text(), 1, 51, 50)).trouble);
    CHECK(last.life.record().copies == run_record::copies_max);
    CHECK(last.life.record().token_of(52) > 0);
}

TEST_CASE("execution.item_life: a record that does not name its node is not treated as a copy") {
    nursery n;
    n.record.obeyed = 90;
    CHECK_FALSE(n.learn().trouble);
    CHECK(n.next() == kind::rest); // and is not written for that alone
    CHECK(n.life.record().created == 40);
}

TEST_CASE("execution.item_life: a former owner's run is waited for, and taken over when it has died") {
    nursery n;
    n.is_runner_gone = false;
    n.record.running = run_begin{noon, run_source::schedule, 1, other.str(), noon};
    n.learn();
    CHECK(n.next() == kind::follow);
    CHECK_FALSE(n.life.is_at_rest());
    n.is_runner_gone = true;
    CHECK(n.next() == kind::start);
    CHECK(n.life.start().dead == other);
    CHECK(n.life.is_failover());
}

TEST_CASE("execution.item_life: a start that is lost with its session is looked up after a write, and undone") {
    nursery n;
    n.learn();
    n.start();
    auto const started = n.life.start().record;
    n.life.start_answered(n.moment(), start_answer::unknown);
    CHECK(n.life.is_uncertain());
    CHECK(n.next() == kind::catch_up);
    n.life.caught_up(n.moment(), success());
    CHECK(n.next() == kind::look);

    SUBCASE("it is there") {
        n.life.start_looked_for(n.moment(), n.there(started, 4));
        CHECK(n.next() == kind::undo);
        CHECK(n.life.undo().version == 4);
        CHECK_FALSE(run_record::parse(n.life.undo().record)->running);
        n.life.undone(n.moment(), end_result::recorded);
    }
    SUBCASE("it is not there") { n.life.start_looked_for(n.moment(), n.there(n.record.to_text())); }
    SUBCASE("another session ends before that is known") {
        n.life.start_looked_for(n.moment(), error{errc::session_lost, "over"});
        CHECK(n.next() == kind::catch_up);
        n.life.caught_up(n.moment(), success());
        REQUIRE(n.next() == kind::look);
        n.life.start_looked_for(n.moment(), n.there(n.record.to_text()));
    }
    CHECK_FALSE(n.life.is_uncertain());
    CHECK(n.next() == kind::read);
}

TEST_CASE("execution.item_life: an undone start has taken the flag, so the lost Java run is not taken for made up") {
    nursery n;
    n.record.running = run_begin{noon, run_source::schedule, 1, other.str(), noon};
    n.record.is_flagged = true;
    n.learn();
    n.start();
    auto const started = n.life.start().record;
    CHECK_FALSE(run_record::parse(started)->is_flagged);
    n.life.start_answered(n.moment(), start_answer::unknown);
    REQUIRE(n.next() == kind::catch_up);
    n.life.caught_up(n.moment(), success());
    REQUIRE(n.next() == kind::look);
    n.life.start_looked_for(n.moment(), n.there(started, 4));
    REQUIRE(n.next() == kind::undo);
    auto const undone = run_record::parse(n.life.undo().record).value();
    REQUIRE(undone.running);
    CHECK(undone.running->instance == nobody);
    CHECK_FALSE(undone.is_flagged);
}

TEST_CASE("execution.item_life: an item that was taken away first settles an uncertain start, and then leaves") {
    nursery n;
    n.learn();
    n.start();
    n.life.start_answered(n.moment(), start_answer::unknown);
    n.life.take_away();
    CHECK(n.next() == kind::catch_up);
    n.life.caught_up(n.moment(), success());
    REQUIRE(n.next() == kind::look);
    n.life.start_looked_for(n.moment(), error{errc::no_node, "absent"});
    CHECK(n.next() == kind::leave);
}

TEST_CASE("execution.item_life: an end that is refused is asked for again after growing pauses, up to ten seconds") {
    nursery n;
    n.learn();
    n.begin();
    n.end();
    auto pause = 0ms;
    for (int attempt = 0; attempt < 12; ++attempt) {
        n.life.end_answered(n.moment(), end_result::refused);
        auto const step = n.life.next(n.moment());
        REQUIRE(step.is == kind::rest);
        auto const next = std::chrono::duration_cast<std::chrono::milliseconds>(step.until - n.now);
        CHECK(next >= pause);
        pause = next;
        n.now = step.until;
        REQUIRE(n.next() == kind::end);
    }
    CHECK(pause == 10s);
    n.is_closing = true;
    auto const news = n.life.end_answered(n.moment(), end_result::refused);
    CHECK(news.given_up_in ==
          session_generation{1}); // the marks go: the next owner takes the run for that of a dead one
    CHECK_FALSE(n.life.is_busy());
}

TEST_CASE("execution.item_life: an instant of a disabled item is on record as skipped before it is reported") {
    nursery n;
    n.learn();
    n.start();
    auto const news = n.life.start_answered(n.moment(), start_answer::disabled);
    CHECK(news.skipped.empty());
    REQUIRE(n.next() == kind::note);
    auto const told = n.life.noted(n.moment(), success()).skipped;
    REQUIRE(told.size() == 1);
    CHECK(told[0].last == noon + 60s);
    CHECK(n.next() == kind::rest);
}

TEST_CASE("execution.item_life: the refusal of a start takes back no report of earlier instants") {
    nursery n;
    n.terms.on_misfire = {misfire_rule::skip};
    n.learn();
    n.start(noon + 240s + 1s); // four instants have come, and the newest runs
    n.life.start_answered(n.moment(), start_answer::disabled);
    REQUIRE(n.next() == kind::note);
    auto const told = n.life.noted(n.moment(), success()).skipped;
    REQUIRE(told.size() == 2);
    CHECK(told[0].count == 3);
    CHECK(told[0].last == noon + 180s);
    CHECK(told[0].why == events::skip_reason::too_late);
    CHECK(told[1].count == 1);
    CHECK(told[1].last == noon + 240s);
    CHECK(told[1].why == events::skip_reason::disabled);
}

TEST_CASE("execution.item_life: an order that this instance no longer carries out is reported") {
    nursery n;
    n.learn();
    n.life.order(noon + 5s);
    n.life.take_away();
    CHECK(n.next() == kind::leave);
    CHECK(n.life.unfinished() == std::vector{noon + 5s});
}

TEST_CASE("execution.item_life: a copy lives on by itself") {
    nursery n;
    n.learn();
    auto const before = n.life;
    CHECK(to_string(before) == to_string(n.life));
    n.start();
    auto const asked = n.life;
    n.life.start_answered(n.moment(), start_answer::unclaimed);
    CHECK(before.where() == phase::resting);
    CHECK(asked.where() == phase::starting);
    CHECK(asked.chosen().due == noon + 60s);
    CHECK(to_string(asked).starts_with("starting; version 3; ours\n"));
}
