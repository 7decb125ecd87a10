// SPDX-License-Identifier: Apache-2.0
// A job whose strategy is named by its configuration and changes while it runs.
#include <elasticjob/allocation/sticky.hpp>
#include <elasticjob/allocation/strategies.hpp>
#include <simulation/small_cluster.hpp>

#include <doctest/doctest.h>

#include <string>
#include <string_view>

using namespace elasticjob;
using namespace elasticjob::test;
using namespace elasticjob::testing;

namespace {

/// Three instances run a job of seven items, with either strategy.
struct renamed_job : basic_small_cluster<Strategies<AverageAllocation, StickyAllocation>> {
    renamed_job() : basic_small_cluster{every_five_seconds(7), 3} { start(); }

    void name_strategy(std::string_view strategy) {
        auto edited = **from_json(data(at.config()));
        edited.job_sharding_strategy_class = strategy;
        write(at.config(), to_json(edited));
        run_for(10s);
    }
    std::string strategy() const { return assignment::parse(data(at.assignment())).value().strategy(); }
};

} // namespace

TEST_CASE("simulation: a job's strategy follows its name in the registry while the job runs") {
    renamed_job j;
    CHECK(j.strategy() == AverageAllocation::name);
    j.name_strategy(StickyAllocation::name);
    CHECK(j.strategy() == StickyAllocation::name);
    j.name_strategy("");
    CHECK(j.strategy() == AverageAllocation::name);
    CHECK(j.count(kind::trouble) == 0);
    CHECK(j.wrong() == "");
}

TEST_CASE("simulation: a strategy that the program does not contain changes nothing, and the report names those that "
          "it contains") {
    renamed_job j;
    j.name_strategy("com.example.Missing");
    CHECK(j.strategy() == AverageAllocation::name);
    CHECK(j.count(kind::trouble) == 3);
    for (auto const& o : j.all(kind::trouble)) {
        CHECK(*o.failure == errc::unknown_strategy);
        CHECK(o.failure->what.find(StickyAllocation::name) != std::string::npos);
    }
    CHECK(j.wrong() == "");
}
