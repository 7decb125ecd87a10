// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/membership/registration.hpp>

#include <doctest/doctest.h>

#include <chrono>

using namespace elasticjob;
using namespace std::chrono_literals;

namespace {

using step = registration_step;
using phase = registration::phase;

constexpr std::int64_t session_id = 7;
session_generation generation(std::uint64_t n) { return session_generation{n}; }

/// A registered instance whose view is complete.
registration_facts facts() {
    return {.session = {.generation = generation(1), .id = session_id, .state = session_state::connected},
            .generation = generation(1),
            .owner = session_id,
            .has_config = true};
}
registration_facts without_node() {
    auto f = facts();
    f.owner.reset();
    return f;
}
registration_facts without_config(std::chrono::milliseconds at = {}) {
    auto f = facts();
    f.has_config = false;
    f.now += at;
    return f;
}
registration_facts under_new_session(session_state state = session_state::connected) {
    auto f = facts();
    f.session.generation = generation(2);
    f.session.state = state;
    return f;
}
registration_facts cut_off(registration_facts f) {
    f.session.state = session_state::suspended;
    return f;
}

registration confirmed() {
    registration r;
    CHECK(r.next(facts()) == step::rest);
    REQUIRE(r.where() == phase::confirmed);
    return r;
}

} // namespace

TEST_CASE("membership.registration: a new session first ends the runs, and the instance enrolls again once connected") {
    auto r = confirmed();
    CHECK(r.next(under_new_session(session_state::connecting)) == step::stop_runs);
    CHECK(r.next(under_new_session(session_state::connecting)) == step::rest);
    CHECK(r.next(under_new_session()) == step::enroll_again);
    CHECK(r.next(under_new_session()) == step::enroll_again); // until it succeeds
    r.enrolled();
    auto f = under_new_session();
    f.generation = f.session.generation;
    CHECK(r.next(f) == step::rest);
    CHECK(r.where() == phase::confirmed);
    f.session.generation = generation(3);
    CHECK(r.next(f) == step::stop_runs); // each session that is lost is told once
}

TEST_CASE("membership.registration: a node of an earlier session confirms nothing") {
    registration r;
    auto f = facts();
    f.owner = session_id - 1;
    CHECK(r.next(f) == step::rest);
    CHECK(r.where() == phase::unconfirmed);
}

TEST_CASE("membership.registration: a node that the view has shown and shows no more is gone") {
    auto r = confirmed();
    CHECK(r.next(cut_off(without_node())) == step::rest); // this view may not be the last
    CHECK(r.next(without_node()) == step::find_out_why);
    CHECK(r.next(facts()) == step::find_out_why); // for certain
    r.leave();
    CHECK(r.next(under_new_session()) == step::rest);
}

TEST_CASE("membership.registration: a view that has never shown the node may be behind, so a read decides") {
    registration r;
    REQUIRE(r.next(without_node()) == step::look_for_node);
    CHECK_FALSE(r.node_read(true, without_node()));
    CHECK(r.next(without_node()) == step::look_for_node);
    CHECK_FALSE(r.node_read(false, cut_off(without_node()))); // the session may have been lost before the read
    CHECK(r.where() == phase::unconfirmed);
    CHECK(r.node_read(false, without_node()));
    CHECK(r.next(without_node()) == step::find_out_why);
}

TEST_CASE("membership.registration: a job without a configuration has been removed if it has a tombstone") {
    auto r = confirmed();
    REQUIRE(r.next(without_config()) == step::look_for_tombstone);
    SUBCASE("one is there") {
        CHECK(r.tombstone_read(true, without_config()));
        CHECK(r.where() == phase::over);
    }
    SUBCASE("one is there, but the configuration is back") { CHECK_FALSE(r.tombstone_read(true, facts())); }
    SUBCASE("one is there, but the session has been lost meanwhile") {
        CHECK_FALSE(r.tombstone_read(true, cut_off(without_config())));
    }
    SUBCASE("none is there: a Java member may be about to write the configuration, for two seconds") {
        CHECK_FALSE(r.tombstone_read(false, without_config(1999ms)));
        CHECK(r.next(without_config(2s)) == step::look_for_tombstone);
        CHECK(r.tombstone_read(false, without_config(2s)));
        CHECK(r.where() == phase::over);
    }
    SUBCASE("the two seconds begin anew when it was back, or when this was unknown") {
        for (auto const& between : {facts(), cut_off(without_config(1s))}) {
            auto again = r;
            CHECK(again.next(between) == step::rest);
            CHECK(again.next(without_config(2s)) == step::look_for_tombstone);
            CHECK_FALSE(again.tombstone_read(false, without_config(2s)));
        }
        r.enrolled();
        CHECK(r.next(without_config(2s)) == step::look_for_tombstone);
        CHECK_FALSE(r.tombstone_read(false, without_config(2s)));
    }
}

TEST_CASE("membership.registration: an instance that stands down leaves, even without a connection") {
    for (auto f : {facts(), cut_off(facts()), without_node()}) {
        auto r = confirmed();
        f.stands_down = true;
        CHECK(r.next(f) == step::rest);
        CHECK(r.where() == phase::over);
    }
    auto r = confirmed();
    auto f = under_new_session(session_state::connecting);
    f.stands_down = true;
    CHECK(r.next(f) == step::stop_runs);
    CHECK(r.next(f) == step::rest);
    CHECK(r.where() == phase::over);
}
