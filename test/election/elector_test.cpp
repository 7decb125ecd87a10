// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/election/elector.hpp>

#include <support/job_world.hpp>

#include <doctest/doctest.h>

using namespace elasticjob;
using namespace elasticjob::test;

namespace {

instance_id id(int n) { return instance_id::parse("10.0.0." + std::to_string(n) + "@-@" + std::to_string(n)).value(); }

struct booth : job_world {
    random_source random{1};
    elector<session_type> first{one, at, id(1), random};
    elector<session_type> second{two, at, id(2), random};

    booth() {
        create(at.config());
        create(at.election_latch());
    }

    result<void> elect(elector<session_type>& e, session_type& r) { return wait_for(e.elect(r.session().generation)); }
    std::string leader() const { return data(at.leader_instance()); }
    std::vector<std::string> queue() const { return server.tree().children(at.election_latch()); }

    /// A Java member stands for election as Curator's LeaderLatch does.
    node_path java_candidate() {
        auto const name = at.election_latch() / "_c_6f2c1b9e-7f0f-4a57-9b1e-0a3f0e8a8d11-latch-";
        return wait_for(by_hand.create(name, {}, create_mode::ephemeral_sequential)).value();
    }
    void expire(session_type& r) {
        post(loop, [&r] { r.expire(); });
        loop.run_ready();
    }
};

} // namespace

TEST_CASE("election.elector: the winner makes itself leader and leaves the queue") {
    booth b;
    REQUIRE(b.elect(b.first, b.one));
    CHECK(b.leader() == id(1).str());
    CHECK(b.find(b.at.leader_instance())->stat.owner == b.one.session().id);
    CHECK(b.queue().empty());
    CHECK(leads(b.find(b.at.leader_instance()), id(1), b.one.session()));
}

TEST_CASE("election.elector: a job that has a leader keeps it") {
    booth b;
    REQUIRE(b.elect(b.first, b.one));
    REQUIRE(b.elect(b.second, b.two));
    CHECK(b.leader() == id(1).str());
    CHECK(b.queue().empty());
}

TEST_CASE("election.elector: of two candidates at the same time one wins, and both elections end") {
    booth b;
    std::optional<result<void>> one, two;
    b.start(b.first.elect(b.one.session().generation), one);
    b.start(b.second.elect(b.two.session().generation), two);
    REQUIRE(one);
    REQUIRE(two);
    CHECK(*one);
    CHECK(*two);
    CHECK(b.leader() == id(1).str());
    CHECK(b.queue().empty());
}

TEST_CASE("election.elector: candidates have names like Curator's") {
    booth b;
    auto const before_us = b.java_candidate();
    std::optional<result<void>> outcome;
    b.start(b.first.elect(b.one.session().generation), outcome);
    REQUIRE(b.queue().size() == 2);
    auto const own = b.queue()[0] == before_us.name() ? b.queue()[1] : b.queue()[0];
    // _c_<uuid of version 4>-latch-<ten digits>
    REQUIRE(own.size() == 3 + 36 + 7 + 10);
    CHECK(own.starts_with("_c_"));
    CHECK(own[3 + 14] == '4');
    CHECK(own.substr(39, 7) == "-latch-");
    CHECK(own.find_first_not_of("0123456789", 46) == own.npos);
    auto const* n = b.find(b.at.election_latch() / own);
    CHECK(n->data.empty());
    CHECK(n->stat.owner == b.one.session().id);
}

TEST_CASE("election.elector: we queue behind a Java candidate, and win if it leaves without winning") {
    booth b;
    auto const java = b.java_candidate();
    std::optional<result<void>> outcome;
    b.start(b.first.elect(b.one.session().generation), outcome);
    b.loop.run_for(1h);
    CHECK_FALSE(outcome);
    CHECK_FALSE(b.has(b.at.leader_instance()));
    b.remove(java);
    b.loop.run_ready();
    REQUIRE(outcome);
    CHECK(*outcome);
    CHECK(b.leader() == id(1).str());
}

TEST_CASE("election.elector: we accept a Java candidate that wins") {
    booth b;
    auto const java = b.java_candidate();
    std::optional<result<void>> outcome;
    b.start(b.first.elect(b.one.session().generation), outcome);
    b.create(b.at.leader_instance(), "10.0.0.9@-@4711", create_mode::ephemeral);
    b.remove(java);
    b.loop.run_ready();
    REQUIRE(outcome);
    CHECK(*outcome);
    CHECK(b.leader() == "10.0.0.9@-@4711");
    CHECK(b.queue().empty());
}

TEST_CASE("election.elector: each candidate waits only for the one before it") {
    booth b;
    auto const java = b.java_candidate();
    std::optional<result<void>> one, two;
    b.start(b.first.elect(b.one.session().generation), one);
    b.start(b.second.elect(b.two.session().generation), two);
    b.server.counts() = {};
    b.remove(java);
    b.loop.run_ready();
    REQUIRE(one);
    REQUIRE(two);
    CHECK(b.leader() == id(1).str());
    // The removal; the first: list, leader?, commit; the second, once the first has gone: list, leader?, withdraw.
    CHECK(b.server.counts().all() == 7);
}

TEST_CASE("election.elector: whichever request or reply is lost, no candidate remains after its withdrawal") {
    for (std::uint64_t n = 0; n < 8; ++n)
        for (auto const fate : {request_fate::request_lost, request_fate::reply_lost}) {
            INFO("request " << n);
            booth b;
            {
                losing const network{b.server, losing::nth(b.one.session().id, n, fate)};
                auto const elected = b.elect(b.first, b.one);
                auto const withdrawn = b.wait_for(b.first.withdraw(b.one.session().generation));
                if (!withdrawn) REQUIRE(b.wait_for(b.first.withdraw(b.one.session().generation)));
                CHECK_FALSE(b.first.is_standing());
            }
            CHECK(b.queue().empty());
            REQUIRE(b.elect(b.second, b.two)); // nothing blocks it
            CHECK(b.has(b.at.leader_instance()));
            CHECK(b.queue().empty());
        }
}

TEST_CASE("election.elector: reports that a candidate may still be in the queue") {
    booth b;
    losing const network{b.server, losing::nth(b.one.session().id, 0, request_fate::reply_lost)};
    CHECK(b.elect(b.first, b.one).error() == errc::unknown_outcome);
    CHECK(b.queue().size() == 1);
    CHECK(b.first.is_standing());
}

TEST_CASE("election.elector: a waiting candidate loses its place with its session, and the next election is new") {
    booth b;
    auto const java = b.java_candidate();
    std::optional<result<void>> outcome;
    b.start(b.first.elect(b.one.session().generation), outcome);
    b.expire(b.one);
    REQUIRE(outcome);
    CHECK_FALSE(*outcome);
    CHECK(b.queue().size() == 1);
    b.remove(java);
    REQUIRE(b.elect(b.first, b.one));
    CHECK(b.leader() == id(1).str());
}

TEST_CASE("election.elector: if an operator removes a candidate, its election fails, and it can stand again") {
    booth b;
    auto const java = b.java_candidate();
    std::optional<result<void>> outcome;
    b.start(b.first.elect(b.one.session().generation), outcome);
    for (auto const& name : b.queue())
        if (name != java.name()) b.remove(b.at.election_latch() / name);
    b.remove(java);
    b.loop.run_ready();
    REQUIRE(outcome);
    CHECK(outcome->error() == errc::no_node);
    REQUIRE(b.elect(b.first, b.one));
    CHECK(b.leader() == id(1).str());
}

TEST_CASE("election.elector: recreates a queue that the server has removed, and any missing node above it") {
    // Curator creates them as containers; the server removes empty containers.
    for (int missing = 1; missing <= 3; ++missing) {
        INFO(missing << " nodes are missing");
        booth b;
        b.remove(b.at.election_latch());
        if (missing > 1) b.remove(b.at.election());
        if (missing > 2) b.remove(b.at.leader());
        REQUIRE(b.elect(b.first, b.one));
        CHECK(b.leader() == id(1).str());
        CHECK(b.queue().empty());
        CHECK(b.find(b.at.election_latch())->stat.owner == 0);
    }
}

TEST_CASE("election.elector: two candidates that find no queue both end, and one of them wins") {
    booth b;
    b.remove(b.at.election_latch());
    std::optional<result<void>> one, two;
    b.start(b.first.elect(b.one.session().generation), one);
    b.start(b.second.elect(b.two.session().generation), two);
    REQUIRE(one);
    REQUIRE(two);
    CHECK(*one);
    CHECK(*two);
    CHECK(b.has(b.at.leader_instance()));
    CHECK(b.queue().empty());
}

TEST_CASE("election.elector: whichever request or reply is lost while there is no queue, the next election is won") {
    for (std::uint64_t n = 0; n < 12; ++n)
        for (auto const fate : {request_fate::request_lost, request_fate::reply_lost}) {
            INFO("request " << n);
            booth b;
            b.remove(b.at.election_latch());
            b.remove(b.at.election());
            {
                losing const network{b.server, losing::nth(b.one.session().id, n, fate)};
                (void)b.elect(b.first, b.one);
            }
            REQUIRE(b.elect(b.first, b.one));
            CHECK(b.has(b.at.leader_instance()));
            CHECK(b.queue().empty());
        }
}

TEST_CASE("election.elector: creates no queue for a removed job") {
    booth b;
    for (auto const& path : {b.at.election_latch(), b.at.election(), b.at.leader(), b.at.config()}) b.remove(path);
    auto const elected = b.elect(b.first, b.one);
    REQUIRE_FALSE(elected);
    CHECK(elected.error() == errc::no_node);
    CHECK_FALSE(b.has(b.at.leader()));
}

TEST_CASE("election.elector: a candidate with an unknown creation outcome is gone if its queue is gone") {
    booth b;
    {
        losing const network{b.server, losing::nth(b.one.session().id, 0, request_fate::request_lost)};
        REQUIRE(b.elect(b.first, b.one).error() == errc::unknown_outcome);
    }
    REQUIRE(b.first.is_standing());
    b.remove(b.at.election_latch());
    CHECK(b.wait_for(b.first.withdraw(b.one.session().generation)));
    CHECK_FALSE(b.first.is_standing());
    REQUIRE(b.elect(b.first, b.one));
    CHECK(b.leader() == id(1).str());
}

TEST_CASE("election.elector: an election under an expired session changes nothing (D-44)") {
    booth b;
    auto const old = b.one.session().generation;
    b.expire(b.one);
    CHECK(b.wait_for(b.first.elect(old)).error() == errc::session_lost);
    CHECK_FALSE(b.has(b.at.leader_instance()));
    CHECK(b.queue().empty());
}

TEST_CASE("election.elector: a leader node of our former session does not make us the leader") {
    booth b;
    REQUIRE(b.elect(b.first, b.one));
    auto const old = *b.find(b.at.leader_instance());
    b.expire(b.one);
    CHECK_FALSE(leads(&old, id(1), b.one.session()));
    CHECK_FALSE(leads(nullptr, id(1), b.one.session()));
    CHECK_FALSE(leads(&old, id(2), b.two.session()));
    session_view none;
    node persistent{id(1).str(), {}};
    CHECK_FALSE(leads(&persistent, id(1), none));
}

TEST_CASE("election.elector: a persistent candidate, as in a copied tree, does not block the queue (EL-8)") {
    booth b;
    b.create(b.at.election_latch() / "_c_6f2c1b9e-7f0f-4a57-9b1e-0a3f0e8a8d11-latch-");
    auto const copied = b.at.election_latch() / "_c_6f2c1b9e-7f0f-4a57-9b1e-0a3f0e8a8d11-latch-0";
    b.create(copied);
    SUBCASE("two of them, without living processes") {
        REQUIRE(b.elect(b.first, b.one));
        CHECK(b.leader() == id(1).str());
        CHECK(b.queue().empty());
        CHECK(b.first.take_removed());
        CHECK_FALSE(b.first.take_removed());
    }
    SUBCASE("one with children is an error") {
        b.create(copied / "x");
        auto const elected = b.elect(b.first, b.one);
        REQUIRE_FALSE(elected);
        CHECK(elected.error() == errc::not_empty);
        CHECK(elected.error().where == copied.str());
    }
}

TEST_CASE("election.elector: the text after the last latch- orders the candidates") {
    CHECK(detail::latch_key("_c_0b2f-latch-0000000012") == "0000000012");
    CHECK(detail::latch_key("_c_latch-x-latch-0000000002") == "0000000002");
    CHECK(detail::latch_key("stranger") == "stranger");
}
