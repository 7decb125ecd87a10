// SPDX-License-Identifier: Apache-2.0
// The decisions alone; round_follower_test.cpp has them with a registry.
#include <elasticjob/execution/round_following.hpp>

#include <elasticjob/config/json_codec.hpp>
#include <elasticjob/execution/run_record.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <utility>

using namespace elasticjob;
using namespace std::chrono_literals;
using kind = following_step::kind;

namespace {

constexpr wall_time midnight{std::chrono::seconds{1'767'225'600}};

/// The job settle follows the job first, which has one item.
struct leader {
    job_layout at{job_name::parse("settle").value()};
    node config;
    followed_job_view view;
    wall_time now = midnight + 1min;
    round_following decisions;

    explicit leader(bool follows = true) : decisions{basis_of(at, follows)} {
        job_config c;
        c.name = "first";
        c.cron = "0/10 * * * * ?";
        c.sharding_total_count = 1;
        set_config(c);
        view.is_loaded = true;
    }

    static following_basis basis_of(job_layout const& at, bool follows) {
        following_basis b{{3}, at};
        if (follows) b.followed = job_schedule::after_job("first", round_end::ended);
        b.since = midnight;
        return b;
    }
    void set_config(job_config const& c) {
        config.data = to_json(c);
        config.stat.modified += 1;
        view.config = &config;
    }
    /// The item has been run for the instant so many seconds after midnight.
    void end_round(int second, item_index item = 0) {
        auto const due = midnight + std::chrono::seconds{second};
        run_record r;
        r.through = due;
        r.running = run_begin{due, run_source::schedule, 1, "10.0.0.1@-@1", due};
        r.end(run_outcome::completed, due + 1s);
        decisions.note_record(item, r.to_text());
    }
    following_step begin() {
        REQUIRE(decisions.next(view, now).what == kind::read);
        return decisions.written_read(error{errc::no_node, "none"}, view, now);
    }
    static followed_rounds content(following_step const& step) {
        REQUIRE(step.what == kind::commit);
        return followed_rounds::parse(step.changes.operations().back().data).value();
    }
};

} // namespace

TEST_CASE("execution.round_following: writes a round when it is over, once") {
    leader l;
    l.end_round(10);
    auto const first = l.begin();
    CHECK(leader::content(first).rounds.size() == 1);
    CHECK(l.decisions.committed(commit_reply{}).what == kind::rest);
    CHECK(l.decisions.next(l.view, l.now).what == kind::rest);
    l.end_round(20);
    CHECK(leader::content(l.decisions.next(l.view, l.now)).rounds.size() == 2);
}

TEST_CASE("execution.round_following: a job that begins to follow in the middle of a round does not miss its end") {
    leader l;
    job_config two;
    two.name = "first";
    two.cron = "0/10 * * * * ?";
    two.sharding_total_count = 2;
    l.set_config(two);
    l.end_round(-10); // before the job's schedule was written
    l.end_round(10);
    CHECK(leader::content(l.begin()).rounds.empty());
    CHECK(l.decisions.committed(commit_reply{}).what == kind::rest);
    l.end_round(-10, 1);
    CHECK(l.decisions.next(l.view, l.now).what == kind::rest);
    l.end_round(10, 1); // so far it had no record
    auto const written = leader::content(l.decisions.next(l.view, l.now));
    REQUIRE(written.rounds.size() == 1);
    CHECK(written.rounds.front().of == midnight + 10s);
}

TEST_CASE("execution.round_following: another end repeats no round on record, even if an item has none at first") {
    leader l;
    job_config two;
    two.name = "first";
    two.cron = "0/10 * * * * ?";
    two.sharding_total_count = 2;
    l.set_config(two);
    followed_rounds before;
    auto const completed = job_schedule::after_job("first", round_end::completed);
    before.follow(&completed);
    before.add(midnight + 10s, midnight + 11s);
    l.end_round(10);
    REQUIRE(l.decisions.next(l.view, l.now).what == kind::read);
    node written;
    written.data = before.to_text();
    CHECK(leader::content(l.decisions.written_read(written, l.view, l.now)).rounds.size() == 1);
    CHECK(l.decisions.committed(commit_reply{}).what == kind::rest);
    l.end_round(10, 1);
    CHECK(l.decisions.next(l.view, l.now).what == kind::rest);
    for (item_index i = 0; i < 2; ++i) l.end_round(20, i);
    CHECK(leader::content(l.decisions.next(l.view, l.now)).rounds.size() == 2);
}

TEST_CASE("execution.round_following: a refused or lost write makes it read the node, after a pause") {
    for (bool const is_lost : {false, true}) {
        leader l;
        l.end_round(10);
        REQUIRE(l.begin().what == kind::commit);
        auto const rest = is_lost
                              ? l.decisions.committed(error{errc::unknown_outcome, "lost"})
                              : l.decisions.committed(commit_reply{commit_reply::refusal{0, errc::version_conflict}});
        CHECK(rest.what == kind::rest);
        CHECK(rest.pause);
        CHECK(l.decisions.take_reports().empty());
        CHECK(l.decisions.next(l.view, l.now).what == kind::read);
    }
    leader l;
    l.end_round(10);
    REQUIRE(l.begin().what == kind::commit);
    CHECK(l.decisions.committed(error{errc::no_auth, "read-only"}).pause);
    CHECK(l.decisions.take_reports().size() == 1);
}

TEST_CASE(
    "execution.round_following: a write checks leadership, the schedule, the followed job and the node's version") {
    leader l;
    l.end_round(10);
    auto const first = l.begin();
    CHECK(first.changes.operations().back().what == operation::kind::create);
    (void)l.decisions.committed(commit_reply{});
    l.end_round(20);
    auto const second = l.decisions.next(l.view, l.now);
    auto const& steps = second.changes.operations();
    CHECK(steps.back().what == operation::kind::set);
    CHECK(steps.back().version == 0);
    CHECK(steps.front().path == l.at.leader_instance());
    bool checks_followed = false;
    for (auto const& o : steps) checks_followed |= o.path == l.decisions.followed()->config();
    CHECK(checks_followed);
}

TEST_CASE("execution.round_following: reports a hindrance once, until it changes") {
    leader l;
    auto edited = from_json(l.config.data).value().value();
    edited.monitor_execution = false;
    l.set_config(edited);
    l.end_round(10);
    CHECK(leader::content(l.begin()).rounds.empty()); // those of a job followed before must not stay on record
    CHECK(l.decisions.take_reports().size() == 1);
    CHECK(l.decisions.committed(commit_reply{}).what == kind::rest);
    CHECK(l.decisions.next(l.view, l.now).what == kind::rest);
    CHECK(l.decisions.take_reports().empty());
    edited.monitor_execution = true;
    l.set_config(edited);
    l.now = midnight + 100s;
    auto const rounds = leader::content(l.decisions.next(l.view, l.now)).rounds;
    REQUIRE(rounds.size() == 1);
    CHECK(rounds[0].due == midnight + 11s); // when it ended, not when the leader could look
}

TEST_CASE("execution.round_following: a record that cannot be read is no record") {
    leader l;
    l.end_round(10);
    l.decisions.note_record(0, "scrambled");
    auto const step = l.begin();
    CHECK(leader::content(step).rounds.empty()); // it follows from now on, but has seen no round
}

TEST_CASE("execution.round_following: a job that follows no other any more drops the rounds that it was due for") {
    leader former;
    former.end_round(10);
    auto const written = leader::content(former.begin());
    leader l{false};
    REQUIRE(l.decisions.next(l.view, l.now).what == kind::read);
    node after;
    after.data = written.to_text();
    CHECK(leader::content(l.decisions.written_read(after, l.view, l.now)).rounds.empty());
    CHECK(l.decisions.committed(commit_reply{}).what == kind::rest);
    CHECK(l.decisions.next(l.view, l.now).what == kind::rest);
}
