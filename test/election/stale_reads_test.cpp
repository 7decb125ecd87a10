// SPDX-License-Identifier: Apache-2.0
// Elections on an ensemble whose followers lag a little.
#include <elasticjob/election/elector.hpp>

#include <testing/simulated_world.hpp>

#include <doctest/doctest.h>

using namespace elasticjob;
using namespace elasticjob::test;
using namespace std::chrono_literals;

namespace {

struct ensemble : SimulatedWorld {
    explicit ensemble(std::uint64_t seed) : SimulatedWorld{seed} {
        for (auto const& path : {at.root(), at.config(), at.leader(), at.election(), at.election_latch()})
            REQUIRE(wait_for(second().create(path, {}, create_mode::persistent)));
        world.run_for(1s);
    }

    job_layout at{job_name::parse("a").value()};
    random_source random{1};
    elector<testing::simulated_registry> behind{registry(), at, instance_id::parse("10.0.0.1@-@1").value(), random};
    elector<testing::simulated_registry> other{second(), at, instance_id::parse("10.0.0.2@-@2").value(), random};
};

} // namespace

TEST_CASE("election: a candidate is withdrawn although its creation had no reply and the next follower lags") {
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        INFO("seed " << seed);
        ensemble e{seed};
        e.first_wire.set_lag(1s);
        auto const g = e.registry().session().generation;
        e.lose_next_write(request_fate::reply_lost);
        REQUIRE(e.wait_for(e.behind.elect(g)).error() == errc::unknown_outcome);
        e.first_wire.reset();
        REQUIRE(e.wait_for(connected_session(e.registry(), g)));
        REQUIRE(e.wait_for(e.behind.withdraw(g)));
        CHECK(e.server.tree().children(e.at.election_latch()).empty());
        REQUIRE(e.wait_for(e.other.elect(e.second().session().generation)));
        CHECK(e.server.tree().find(e.at.leader_instance()));
    }
}

TEST_CASE("election: an instance that resigns does not touch another instance's leadership (EL-6)") {
    auto const first = instance_id::parse("10.0.0.1@-@1").value(), second = instance_id::parse("10.0.0.2@-@2").value();
    ensemble e{1};
    e.first_wire.set_lag(1s);
    auto const g = e.registry().session().generation, other = e.second().session().generation;
    REQUIRE(e.wait_for(e.behind.elect(g)));
    REQUIRE(e.wait_for(resign(e.registry(), e.at, first, g)));
    CHECK_FALSE(e.server.tree().find(e.at.leader_instance()));
    REQUIRE(e.wait_for(e.other.elect(other)));
    REQUIRE(e.wait_for(resign(e.registry(), e.at, first, g))); // its view does not show yet that it no longer leads
    REQUIRE(e.server.tree().find(e.at.leader_instance()));
    CHECK(e.server.tree().find(e.at.leader_instance())->data == second.str());
    REQUIRE(e.wait_for(resign(e.second(), e.at, second, other)));
    CHECK_FALSE(e.server.tree().find(e.at.leader_instance()));
}
