// SPDX-License-Identifier: Apache-2.0
// A registry that answers, but so slowly that the session may be over when the start of a run is confirmed.
#include <simulation/scene.hpp>

#include <doctest/doctest.h>

using namespace elasticjob;
using namespace elasticjob::test;
using namespace elasticjob::testing;

TEST_CASE("slow registry: a start that is confirmed too late for the lease is reported, once until one is in time") {
    scene w{make_job("0/10 * * * * ?", 2), lasting(1s), 1};
    w.begin(15s);
    auto const joined = w.so_far();
    for (int minute = 0; minute < 5; ++minute) {
        w.inject({.what = fault_kind::slow_network, .span = 70s}); // each message takes up to 3.5 s
        w.s.run_for(69s);
    }
    std::size_t reports = 0;
    bool is_reported = false;
    for (std::size_t n = joined; n < w.view().log.size(); ++n) {
        auto const& o = w.view().log[n];
        if (o.what == kind::body_began) is_reported = false;
        bool const is_late = o.what == kind::trouble && o.failure &&
                             o.failure->what.find("confirmed the start of a run after") != std::string::npos;
        if (!is_late) continue;
        CHECK_FALSE(is_reported);
        CHECK(o.failure->what.find("a session time-out of 10000 ms") != std::string::npos);
        is_reported = true;
        ++reports;
    }
    INFO(w.s.transcript());
    CHECK(reports > 0);
    CHECK(w.count(kind::body_began, {}, joined) > 0);
    CHECK_MESSAGE(w.wrong().empty(), w.wrong());
}
