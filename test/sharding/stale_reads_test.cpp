// SPDX-License-Identifier: Apache-2.0
// Leaving a job on an ensemble whose followers are a little behind.
#include <elasticjob/sharding/leave.hpp>

#include <testing/simulated_world.hpp>

#include <doctest/doctest.h>

using namespace elasticjob;
using namespace elasticjob::test;
using namespace std::chrono_literals;

TEST_CASE("sharding.leave: an instance whose creation had no reply goes though the next follower is behind") {
    job_layout const at{job_name::parse("a").value()};
    auto const self = instance_id::parse("10.0.0.1@-@1").value();
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        INFO("seed " << seed);
        SimulatedWorld e{seed};
        for (auto const& path : {at.root(), at.config(), at.instances()})
            REQUIRE(e.wait_for(e.second().create(path, {}, create_mode::persistent)));
        e.world.run_for(1s);
        e.first_wire.set_lag(1s);
        auto const g = e.registry().session().generation;
        e.lose_next_write(request_fate::reply_lost);
        auto const created = e.wait_for(e.registry().create(at.instance(self), {}, create_mode::ephemeral, g));
        REQUIRE(created.error() == errc::unknown_outcome);
        e.first_wire.reset();
        REQUIRE(e.wait_for(connected_session(e.registry(), g)));
        REQUIRE(e.wait_for(leave(e.registry(), at, self, g, e.loop.now() + 5s)));
        CHECK_FALSE(e.server.tree().find(at.instance(self)));
    }
}
