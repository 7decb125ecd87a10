// SPDX-License-Identifier: Apache-2.0
#include <elasticjob/allocation/average.hpp>
#include <elasticjob/allocation/label.hpp>
#include <elasticjob/allocation/rotate.hpp>
#include <elasticjob/allocation/sticky.hpp>
#include <elasticjob/allocation/strategies.hpp>

#include <allocation/instances.hpp>
#include <laws/allocation.hpp>

#include <doctest/doctest.h>

using namespace elasticjob;

namespace {

using three = Strategies<RotateServerByName, AverageAllocation, StickyAllocation>;

static_assert(sharding_strategy<three>);
static_assert(three::name == RotateServerByName::name);
static_assert(three::has(StickyAllocation::name) && !three::has("com.example.Missing"));
static_assert(!three::uses_traits && !three::may_leave_items);
static_assert(Strategies<AverageAllocation, LabelAllocation>::uses_traits);
static_assert(detail::strategy_has_name<AverageAllocation>(AverageAllocation::name));
static_assert(!detail::strategy_has_name<AverageAllocation>(StickyAllocation::name));

sharding_request named(std::string_view strategy, std::uint32_t instances = 3, std::uint32_t items = 8) {
    auto request = request_for(instances, items);
    request.job_name = "settle";
    request.strategy = strategy;
    return request;
}

} // namespace

TEST_CASE("strategies: the strategy that the job names answers, or else the first one") {
    CHECK(owners_of(three{}(named(AverageAllocation::name))) == owners_of(AverageAllocation{}(named(""))));
    CHECK(owners_of(three{}(named(StickyAllocation::name))) == owners_of(StickyAllocation{}(named(""))));
    CHECK(owners_of(three{}(named(RotateServerByName::name))) == owners_of(RotateServerByName{}(named(""))));
    CHECK(owners_of(three{}(named(""))) == owners_of(RotateServerByName{}(named(""))));
}

TEST_CASE("strategies: the laws of strategies hold for each of the names") {
    for (auto const name : {RotateServerByName::name, AverageAllocation::name, StickyAllocation::name})
        for (std::uint32_t instances : {1u, 2u, 3u, 10u})
            for (std::uint32_t items : {1u, 7u, 100u}) {
                auto const request = named(name, instances, items);
                INFO(name << " " << instances << "x" << items);
                CHECK(laws::broken_strategy_law(three{}, request) == "");
            }
}
