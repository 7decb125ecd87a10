// SPDX-License-Identifier: Apache-2.0
// Instants that became due while an operator had switched something off never run, whoever owns the item later.
#include <simulation/scene.hpp>

#include <doctest/doctest.h>

#include <cstdint>

using namespace elasticjob;
using namespace elasticjob::test;
using namespace elasticjob::testing;

namespace {

struct disabled_time : scene {
    explicit disabled_time(std::uint32_t nodes) : scene{make_job("0/20 * * * * ?", 1), lasting(1s), nodes} {
        begin(22s); // 0:00:20 has been run
        REQUIRE(count(kind::started) == 1);
    }
    std::size_t runs_for(std::chrono::seconds due) const {
        std::size_t n = 0;
        for (auto const& o : all(kind::started)) n += o.due == in(due);
        return n;
    }
};

} // namespace

TEST_CASE("simulation: an instant that was reported as skipped for a disabled item is not run by the next owner") {
    disabled_time c{2};
    auto const owner = c.owner_of(0);
    REQUIRE(owner < 2);
    c.inject({.what = fault_kind::disable_item});
    c.s.run_for(20s); // 0:00:42
    CHECK(c.count(kind::skipped) == 1);
    c.inject({.what = fault_kind::enable_item});
    c.s.run_for(500ms);
    CHECK(c.entries(0, c.in(40s), run_outcome::skipped) == 1);
    c.inject({.what = fault_kind::crash, .node = owner, .span = 1h});
    c.s.run_for(45s); // 0:01:27
    CHECK(c.runs_for(40s) == 0);
    CHECK(c.runs_for(60s) + c.runs_for(80s) == 2);
    CHECK_MESSAGE(c.wrong().empty(), c.wrong());
}

TEST_CASE("simulation: instants that became due while the only server was disabled are not run by the next process") {
    disabled_time c{2};
    c.inject({.what = fault_kind::leave, .node = 1});
    c.s.run_for(100ms);
    c.inject({.what = fault_kind::disable, .node = 0});
    c.s.run_for(20s); // 0:00:42
    c.inject({.what = fault_kind::enable, .node = 0});
    c.s.run_for(1s);
    CHECK(c.entries(0, c.in(40s), run_outcome::skipped) == 1);
    c.inject({.what = fault_kind::leave, .node = 0});
    c.s.run_for(500ms);
    c.inject({.what = fault_kind::join, .node = 1});
    c.s.run_for(40s); // 0:01:23
    CHECK(c.runs_for(40s) == 0);
    CHECK(c.runs_for(60s) == 1);
    CHECK_MESSAGE(c.wrong().empty(), c.wrong());
}
