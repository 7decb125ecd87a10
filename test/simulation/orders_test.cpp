// SPDX-License-Identifier: Apache-2.0
// An order to run reaches every item, once, whoever owns it meanwhile (docs/guarantees.md, 8).
#include <simulation/scene.hpp>
#include <simulation/seeds.hpp>

#include <doctest/doctest.h>

using namespace elasticjob;
using namespace elasticjob::test;
using namespace elasticjob::testing;

namespace {

void check_obeyed(scene const& c, item_index count, std::size_t from) {
    for (item_index i = 0; i < count; ++i) {
        INFO("item " << i);
        CHECK(c.count(kind::started, i, from) + c.count(kind::skipped, i, from) >= 1);
    }
}

} // namespace

TEST_CASE("orders: a trigger reaches the items of an instance that has died, though its session lives") {
    scene c{make_job(never, 2), lasting(10ms), 2};
    c.begin(5s);
    auto const from = c.so_far();
    c.inject({.what = fault_kind::crash, .node = 1, .span = 1h});
    c.inject({.what = fault_kind::trigger, .node = 0});
    c.s.run_for(1min);
    check_obeyed(c, 2, from);
}

TEST_CASE("orders: a trigger reaches the items of an instance that is leaving, however long that takes") {
    scene c{make_job("0 0 * * * ?", 2), lasting(10s), 2};
    c.begin(1h + 1s);
    auto const from = c.so_far();
    c.s.schedule_faults(parse_fault_plan("0 leave node=1; 4000 trigger").value());
    c.s.run_for(10min);
    check_obeyed(c, 2, from);
}

TEST_CASE("orders: a trigger reaches an item that is passing between two live owners") {
    for (std::uint64_t seed = 1; seed <= 40; seed += tries_apart)
        for (auto moment = 0ms; moment < 20ms; moment += 1ms * tries_apart) {
            INFO("seed " << seed << ", a trigger " << moment.count() << " ms after the edit");
            scene c{make_job(never, 6), lasting(10ms), 3, {}, seed};
            c.begin(5s);
            auto const from = c.so_far();
            c.s.inject({.what = fault_kind::set_items, .count = 9});
            c.s.schedule_faults({{.at = moment, .what = fault_kind::trigger}});
            c.s.run_for(5s);
            check_obeyed(c, 6, from);
        }
}
