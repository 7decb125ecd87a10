// SPDX-License-Identifier: Apache-2.0
// The writes that the leader of a job that follows another may make, and when it may not make them.
#include <elasticjob/config/json_codec.hpp>
#include <elasticjob/execution/round_follower.hpp>

#include <support/job_world.hpp>

#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <vector>

using namespace elasticjob;
using namespace elasticjob::test;

namespace {

/// The job settle follows the job first, which has one item.
struct following : job_world {
    struct teller {
        std::vector<error>* told;
        void operator()(error const& e) const { told->push_back(e); }
    };
    using follower = round_follower<session_type, teller>;

    following() {
        create(first.config(), config_of(1));
        create(first.instances());
        create(first.run_records());
        create(at.config());
        create(at.after().parent());
        create(at.leader_instance(), "10.0.0.1@-@1", create_mode::ephemeral);
        end_round(0);
    }

    void begin() {
        post(loop, [this] {
            follower::basis b{one.session().generation, at};
            b.followed = job_schedule::after_job("first", round_end::ended);
            b.since = midnight + 2s; // behind the end of the first round
            led.emplace(one, std::move(b), teller{&told});
        });
        loop.run_for(1s);
    }

    static std::string config_of(int items) {
        job_config c;
        c.name = "first";
        c.cron = "0/10 * * * * ?";
        c.sharding_total_count = items;
        return to_json(c);
    }

    /// Of its item, which has been run for the instant so many seconds after midnight.
    std::string record_of(int second) const {
        auto const due = midnight + std::chrono::seconds{second};
        run_record r;
        r.through = due;
        r.running = run_begin{due, run_source::schedule, 1, "10.0.0.1@-@1", due};
        r.end(run_outcome::completed, due + 1s);
        return r.to_text();
    }
    void end_round(int second) {
        if (has(first.run_record(0)))
            set(first.run_record(0), record_of(second));
        else
            create(first.run_record(0), record_of(second));
    }
    /// Ends the round of ten seconds after midnight, and so many turns of the loop later gives the job two items.
    void race(int turns) {
        auto const end = [](following& w) -> task<void> {
            CHECK(co_await w.by_hand.set(w.first.run_record(0), w.record_of(10)));
        };
        auto const edit = [](following& w, int left) -> task<void> {
            for (; left > 0; --left) co_await yield(w.loop);
            CHECK(co_await w.by_hand.set(w.first.config(), config_of(2)));
        };
        post(loop, [this, end, edit, turns] {
            background.spawn(end(*this));
            background.spawn(edit(*this, turns));
        });
        loop.run_for(1s);
    }
    followed_rounds written() const { return followed_rounds::parse(data(at.after())).value(); }

    wall_time const midnight = loop.wall_now();
    job_layout const first{job_name::parse("first").value()};
    std::vector<error> told;
    std::optional<follower> led;
};

} // namespace

TEST_CASE("execution.round_follower: a round that is over is written down") {
    following w;
    w.begin();
    REQUIRE(w.has(w.at.after()));
    w.end_round(10);
    w.loop.run_for(1s);
    auto const all = w.written();
    REQUIRE(all.rounds.size() == 1);
    CHECK(all.rounds[0].of == w.midnight + 10s);
    CHECK(w.told.empty());
}

TEST_CASE("execution.round_follower: nothing is written while the job has no leader") {
    following w;
    w.begin();
    w.remove(w.at.leader_instance());
    auto const before = w.data(w.at.after());
    w.end_round(10);
    w.loop.run_for(5s);
    CHECK(w.data(w.at.after()) == before);
    w.create(w.at.leader_instance(), "10.0.0.1@-@1", create_mode::ephemeral);
    w.loop.run_for(1s);
    CHECK(w.written().rounds.size() == 1);
}

TEST_CASE("execution.round_follower: a round that another leader has written stays") {
    following w;
    w.begin();
    auto others = w.written();
    others.add(w.midnight + 5s, w.midnight + 7s);
    w.set(w.at.after(), others.to_text());
    w.end_round(10);
    w.loop.run_for(1s);
    auto const all = w.written();
    REQUIRE(all.rounds.size() == 2);
    CHECK(all.rounds[0].of == w.midnight + 5s);
    CHECK(all.rounds[1].of == w.midnight + 10s);
}

TEST_CASE("execution.round_follower: nothing is written under another schedule than the one that it follows by") {
    following w;
    w.begin();
    w.create(w.at.schedule(), "elasticjob schedule 1\n");
    auto const before = w.data(w.at.after());
    w.end_round(10);
    w.loop.run_for(5s);
    CHECK(w.data(w.at.after()) == before);
}

TEST_CASE("execution.round_follower: a round is not written once the job that is followed has other items") {
    int written = 0, kept_back = 0;
    for (int turns = 0; turns < 40; ++turns) {
        CAPTURE(turns);
        following w;
        w.begin();
        w.race(turns);
        if (w.written().rounds.empty()) {
            ++kept_back;
        } else {
            ++written;
            CHECK(w.find(w.at.after())->stat.modified < w.find(w.first.config())->stat.modified);
        }
    }
    CHECK(written > 0);
    CHECK(kept_back > 0);
}
