// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/operations/dead_letters.hpp>

#include <support/cluster.hpp>

#include <doctest/doctest.h>

#include <string>

using namespace elasticjob;
using namespace elasticjob::test;

namespace {

/// One member, whose item 1 fails as long as `fails` says so; the first instant has passed.
struct failing_job {
    explicit failing_job(int members = 1) {
        auto job = make_job("settle", "0 0 * * * ?", 3);
        for (int n = 0; n < members; ++n) {
            auto& m = c.add();
            m.body = [this](sharding_context const& ctx) -> result<void> {
                attempts += ctx.item == 1 && ctx.source == run_source::trigger;
                if (ctx.item == 1 && fails) return error{errc::job_failed, "out of paper"};
                return success();
            };
            REQUIRE(m.schedule(job));
        }
        c.run_for(1h + 1min);
    }
    bool fails = true;
    int attempts = 0; ///< that were asked for
    cluster c;
};

} // namespace

TEST_CASE("operations.dead_letters: they are listed with their item, instant, attempt and reason") {
    failing_job f;
    auto const letters = list_dead_letters(f.c.by_hand, "settle");
    REQUIRE(letters);
    REQUIRE(letters->size() == 1);
    auto const& l = letters->front();
    CHECK(l.item == 1);
    CHECK(l.run.run.due == f.c.all(heard::kind::started, 1).back().due);
    CHECK(l.run.run.attempt == 1);
    CHECK(l.run.outcome == run_outcome::failed);
    CHECK(l.run.note == "job_failed: out of paper");
    CHECK(list_dead_letters(f.c.by_hand, "nobody").error() == errc::no_node);
    CHECK(list_dead_letters(f.c.by_hand, "no/name").error() == errc::invalid_argument);
}

TEST_CASE("operations.dead_letters: a letter that is run again is removed, unless the run fails again") {
    for (int members : {1, 3}) {
        failing_job f{members};
        auto const due = list_dead_letters(f.c.by_hand, "settle")->front().run.run.due;
        REQUIRE(run_again(f.c.by_hand, "settle", 1, due));
        f.c.run_for(1s);
        CHECK(f.attempts == 1);
        auto letters = list_dead_letters(f.c.by_hand, "settle");
        REQUIRE(letters->size() == 1);
        CHECK(letters->front().run.run.attempt == 2);
        CHECK_FALSE(f.c.has("/settle/ext/orders/look-1"));

        f.fails = false;
        REQUIRE(run_again(f.c.by_hand, "settle", 1, due));
        f.c.run_for(1s);
        CHECK(f.attempts == 2);
        auto const run = f.c.all(heard::kind::started, 1).back();
        CHECK(run.due == due);
        CHECK(run.attempt == 3);
        CHECK(list_dead_letters(f.c.by_hand, "settle")->empty());
        CHECK(run_again(f.c.by_hand, "settle", 1, due).error() == errc::no_node);
        f.c.run_for(1h);
        CHECK(f.attempts == 2);
    }
}

TEST_CASE("operations.dead_letters: a discarded letter is removed, and does not run") {
    failing_job f;
    auto const due = list_dead_letters(f.c.by_hand, "settle")->front().run.run.due;
    CHECK(discard(f.c.by_hand, "settle", 1, due + 1h).error() == errc::no_node);
    CHECK(discard(f.c.by_hand, "settle", 2, due).error() == errc::no_node);
    REQUIRE(discard(f.c.by_hand, "settle", 1, due));
    f.c.run_for(1min);
    CHECK(f.attempts == 0);
    CHECK(list_dead_letters(f.c.by_hand, "settle")->empty());
}

TEST_CASE("operations.dead_letters: no command writes an item's record while the item runs") {
    failing_job f;
    auto const due = list_dead_letters(f.c.by_hand, "settle")->front().run.run.due;
    f.c.members[0]->holds = true;
    f.c.run_for(1h);
    auto const refused = run_again(f.c.by_hand, "settle", 1, due);
    REQUIRE_FALSE(refused);
    CHECK(refused.error() == errc::version_conflict);
    f.c.members[0]->holds = false;
    f.c.members[0]->release_all();
    f.c.run_for(1s);
    REQUIRE(run_again(f.c.by_hand, "settle", 1, due));
    f.c.run_for(1s);
    CHECK(f.attempts == 1);
}

TEST_CASE("operations.dead_letters: an instance that joins later carries out earlier orders") {
    failing_job f;
    auto const due = list_dead_letters(f.c.by_hand, "settle")->front().run.run.due;
    REQUIRE(f.c.members[0]->shutdown("settle"));
    f.fails = false;
    REQUIRE(run_again(f.c.by_hand, "settle", 1, due));
    REQUIRE(run_again(f.c.by_hand, "settle", 1, due).error() == errc::no_node);
    f.c.run_for(1min);
    CHECK(f.attempts == 0);
    REQUIRE(f.c.members[0]->schedule(make_job("settle", "0 0 * * * ?", 3)));
    f.c.run_for(1min);
    CHECK(f.attempts == 1);
    CHECK_FALSE(f.c.has("/settle/ext/orders/look-1"));
}

TEST_CASE("operations.dead_letters: a letter that nobody would run again is kept, with a reason") {
    failing_job f;
    auto const due = list_dead_letters(f.c.by_hand, "settle")->front().run.run.due;
    auto config = make_job("settle", "0 0 * * * ?", 3);
    config.monitor_execution = false;
    config.failover = false;
    f.c.set("/settle/config", to_json(config));
    auto const unread = run_again(f.c.by_hand, "settle", 1, due);
    REQUIRE_FALSE(unread);
    CHECK(unread.error() == errc::invalid_argument);
    CHECK(unread.error().what.find("not monitored") != std::string::npos);
    config.monitor_execution = true;
    config.sharding_total_count = 1;
    f.c.set("/settle/config", to_json(config));
    auto const gone = run_again(f.c.by_hand, "settle", 1, due);
    REQUIRE_FALSE(gone);
    CHECK(gone.error() == errc::no_node);
    REQUIRE(list_dead_letters(f.c.by_hand, "settle")->size() == 1);
    CHECK(discard(f.c.by_hand, "settle", 1, due));
}

TEST_CASE("operations.dead_letters: a letter of an item that belongs to a Java member is kept, with a reason") {
    failing_job f;
    auto const due = list_dead_letters(f.c.by_hand, "settle")->front().run.run.due;
    f.c.set("/settle/sharding/0/instance", f.c.data("/settle/sharding/0/instance")); // as if a Java leader had sharded
    f.c.set("/settle/sharding/1/instance", "10.0.0.7@-@4711");
    auto const unread = run_again(f.c.by_hand, "settle", 1, due);
    REQUIRE_FALSE(unread);
    CHECK(unread.error() == errc::invalid_argument);
    CHECK(unread.error().what.find("Java member") != std::string::npos);
    CHECK(list_dead_letters(f.c.by_hand, "settle")->size() == 1);
    CHECK(discard(f.c.by_hand, "settle", 1, due));
}

TEST_CASE("operations.dead_letters: a reply that is lost loses nothing, and runs nothing twice") {
    failing_job f;
    auto const due = list_dead_letters(f.c.by_hand, "settle")->front().run.run.due;
    f.fails = false;
    {
        losing const lost{f.c.server, losing::nth_write(f.c.by_hand.session().id, 0, request_fate::reply_lost)};
        CHECK(run_again(f.c.by_hand, "settle", 1, due).error() == errc::unknown_outcome);
    }
    f.c.run_for(1min);
    CHECK(run_again(f.c.by_hand, "settle", 1, due).error() == errc::no_node);
    f.c.run_for(1min);
    CHECK(f.attempts == 1);
}

TEST_CASE("operations.dead_letters: as commands they are on record, and take effect once") {
    failing_job f;
    auto const due = list_dead_letters(f.c.by_hand, "settle")->front().run.run.due;
    command_by const ann{"ann", "key-1"};
    auto const is = [](result<command_result> const& r, command_result::effect what) { return r && r->what == what; };
    using effect = command_result::effect;
    CHECK(is(run_again(f.c.by_hand, "settle", 1, due, {"ann", {}, true}), effect::planned));
    CHECK(list_dead_letters(f.c.by_hand, "settle")->size() == 1);
    for (auto const fate : {request_fate::reply_lost, request_fate::request_lost}) {
        {
            losing const lost{f.c.server, losing::nth_write(f.c.by_hand.session().id, 0, fate)};
            CHECK(is(run_again(f.c.by_hand, "settle", 1, due, {"ann"}), effect::done));
        }
        f.c.run_for(1s); // it fails again
    }
    CHECK(f.attempts == 2);
    CHECK(is(run_again(f.c.by_hand, "settle", 1, due, ann), effect::done));
    f.c.run_for(1s);
    CHECK(is(run_again(f.c.by_hand, "settle", 1, due, ann), effect::repeated));
    f.c.run_for(1s);
    CHECK(f.attempts == 3);
    CHECK(discard(f.c.by_hand, "settle", 1, due, ann).error() == errc::invalid_argument); // another command's key
    CHECK(is(discard(f.c.by_hand, "settle", 1, due, {"ann", "key-2"}), effect::done));
    CHECK(is(discard(f.c.by_hand, "settle", 1, due, {"ann", "key-2"}), effect::repeated));
    CHECK(discard(f.c.by_hand, "settle", 1, due, {"ann"}).error() == errc::no_node);
    auto const trail = list_commands(f.c.by_hand, "settle").value();
    REQUIRE(trail.entries().size() == 6);
    CHECK(trail.entries()[2].verb == "run again");
    CHECK(trail.entries()[2].subject == "item 1, due 2026-01-01T01:00:00.000Z");
    CHECK(trail.entries()[3].outcome == command_outcome::refused);
    CHECK(trail.entries()[4].verb == "discard");
}
