// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/testing/fault_plan.hpp>

#include <doctest/doctest.h>

#include <set>

using namespace elasticjob;
using namespace elasticjob::testing;
using namespace std::chrono_literals;

TEST_CASE("testing.fault_plan: a plan converts to text and back") {
    for (std::uint64_t seed = 1; seed <= 50; ++seed) {
        auto const plan = make_fault_plan(seed, 10min, {5, 3, 9});
        REQUIRE(!plan.empty());
        CHECK(parse_fault_plan(to_string(plan)).value() == plan);
        CHECK(plan == make_fault_plan(seed, 10min, {5, 3, 9}));
        CHECK(plan != make_fault_plan(seed + 1, 10min, {5, 3, 9}));
    }
    fault f;
    f.at = 12'345ms;
    f.what = fault_kind::clock_jump;
    f.node = 2;
    f.span = -8s;
    CHECK(to_string(f) == "12345 clock_jump node=2 span=-8000");
    CHECK(parse_fault_plan("  12345  clock_jump span=-8000 node=2 # a comment").value() == fault_plan{f});
}

TEST_CASE("testing.fault_plan: faults may be in any order, and on one line; those of one instant keep their order") {
    auto const plan = parse_fault_plan("300 crash node=1;\n\n# nothing\n100 expire; 200 pause span=5; 100 reset").value();
    REQUIRE(plan.size() == 4);
    CHECK(plan[0].what == fault_kind::expire);
    CHECK(plan[1].what == fault_kind::reset);
    CHECK(plan[2].what == fault_kind::pause);
    CHECK(plan[3].what == fault_kind::crash);
    CHECK(parse_fault_plan("").value().empty());
}

TEST_CASE("testing.fault_plan: an error shows the unreadable text") {
    for (auto const* text : {"crash", "1", "-1 crash", "1 burn", "1 crash node", "1 crash node=x", "1 crash node=-1",
                             "1 crash span=1s", "1 crash nodes=1", "x crash"}) {
        auto const plan = parse_fault_plan(std::string{"5 expire\n"} + text);
        REQUIRE(!plan);
        CHECK(plan.error() == errc::malformed_data);
        CHECK(plan.error().where == text);
    }
}

TEST_CASE("testing.fault_plan: every kind has its own name and is drawn, unless its rate is 0") {
    std::set<std::string_view> const names(fault_names.begin(), fault_names.end());
    CHECK(names.size() == fault_names.size());
    CHECK(name_of(fault_kind::slow_network) == "slow_network");
    CHECK(name_of(fault_kind::clock_jump) == "clock_jump");
    CHECK(name_of(fault_kind::full_pool) == "full_pool");
    CHECK(name_of(fault_kind::remove_instance) == "remove_instance");
    std::set<fault_kind> drawn;
    for (auto const& f : make_fault_plan(1, 5h, {3, 2, 9})) {
        drawn.insert(f.what);
        CHECK(f.node < 3);
        CHECK(f.job < 2);
        CHECK(f.at < 5h);
    }
    fault_rates const usual;
    std::size_t wanted = 0;
    for (std::size_t n = 0; n < fault_names.size(); ++n) wanted += usual[static_cast<fault_kind>(n)] != 0;
    CHECK(drawn.size() == wanted);

    auto rates = fault_rates::none();
    CHECK(make_fault_plan(1, 5h, {3, 2, 9}, rates).empty());
    rates[fault_kind::pause] = 1;
    for (auto const& f : make_fault_plan(1, 1h, {3, 2, 9}, rates)) CHECK(f.what == fault_kind::pause);
}
