// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/execution/lease_terms.hpp>

#include <doctest/doctest.h>

#include <chrono>

using namespace elasticjob;
using namespace elasticjob::detail;
using namespace std::chrono_literals;

namespace {

/// A session of ten seconds, and times from an hour on.
struct terms_of_session {
    session_view session{{1}, 1, session_state::connected, 10s};
    lease_terms terms;

    terms_of_session() { terms.note_session(session); }

    static mono_time at(std::chrono::milliseconds t) { return mono_time{1h} + t; }

    hold_start start(std::chrono::milliseconds sent, std::chrono::milliseconds now) {
        return terms.begin_hold(session, session.generation, at(sent), at(now));
    }
    /// A heartbeat that is answered at once.
    void beat(std::chrono::milliseconds now) {
        terms.note_sent(at(now));
        terms.note_answer(at(now), at(now));
    }
    void prove() {
        REQUIRE(start(0s, 0s) == hold_start::valid);
        for (auto const t : {1000ms, 2000ms, 2600ms, 2600ms}) beat(t);
        REQUIRE(terms.is_proven(session, at(2600ms)));
    }
};

} // namespace

TEST_CASE(
    "execution.lease_terms: a proof takes an answer, one that follows it after a quarter, and one that follows that") {
    terms_of_session t;
    REQUIRE(t.start(0s, 100ms) == hold_start::valid);
    CHECK(t.terms.deadline(t.session) == t.at(3750ms));
    t.beat(1100ms);
    t.beat(2699ms); // too early to follow the start
    t.beat(2699ms);
    CHECK(!t.terms.is_proven(t.session, t.at(2700ms)));
    t.beat(2700ms);
    CHECK(!t.terms.is_proven(t.session, t.at(2700ms)));
    t.beat(2700ms);
    CHECK(t.terms.is_proven(t.session, t.at(2700ms)));
    CHECK(t.terms.deadline(t.session) == t.at(9s));
    CHECK(t.terms.is_valid(t.session, t.at(9s) - 1ns));
    CHECK(!t.terms.is_valid(t.session, t.at(9s)));
}

TEST_CASE("execution.lease_terms: an answer counts from when its request was sent") {
    terms_of_session t;
    REQUIRE(t.start(0s, 3s) == hold_start::valid);
    CHECK(t.terms.deadline(t.session) == t.at(3750ms));
    CHECK(t.start(0s, 3750ms) == hold_start::late);
}

TEST_CASE("execution.lease_terms: a start of another session begins no hold") {
    terms_of_session t;
    CHECK(t.terms.begin_hold(t.session, {2}, t.at(0s), t.at(0s)) == hold_start::foreign);
    CHECK(!t.terms.is_held());
    t.prove();
    t.session.generation = {2};
    CHECK(!t.terms.is_valid(t.session, t.at(3s)));
    CHECK(t.terms.note_session(t.session));
    CHECK(t.terms.take_lapse(t.session, t.at(3s)));
    CHECK(!t.terms.concerns({1}));
    CHECK(t.terms.begin_hold(t.session, {1}, t.at(3s), t.at(3s)) == hold_start::foreign);
}

TEST_CASE("execution.lease_terms: another time-out, or the end of the session, makes former answers void") {
    terms_of_session t;
    t.prove();
    CHECK(!t.terms.note_session(t.session));
    t.session.timeout = 8s;
    CHECK(t.terms.note_session(t.session));
    CHECK(t.terms.deadline(t.session) == mono_time::min());
    t.session.state = session_state::closed;
    CHECK(t.start(3s, 3s) == hold_start::foreign);
}

TEST_CASE("execution.lease_terms: it lapses once, and again after it was valid in between") {
    terms_of_session t;
    t.prove();
    CHECK(!t.terms.take_lapse(t.session, t.at(9s) - 1ns));
    CHECK(t.terms.take_lapse(t.session, t.at(9s)));
    CHECK(!t.terms.take_lapse(t.session, t.at(10s)));
    t.beat(10s);
    t.beat(12'600ms);
    t.beat(12'600ms);
    CHECK(!t.terms.take_lapse(t.session, t.at(12'600ms)));
    CHECK(t.terms.take_lapse(t.session, t.at(19s)));
    t.terms.end_hold();
    CHECK(!t.terms.is_held());
    CHECK(!t.terms.take_lapse(t.session, t.at(20s))); // no holder needs a report
}

TEST_CASE(
    "execution.lease_terms: a heartbeat is due in each tenth, while the lease is held and the session connected") {
    terms_of_session t;
    CHECK(t.terms.next_heartbeat(t.session, t.at(0s)) == mono_time::max());
    t.prove();
    CHECK(t.terms.next_heartbeat(t.session, t.at(2600ms)) == t.at(3600ms));
    CHECK(t.terms.next_look(t.at(2600ms)) == t.at(3600ms));
    CHECK(t.terms.next_look(t.at(8500ms)) == t.at(9s));
    t.session.state = session_state::suspended;
    CHECK(t.terms.next_heartbeat(t.session, t.at(2600ms)) == mono_time::max());
    CHECK(t.terms.is_valid(t.session, t.at(2600ms)));
}
