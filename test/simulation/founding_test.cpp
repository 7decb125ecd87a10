// SPDX-License-Identifier: Apache-2.0
// The first moments of a job, whose founder owns all items until others have joined.
#include <simulation/scene.hpp>

#include <doctest/doctest.h>

using namespace elasticjob;
using namespace elasticjob::test;
using namespace elasticjob::testing;

TEST_CASE("founding: items that are due at once run, though the founder's clock is not the registry's") {
    for (auto const ahead : {50ms, -50ms, 5'000ms, -5'000ms}) {
        INFO("the clock of the founder is " << ahead.count() << " ms ahead");
        auto job = make_job("", 3);
        job.schedules = {job_schedule::once_now()};
        scene c{job, lasting(10ms), 1};
        c.inject({.what = fault_kind::clock_jump, .node = 0, .span = ahead});
        c.begin(1min);
        for (item_index i = 0; i < 3; ++i) CHECK(c.count(kind::body_ended, i) == 1);
        CHECK(c.wrong() == "");
    }
}

TEST_CASE("founding: several instances begin a job at the same moment, and one of them dies at any moment") {
    for (std::uint32_t dying = 0; dying < 3; ++dying)
        for (auto moment = 0ms; moment < 12ms; moment += 1ms) {
            INFO("instance " << dying << " dies after " << moment.count() << " ms");
            scene c{make_job("0/20 * * * * ?", 5), lasting(10ms), 3};
            c.begin(moment);
            c.inject({.what = fault_kind::crash, .node = dying});
            c.s.run_for(takeover_bound + 1min);
            CHECK(c.has_live_owners(5));
            auto const from = c.so_far();
            c.s.run_for(1min);
            for (item_index i = 0; i < 5; ++i) CHECK(c.count(kind::body_ended, i, from) == 3);
            CHECK(c.wrong() == "");
        }
}
